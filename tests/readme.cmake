# Takes the code blocks of all pages, and does with them what they say. Programs are compiled and run. Lines for GPT's block
# are put into it, and GPT is compiled with it. The op is put into its family's header. The layer, the optimizer and the task
# become headers of their own, and the task's line is put into the list. Their tests are compiled and run.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(pages ${SOURCE_DIR}/README.md)
foreach(room IN ITEMS engine nn models train examples tests)
  file(GLOB_RECURSE found ${SOURCE_DIR}/${room}/*.md)
  list(APPEND pages ${found})
endforeach()
list(REMOVE_ITEM pages ${SOURCE_DIR}/examples/index.md)  # which has no blocks, and is long
set(readme)
foreach(page IN LISTS pages)
  file(READ ${page} text)
  string(APPEND readme "${text}\n")
endforeach()
file(REMOVE_RECURSE ${WORK_DIR}/runs)  # which its programs keep, and would resume
# Headers that an earlier run has edited would stand before mote's own.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/nn ${WORK_DIR}/train/optim ${WORK_DIR}/train/tasks ${WORK_DIR}/engine/ops)

function(code_block name result)
  string(REGEX MATCH "<!-- block: ${name} -->\n```cpp\n" opening "${readme}")
  if(NOT opening)
    message(FATAL_ERROR "no page has a block ${name}")
  endif()
  string(FIND "${readme}" "${opening}" start)
  string(LENGTH "${opening}" length)
  math(EXPR start "${start} + ${length}")
  string(SUBSTRING "${readme}" ${start} -1 rest)
  string(FIND "${rest}" "\n```" end)
  string(SUBSTRING "${rest}" 0 ${end} code)
  set(${result} "${code}\n" PARENT_SCOPE)
endfunction()

set(flags -std=c++20 -ffp-contract=off -Wall -Wextra -Wconversion -Werror -I${WORK_DIR} -I${SOURCE_DIR})
if(SANITIZE)
  list(APPEND flags -fsanitize=${SANITIZE})
endif()

# Compiles the program of a block and runs it; what it prints is in `printed`.
function(run_block name)
  code_block(${name} code)
  file(WRITE ${WORK_DIR}/${name}.cpp "${code}")
  run(${COMPILER} ${flags} ${WORK_DIR}/${name}.cpp ${LIBRARY} -pthread -o ${WORK_DIR}/${name})
  execute_process(COMMAND ${WORK_DIR}/${name} WORKING_DIRECTORY ${WORK_DIR} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  set(printed "${printed}" PARENT_SCOPE)
endfunction()

run_block(tour)
run_block(manual)
run_block(graph)
run(${CMAKE_COMMAND} -E compare_files ${WORK_DIR}/graph.svg ${SOURCE_DIR}/examples/pictures/graph.svg)

# Its options: those of both structs, a wrong one, and a run that is kept and resumed.
code_block(options code)
file(WRITE ${WORK_DIR}/options.cpp "${code}")
run(${COMPILER} ${flags} ${WORK_DIR}/options.cpp ${LIBRARY} -pthread -o ${WORK_DIR}/options)
execute_process(COMMAND ${WORK_DIR}/options --help OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "--width +of the model" OR NOT printed MATCHES "--learning_rate ")
  message(FATAL_ERROR "the block options prints this help:\n${printed}")
endif()
execute_process(COMMAND ${WORK_DIR}/options --widht 8 RESULT_VARIABLE result ERROR_VARIABLE error)
if(NOT result EQUAL 2 OR NOT error MATCHES "did you mean --width")
  message(FATAL_ERROR "the block options says of --widht, with code ${result}:\n${error}")
endif()
foreach(steps IN ITEMS 2 3)
  run(${WORK_DIR}/options --width 8 --max_iters ${steps} --eval_interval 2 --out_dir ${WORK_DIR}/runs/options)
endforeach()

# The page's first program goes on as it says, and draws the pictures beside it.
run_block(induction)
if(NOT printed MATCHES "0, 5, 9, 2, 0, 5, 9, 2, 0, 5")
  message(FATAL_ERROR "README.md's block induction goes on otherwise than it says:\n${printed}")
endif()
foreach(picture IN ITEMS learning.svg)
  file(READ ${WORK_DIR}/runs/induction/${picture} drawn)
  file(READ ${SOURCE_DIR}/examples/pictures/${picture} shown)
  if(NOT drawn STREQUAL shown)
    message(FATAL_ERROR "README.md's block induction draws another ${picture} than examples/pictures has")
  endif()
endforeach()

# What the programs print stands below them.
foreach(name IN ITEMS pointwise fit run keep pytorch attention watch apart reach diagnose)
  run_block(${name})
  string(FIND "${readme}" "<!-- output: ${name} -->\n```\n${printed}```\n" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "a page shows another output of the block ${name} than this:\n${printed}")
  endif()
endforeach()

code_block(op op)
file(READ ${SOURCE_DIR}/engine/ops/activation.h family)
string(REPLACE "}  // namespace mote\n" "${op}\n}  // namespace mote\n" family "${family}")
file(WRITE ${WORK_DIR}/engine/ops/activation.h "${family}")
foreach(name IN ITEMS layer optimizer task task_line op_test layer_test task_test)
  code_block(${name} ${name})
endforeach()
file(WRITE ${WORK_DIR}/nn/gated_mlp.h "${layer}")
file(WRITE ${WORK_DIR}/train/optim/sign_sgd.h "${optimizer}")
file(WRITE ${WORK_DIR}/train/tasks/rotate.h "${task}")
file(READ ${SOURCE_DIR}/train/tasks/list.cpp list)
string(REPLACE "    entry<SelectiveCopyTask>" "${task_line}    entry<SelectiveCopyTask>" longer "${list}")
string(REPLACE "#include \"train/tasks/selective_copy.h\"" "#include \"train/tasks/rotate.h\"
#include \"train/tasks/selective_copy.h\"" longer "${longer}")
file(WRITE ${WORK_DIR}/tasks.cpp "${longer}")
file(WRITE ${WORK_DIR}/guide_test.cpp "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
${layer_test}
${task_test}
#include \"train/optim/sign_sgd.h\"
#include \"engine/ops/reduce.h\"
namespace mote::test {
${op_test}
TEST_CASE(\"SignSGD\") {
  Parameter p(Array::full({3}, 1));
  SignSGD optimizer({{{{\"p\", p}}}}, 0.25);
  const Tensor loss = sum(Tensor(p));
  loss.backward();
  optimizer.step();
  CHECK(p.value().at({1}) == real(0.75));
}
}  // namespace mote::test
")
run(${COMPILER} ${flags} -DMOTE_REAL_DOUBLE ${WORK_DIR}/guide_test.cpp ${WORK_DIR}/tasks.cpp ${LIBRARY_F64} -pthread -o ${WORK_DIR}/guide_test)
run(${WORK_DIR}/guide_test)

# The program `train` knows the new task, and learns it.
run(${COMPILER} ${flags} ${SOURCE_DIR}/examples/programs/train.cpp ${WORK_DIR}/tasks.cpp ${LIBRARY} -pthread -o ${WORK_DIR}/train_rotate)
execute_process(COMMAND ${WORK_DIR}/train_rotate --task rotate --symbols 4 --length 3 --max_iters 200 --sequences 100
  OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "question [abcd]+   answer [abcd]+   right" OR NOT printed MATCHES "% of its attention goes to")
  message(FATAL_ERROR "train --task rotate prints this:\n${printed}")
endif()

# The lines of nn/put_it_into_gpt.md in the block, each in the place of the line that begins like its pattern, or behind it ("+"): then
# a GPT of that, compiled in the place of the library's.
function(put_lines name)
  code_block(${name} lines)
  string(REGEX REPLACE "\n$" "" lines "${lines}")
  string(REPLACE ";" "@" lines "${lines}")  # which would part a list
  string(REPLACE "\n" ";" lines "${lines}")
  set(patterns ${ARGN})
  foreach(line pattern IN ZIP_LISTS lines patterns)
    string(REPLACE "@" ";" line "${line}")
    string(REGEX MATCH "^\\+" behind "${pattern}")
    string(REGEX REPLACE "^\\+" "" pattern "${pattern}")
    string(REGEX MATCH "\n${pattern}[^\n]*" found "${block}")
    if(NOT found)
      message(FATAL_ERROR "nn/transformer_block.h has no line '${pattern}', for which nn/put_it_into_gpt.md has: ${line}")
    endif()
    if(behind)
      string(REPLACE "${found}" "${found}\n${line}" block "${block}")
    else()
      string(REPLACE "${found}" "\n${line}" block "${block}")
    endif()
  endforeach()
  set(block "${block}" PARENT_SCOPE)
endfunction()

file(READ ${SOURCE_DIR}/nn/transformer_block.h block)
put_lines(own_mlp "#include .nn/feed_forward.h" "  std::optional<FeedForward> mlp" "    mlp.emplace")
file(WRITE ${WORK_DIR}/nn/mix.h "#include \"tests/own_block.h\"\n")
put_lines(own_layer "+#include .nn/gated_mlp.h" "+  std::optional<GatedMlp> mlp" "      const Tensor y = x [+] attn.ln_1" "+    v..attn.")
file(WRITE ${WORK_DIR}/nn/transformer_block.h "${block}")
file(GLOB_RECURSE layers ${SOURCE_DIR}/nn/*.cpp ${SOURCE_DIR}/models/*.cpp)
set(unit)
foreach(file IN LISTS layers)
  string(APPEND unit "#include \"${file}\"\n")
endforeach()
file(WRITE ${WORK_DIR}/own_gpt.cpp "${unit}")
run(${COMPILER} ${flags} ${WORK_DIR}/own_gpt.cpp ${SOURCE_DIR}/tests/own_block.cpp ${LIBRARY} -pthread -o ${WORK_DIR}/own_block)
run(${WORK_DIR}/own_block)
# The tests of nn can be built with such a block, or nobody could test the layer any more.
file(GLOB block_tests ${SOURCE_DIR}/tests/nn/*_test.cpp)
set(unit)
foreach(file IN LISTS block_tests)
  string(APPEND unit "#include \"${file}\"\n")
endforeach()
file(WRITE ${WORK_DIR}/block_tests.cpp "${unit}")
run(${COMPILER} -std=c++20 -fsyntax-only "-DMOTE_SOURCE_DIR=\"${SOURCE_DIR}\"" -I${WORK_DIR} -I${SOURCE_DIR} ${WORK_DIR}/block_tests.cpp)
