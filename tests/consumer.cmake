# mote as a dependency, in each of the ways that engine/use_it.md names; README.md's first program is what is built with it.
# Run by ctest with cmake -DHOW=installed|add_subdirectory|fetch_content -DSOURCE_DIR=... -DBINARY_DIR=... -DWORK_DIR=...
# -DCOMPILER=... -DGENERATOR=... -DSANITIZE=... -DCONFIG=... -P consumer.cmake
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
file(READ ${SOURCE_DIR}/README.md page)
string(REGEX MATCH "<!-- block: induction -->\n```cpp\n([^`]*)```" found "${page}")
file(WRITE ${WORK_DIR}/main.cpp "${CMAKE_MATCH_1}")

set(strict -Wall -Wextra -Wconversion -Werror)
if(SANITIZE)
  list(APPEND strict -fsanitize=${SANITIZE})
endif()
string(JOIN " " flags ${strict})
set(options -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0
  "-DCMAKE_CXX_FLAGS=${flags}")

# It goes on with 9, 2, 0, 5, and leaves a report.
function(run_main program)
  execute_process(COMMAND ${program} WORKING_DIRECTORY ${WORK_DIR} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT printed MATCHES "0, 5, 9, 2, 0, 5, 9, 2, 0, 5" OR NOT EXISTS ${WORK_DIR}/runs/induction/report.html)
    message(FATAL_ERROR "README.md's first program prints:\n${printed}")
  endif()
  file(REMOVE_RECURSE ${WORK_DIR}/runs)
endfunction()

if(NOT HOW STREQUAL "installed")
  # The library itself is not built a second time: what a folder's user compiles is linked with the one at hand.
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${WORK_DIR}/build ${options} -DHOW=${HOW}
    -DMOTE_FOLDER=${SOURCE_DIR} -DMOTE_BUILT=${BINARY_DIR} -DPROGRAM=${WORK_DIR}/main.cpp)
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2 --target program host)
  run(${WORK_DIR}/build/host)
  run_main(${WORK_DIR}/build/program)
  file(REMOVE_RECURSE ${WORK_DIR})
  return()
endif()

# Installed, and moved: find_package by a project of its own, then the compiler alone with pkg-config's flags.
run(${CMAKE_COMMAND} --install ${BINARY_DIR} --config ${CONFIG} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/installed)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples/starter -B ${WORK_DIR}/build ${options}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/installed -DCMAKE_OPTIMIZE_DEPENDENCIES=ON)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
run(${WORK_DIR}/build/starter_test)
run(${WORK_DIR}/build/starter)

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE description ${WORK_DIR}/installed/mote.pc)
  get_filename_component(folder ${description} DIRECTORY)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --cflags --libs mote
    OUTPUT_VARIABLE given OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(given UNIX_COMMAND "${given}")
  set(compile ${COMPILER} ${strict} ${WORK_DIR}/main.cpp ${given})
  run(${compile} -std=c++20 -o ${WORK_DIR}/main)
  run_main(${WORK_DIR}/main)
  # What is refused is refused in a sentence. Sources of one `real` are not linked with the library of the other, nor
  # are those whose containers have another layout.
  set(mixed_MOTE_REAL_DOUBLE "library_of\\(double, ")
  set(mixed__GLIBCXX_DEBUG "library_of\\(float, mote::detail::with_GLIBCXX_DEBUG\\*\\)")
  foreach(definition IN ITEMS MOTE_REAL_DOUBLE _GLIBCXX_DEBUG)
    execute_process(COMMAND ${compile} -std=c++20 -D${definition} -o ${WORK_DIR}/mixed RESULT_VARIABLE result
      ERROR_VARIABLE error)
    if(result EQUAL 0 OR NOT error MATCHES "${mixed_${definition}}")
      message(FATAL_ERROR "sources with ${definition} and the library without are answered by:\n${error}")
    endif()
  endforeach()
  set(refused -ffast-math -ffinite-math-only -fno-rtti)
  execute_process(COMMAND ${COMPILER} --version OUTPUT_VARIABLE compiler)
  if(NOT compiler MATCHES "clang")  # which tells headers of no other flag
    list(APPEND refused -funsafe-math-optimizations "-ffast-math -fno-finite-math-only" -freciprocal-math
      -fno-signed-zeros "-fassociative-math -fno-trapping-math -fno-signed-zeros")
  endif()
  foreach(flags IN LISTS refused)
    separate_arguments(flag UNIX_COMMAND "${flags}")
    execute_process(COMMAND ${compile} -std=c++20 ${flag} -fsyntax-only RESULT_VARIABLE result ERROR_VARIABLE error)
    if(result EQUAL 0 OR NOT error MATCHES "error: [^\n]*mote: compile without ")
      message(FATAL_ERROR "${flag} is answered by:\n${error}")
    endif()
  endforeach()
endif()
file(REMOVE_RECURSE ${WORK_DIR})
