# Makes mote.h and mote.cpp, and is their user. Run by ctest with cmake -DSOURCE_DIR=... -DCOMPILER=... -DOBJDUMP=...
# -DTARGETS=portable;avx2 -DWORK_DIR=... -P two_files.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} -DOUT=${WORK_DIR} -DFORWARD=ON -P ${SOURCE_DIR}/engine/amalgamate.cmake)
set(compile ${COMPILER} -O2 -std=c++20 -ffp-contract=off)
set(strict -Wall -Wextra -Wpedantic -Wconversion -Werror -I${WORK_DIR})
run(${compile} -c ${WORK_DIR}/mote.cpp -o ${WORK_DIR}/mote.o)

# A processor without wide registers runs all but the kernels that it does not choose: no wide instruction elsewhere.
if(OBJDUMP)
  execute_process(COMMAND ${OBJDUMP} -dC --no-show-raw-insn ${WORK_DIR}/mote.o
    COMMAND awk "/^[0-9a-f]+ </ {where = $0}
      /[yz]mm|%k[0-7]|\tv[a-z]/ {++wide; if (where !~ /mote::kernels::avx/) print where}
      END {if (!wide) print \"none\"}" OUTPUT_VARIABLE found)
  if(found AND (NOT found STREQUAL "none\n" OR "avx2" IN_LIST TARGETS))
    message(FATAL_ERROR "wide instructions, which only kernels may have: ${found}")
  endif()
endif()

# The page's first program, which goes on as it says.
file(READ ${SOURCE_DIR}/README.md page)
string(REGEX MATCH "<!-- block: induction -->\n```cpp\n([^`]*)```" found "${page}")
string(REGEX REPLACE "#include \"[^\n]*\n" "" program "${CMAKE_MATCH_1}")
file(WRITE ${WORK_DIR}/main.cpp "#include \"mote.h\"\n${program}")
run(${compile} ${strict} ${WORK_DIR}/main.cpp ${WORK_DIR}/mote.o -pthread -o ${WORK_DIR}/main)
execute_process(COMMAND ${WORK_DIR}/main WORKING_DIRECTORY ${WORK_DIR} OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "0, 5, 9, 2, 0, 5, 9, 2, 0, 5")
  message(FATAL_ERROR "README.md's block induction goes on otherwise than it says:\n${printed}")
endif()

# The bits of every instruction set that this processor has.
run(${compile} ${strict} ${SOURCE_DIR}/tests/fingerprint_test.cpp ${WORK_DIR}/mote.o -pthread
  -o ${WORK_DIR}/fingerprint)
foreach(simd IN LISTS TARGETS)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env MOTE_SIMD=${simd} ${WORK_DIR}/fingerprint RESULT_VARIABLE result
    OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  if(NOT result EQUAL 0 AND NOT printed MATCHES "is not available here")
    message(FATAL_ERROR "MOTE_SIMD=${simd}: ${printed}")
  endif()
endforeach()

# What is refused is refused in a sentence.
foreach(flag IN ITEMS -ffast-math -fno-rtti)
  execute_process(COMMAND ${compile} ${flag} -fsyntax-only ${WORK_DIR}/main.cpp RESULT_VARIABLE result
    ERROR_VARIABLE error)
  if(result EQUAL 0 OR NOT error MATCHES "error: [^\n]*mote: compile without ")
    message(FATAL_ERROR "${flag} is answered by:\n${error}")
  endif()
endforeach()
