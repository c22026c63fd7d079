# What is here: every public header must compile by itself, without a warning. Run by ctest with
#   cmake -DSOURCE_DIR=... -DCOMPILER=... -P headers_alone.cmake
# What is not: kernels/target, whose headers are parts of one source file.
# Read next: architecture_test.cpp.
cmake_minimum_required(VERSION 3.22)

set(headers)
foreach(folder IN ITEMS engine nn models train)
  file(GLOB_RECURSE found RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${folder}/*.h)
  list(APPEND headers ${found})
endforeach()
list(FILTER headers EXCLUDE REGEX "^engine/kernels/target/")
list(LENGTH headers count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} headers found under ${SOURCE_DIR}")
endif()
# A header that its own source file includes first has been compiled alone already.
foreach(header IN LISTS headers)
  string(REGEX REPLACE "h$" "cpp" source ${SOURCE_DIR}/${header})
  if(EXISTS ${source})
    file(STRINGS ${source} includes REGEX "^#include")
    list(GET includes 0 first)
    if(first STREQUAL "#include \"${header}\"")
      list(REMOVE_ITEM headers ${header})
    endif()
  endif()
endforeach()

set(compile ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I. -x c++)
set(failed)
while(headers)
  list(POP_FRONT headers first second)
  if(NOT second)
    set(second ${first})
  endif()
  # The two run side by side, as a pipe through which nothing flows.
  execute_process(COMMAND ${compile} -include ${first} /dev/null COMMAND ${compile} -include ${second} /dev/null
    WORKING_DIRECTORY ${SOURCE_DIR} RESULTS_VARIABLE results ERROR_VARIABLE errors)
  if(NOT results STREQUAL "0;0")
    list(APPEND failed "${first} or ${second} does not compile alone:\n${errors}")
  endif()
endwhile()
if(failed)
  list(JOIN failed "\n" text)
  message(FATAL_ERROR "${text}")
endif()
message(STATUS "${count} headers compile alone")
