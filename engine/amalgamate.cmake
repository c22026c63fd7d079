# Writes the library as two files, mote.h and mote.cpp: cmake [-DFORWARD=ON] -DOUT=folder -P engine/amalgamate.cmake
# With FORWARD it also writes, for every public header, one of its name that includes mote.h, for programs that name it.
cmake_minimum_required(VERSION 3.22)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

# From CMakeLists.txt: the version, and for instruction sets that a processor may lack the compiler's flags.
file(READ ${root}/CMakeLists.txt lists)
string(REGEX MATCH "VERSION ([0-9.]+) LANGUAGES" version "${lists}")
set(version ${CMAKE_MATCH_1})

# text_FILE, and needs_FILE: what it includes, in order. MOTE_LANES stands for the header of one instruction set.
file(GLOB_RECURSE files RELATIVE ${root} ${root}/engine/*.h ${root}/nn/*.h ${root}/models/*.h ${root}/train/*.h
  ${root}/engine/*.cpp ${root}/nn/*.cpp ${root}/models/*.cpp ${root}/train/*.cpp)
set(include "#include \"?(MOTE_LANES|[a-z0-9_/]+\\.h)(\"[^\n]*)?\n")
foreach(file IN LISTS files)
  file(READ ${root}/${file} text)
  string(REGEX MATCHALL "${include}" found "${text}")
  foreach(line IN LISTS found)
    string(REGEX REPLACE "${include}" "\\1" name "${line}")
    list(APPEND needs_${file} ${name})
  endforeach()
  string(REGEX REPLACE "${include}" "" text "${text}")
  string(REPLACE "#pragma once\n" "" text "${text}")
  string(REGEX REPLACE "\n\n\n+" "\n\n" text "${text}")
  set(text_${file} "// --- ${file}\n${text}")
  if(text MATCHES "^(//[^\n]*\n|\n)*$")
    set(index_${file} ON)  # of a folder: a header that has nothing but includes
  endif()
endforeach()

# Adds files to the list `order`, each once and after what it includes.
function(visit order)
  foreach(file IN LISTS ARGN)
    get_property(seen GLOBAL PROPERTY ${order})
    if(NOT file IN_LIST seen)
      visit(${order} ${needs_${file}})
      set_property(GLOBAL APPEND PROPERTY ${order} ${file})
    endif()
  endforeach()
endfunction()
# The list, without what has been written already.
function(visited order result)
  get_property(list GLOBAL PROPERTY ${order})
  list(REMOVE_ITEM list ${ARGN})
  set(${result} ${list} PARENT_SCOPE)
endfunction()

# Public is every header but those of kernels/target and those with code that each source is to have a copy of.
foreach(file IN LISTS files)
  if(NOT file MATCHES "lanes_(vector|pair|wasm)" AND file MATCHES "/kernels/target/lanes_(.*)\\.h$")
    list(APPEND targets ${CMAKE_MATCH_1})
  elseif(file MATCHES "\\.cpp$" AND NOT file MATCHES "/kernels/target/")
    list(APPEND sources ${file})
  elseif(NOT file MATCHES "/kernels/target/" AND NOT text_${file} MATCHES "\nnamespace {\n")
    list(APPEND public ${file})
  endif()
endforeach()
visit(header_order ${public})
visited(header_order headers "")
visit(source_order ${sources})
visited(source_order sources ${headers})
visit(kernel_order engine/kernels/target/table.cpp)
visited(kernel_order kernels ${headers})

# Appends the texts of files to the variable `result`.
function(write result)
  set(out "${${result}}")
  foreach(file IN LISTS ARGN)
    if(NOT index_${file})
      string(APPEND out "\n${text_${file}}")
    endif()
  endforeach()
  set(${result} "${out}" PARENT_SCOPE)
endfunction()

set(head "version ${version}.
// Made by engine/amalgamate.cmake; each part names the file that it comes from.
// Build: g++ -O2 -std=c++20 -ffp-contract=off main.cpp mote.cpp -pthread
// Without -ffp-contract=off a compiler may fuse a product into a sum where the processor can, and other last bits come
// out than mote promises; -ffast-math is refused.
")
set(header "// mote: a tensor autograd engine and a tiny GPT framework, ${head}// -DMOTE_REAL_DOUBLE, for both files: real is double.
#pragma once\n")
write(header ${headers})
file(WRITE ${OUT}/mote.h "${header}")

set(source "// mote's sources, ${head}#ifndef MOTE_TARGET_NAME  // else this file includes itself, for the kernels
#include \"mote.h\"
#define MOTE_VERSION \"${version}\"
#if defined(__x86_64__)
#include <immintrin.h>
#define MOTE_WITH_AVX2
#define MOTE_WITH_AVX512
#elif defined(__aarch64__)
#include <arm_neon.h>
#define MOTE_WITH_NEON
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#define MOTE_WITH_SIMD128
#endif
#define MOTE_WITH_PORTABLE\n")
write(source ${sources})

# The kernels, once in this file and compiled once per instruction set, each in a namespace of its own.
foreach(target IN LISTS targets)
  string(TOUPPER ${target} TARGET)
  string(REGEX MATCH "MOTE_FLAGS_${target} ([^)]*)" flags "${lists}")
  string(REPLACE " -m" "," flags "${CMAKE_MATCH_1}")
  string(REPLACE "-m" "" flags "${flags}")
  string(APPEND source "\n#ifdef MOTE_WITH_${TARGET}\n")
  if(flags)
    string(APPEND source "#ifdef __clang__
#pragma clang attribute push(__attribute__((target(\"${flags}\"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target(\"${flags}\")
#endif\n")
  endif()
  string(APPEND source "#define MOTE_TARGET_NAME ${target}
#define MOTE_LANES_${target}
#include \"mote.cpp\"
#undef MOTE_LANES_${target}
#undef MOTE_TARGET_NAME\n")
  if(flags)
    string(APPEND source "#ifdef __clang__\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n")
  endif()
  string(APPEND source "#endif\n")
  file(READ ${root}/engine/kernels/target/lanes_${target}.h text)  # which includes others in the middle
  foreach(part IN ITEMS lanes_wasm lanes_vector round_to_odd)
    file(READ ${root}/engine/kernels/target/${part}.h inner)
    string(REPLACE "#include \"engine/kernels/target/${part}.h\"\n" "${inner}" text "${text}")
  endforeach()
  string(REGEX REPLACE "${include}" "" text "${text}")
  string(REPLACE "#pragma once\n" "" text "${text}")
  string(APPEND lanes "\n#ifdef MOTE_LANES_${target}\n${text}#endif\n")
endforeach()
set(text_MOTE_LANES "${lanes}")
write(kernel_text ${kernels})
string(REPLACE "namespace mote {\nnamespace {" "namespace mote::kernels::MOTE_TARGET_NAME {\nnamespace {" kernel_text
  "${kernel_text}")
string(REPLACE "_TABLE(MOTE_TARGET_NAME)() {\n" "_TABLE(MOTE_TARGET_NAME)() {\n  using namespace MOTE_TARGET_NAME;\n"
  kernel_text "${kernel_text}")
file(WRITE ${OUT}/mote.cpp "${source}\n#else  // MOTE_TARGET_NAME\n${kernel_text}\n#endif\n")

if(FORWARD)
  foreach(file IN LISTS public)
    file(WRITE ${OUT}/${file} "#include \"mote.h\"\n")
  endforeach()
endif()
