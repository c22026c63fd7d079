# mote as a dependency. Run by ctest with cmake -DHOW=find_package|add_subdirectory -DSOURCE_DIR=... -DBINARY_DIR=...
# -DWORK_DIR=... -DCOMPILER=... -DGENERATOR=... -DSANITIZE=... -DCONFIG=... -P consumer.cmake
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
set(options -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0)
if(HOW STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${BINARY_DIR} --config ${CONFIG} --prefix ${WORK_DIR}/installed)
  if(NOT EXISTS ${WORK_DIR}/installed/include/mote/engine/autograd/op.h)
    message(FATAL_ERROR "the headers are not under include/mote")
  endif()
  list(APPEND options -DCMAKE_PREFIX_PATH=${WORK_DIR}/installed)
else()
  # The library itself is not built a second time: what a folder's user compiles is linked with the one at hand.
  list(APPEND options -DMOTE_FOLDER=${SOURCE_DIR} -DMOTE_BUILT=${BINARY_DIR})
endif()
if(SANITIZE)
  list(APPEND options -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${WORK_DIR}/build ${options})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
foreach(program IN ITEMS consumer_mote consumer_mote_f64)
  run(${WORK_DIR}/build/${program})
endforeach()
file(REMOVE_RECURSE ${WORK_DIR})
