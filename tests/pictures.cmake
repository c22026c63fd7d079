# Trains the model whose pictures stand in examples/pictures, and compares them with those that the run has drawn. To make
# them anew: this command, and copy loss.svg and heads.svg.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK_DIR})
run(${TRAIN} --task induction --length 12 --symbols 16 --out_dir ${WORK_DIR})
foreach(picture IN ITEMS loss.svg heads.svg)
  run(${CMAKE_COMMAND} -E compare_files ${WORK_DIR}/${picture} ${SOURCE_DIR}/examples/pictures/${picture})
endforeach()
