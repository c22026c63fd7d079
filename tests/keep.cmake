# Runs that are kept: trains a few steps into a folder, goes on, generates from it and inspects it, as a user would.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
set(stop "[^\n]*\n$")  # the rest of a one-line error

# Runs a program: its exit code, standard output and standard error must be these. Leaves the output in `stdout`.
function(expect program status out err)
  execute_process(COMMAND ${program} ${ARGN} WORKING_DIRECTORY ${WORK_DIR} RESULT_VARIABLE got OUTPUT_VARIABLE stdout
    ERROR_VARIABLE stderr)
  if(NOT got STREQUAL status OR NOT stdout MATCHES "${out}" OR NOT stderr MATCHES "${err}")
    string(JOIN " " command ${program} ${ARGN})
    message(SEND_ERROR "${command}: exit ${got} instead of ${status}, or other words than '${out}' and '${err}'\nstdout:\n"
      "${stdout}\nstderr:\n${stderr}")
  endif()
  set(stdout "${stdout}" PARENT_SCOPE)
endfunction()
function(expect_equal what a b)
  if(NOT a STREQUAL b)
    message(SEND_ERROR "${what}: '${a}' is not '${b}'")
  endif()
endfunction()
# Writes a copy of a file in which bytes, given in hexadecimal digits, are others. They must occur.
function(change from to what instead)
  file(READ ${WORK_DIR}/${from} bytes HEX)
  string(REPLACE "${what}" "${instead}" changed "${bytes}")
  if(changed STREQUAL bytes)
    message(SEND_ERROR "${from} has no ${what}")
  endif()
  string(REGEX REPLACE "(..)" "\\\\x\\1" escaped "${changed}")
  execute_process(COMMAND bash -c "printf '${escaped}'" OUTPUT_FILE ${WORK_DIR}/${to})
endfunction()

# A run of 12 steps, and the same one that ended after 6 and was resumed: equal in every byte.
set(few --symbols 3 --length 3 --n_layer 1 --n_head 2 --n_embd 8 --batch_size 8 --sequences 5 --dropout 0.1
  --schedule constant --warmup_iters 8 --eval_interval 2)
expect(${TRAIN} 0 "trained 12 steps" "^$" ${few} --max_iters 12 --save_interval 4 --out_dir whole)
expect(${TRAIN} 0 "trained 6 steps" "^$" ${few} --max_iters 6 --save_interval 4 --out_dir halves)
expect(${TRAIN} 0 "going on after step 6 of 12\n[^w].*trained 6 steps" "^$" --resume halves --max_iters 12 --save_interval 4)
expect(${INSPECT} 0 "tensors: [0-9]+ equal in every bit, 0 not; metadata: 0 differ\n$" "^$" whole halves)
expect(${TRAIN} 0 "trained 2 steps" "^$" --symbols 3 --length 3 --n_layer 1 --n_embd 8 --sequences 5 --max_iters 2 --out_dir cosine)
expect(${TRAIN} 0 "going on after step 2 of 4\nwarning: in a run of 4 steps the learning rate of step 2 would have been [^\n]*\n"
  "^$" --resume cosine --max_iters 4)
# Begun without a step; and ended before it was evaluated, where a run of so many steps would be.
expect(${TRAIN} 0 "trained 0 steps" "^$" ${few} --max_iters 0 --save_interval 4 --out_dir begun)
expect(${TRAIN} 0 "trained 12 steps" "^$" --resume begun --max_iters 12)
expect(${TRAIN} 0 "trained 12 steps" "^$" ${few} --max_iters 12 --save_interval 3 --out_dir shorter)
file(REMOVE ${WORK_DIR}/shorter/step-00000012.safetensors ${WORK_DIR}/shorter/best.safetensors)
foreach(again IN ITEMS first second)
  expect(${TRAIN} 0 "trained 0 steps" "^$" --resume shorter --max_iters 9)
endforeach()
file(STRINGS ${WORK_DIR}/shorter/evaluations.jsonl ends REGEX "\"step\":9,")
list(LENGTH ends count)
expect_equal("evaluations after 9 steps" ${count} 1)
expect(${TRAIN} 0 "trained 1 steps" "^$" --resume shorter --max_iters 10)
expect(${TRAIN} 0 "trained 0 steps" "^$" --resume shorter --max_iters 10)
if(stdout MATCHES "evaluation after")
  message(SEND_ERROR "a run that has been evaluated is evaluated again:\n${stdout}")
endif()
# The best that is left alone becomes a step's. The first weights are never best.
file(GLOB steps ${WORK_DIR}/shorter/step-*)
file(REMOVE ${steps})
expect(${TRAIN} 0 "trained 0 steps" "^$" --resume shorter --max_iters 10)
expect(${INSPECT} 0 "newest checkpoint: shorter/step-00000010.safetensors" "^$" shorter)
expect(${TRAIN} 0 "trained 4 steps" "^$" ${few} --max_iters 4 --learning_rate 100 --out_dir worse)
expect(${INSPECT} 0 "\nworse +4 +[0-9.]+ +[0-9.]+ +[0-9.]+ after 2 +" "^$" worse)
expect(${INSPECT} 0 "\nsteps +2\n" "^$" worse/best.safetensors)
expect(${GENERATE} 0 "." "^$" --run worse --samples 5)
set(newest "${stdout}")
expect(${GENERATE} 0 "." "^$" --run worse/best.safetensors --samples 5)
set(best "${stdout}")
if(newest STREQUAL best)
  message(SEND_ERROR "the newest and the best answer the same: ${best}")
endif()
# Heads are looked at in a healthy run without a loss of nothing; a long text's picture is cut.
execute_process(COMMAND ${CMAKE_COMMAND} -E env MOTE_CHECK=finite ${TRAIN} --length 150 --symbols 3 --n_layer 1 --n_head 2
  --n_embd 8 --batch_size 4 --max_iters 2 --sequences 2 --out_dir long WORKING_DIRECTORY ${WORK_DIR} RESULT_VARIABLE got
  OUTPUT_VARIABLE stdout)
expect_equal("exit code of a run of long texts" ${got} 0)
file(STRINGS ${WORK_DIR}/long/about.json words REGEX "^    \"[abc|]\",?$")  # of the positions that the page shows
list(LENGTH words count)
expect_equal("positions of a long text in the report" ${count} 64)
# A model that drops in training does not when it answers.
expect(${TRAIN} 0 "trained 2 steps" "^$" --symbols 3 --length 3 --n_layer 1 --n_head 2 --n_embd 8 --dropout 0.6 --max_iters 2
  --sequences 2 --out_dir dropping)
expect(${GENERATE} 0 "." "^$" --run dropping --prompt "abc|" --temperature 0 --samples 20)
string(REGEX MATCHALL "[^\n]+" answers "${stdout}")
list(REMOVE_DUPLICATES answers)
list(LENGTH answers count)
expect_equal("different answers to one question" ${count} 1)
foreach(folder IN ITEMS halves begun)
  foreach(file IN ITEMS log.jsonl evaluations.jsonl report.html loss.svg)
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${WORK_DIR}/whole/${file} ${WORK_DIR}/${folder}/${file}
      RESULT_VARIABLE got)
    expect_equal("compare_files of ${folder}/${file}" "${got}" 0)
  endforeach()
endforeach()
file(READ ${WORK_DIR}/whole/report.html page)
foreach(part IN ITEMS "<title>mote: copy</title>" "<dt>exact match</dt><dd>[0-5] of 5, " "Answers on the way" "What each head looks at"
    "\"step\":0," "\"step\":12," "<td>n_layer</td><td>1</td>" "held out</text>" "decayed \\(weight_decay 0.1\\)" "</html>\n$")
  if(NOT page MATCHES "${part}")
    message(SEND_ERROR "report.html has no '${part}'")
  endif()
endforeach()

# A path may be any: with spaces, not ASCII, over other folders, with a slash at its end. A loss that is not finite ends the
# run with one sentence; the checkpoints stay as they were.
file(MAKE_DIRECTORY "${WORK_DIR}/with space/é")
expect(${TRAIN} 0 "the report is ./with space/é/../ü/run//report.html" "^$" ${few} --max_iters 2 --out_dir "./with space/é/../ü/run/")
expect(${INSPECT} 0 "\nrun +2 +" "^$" "with space/ü/run")
file(GLOB left RELATIVE "${WORK_DIR}/with space" "${WORK_DIR}/with space/*" "${WORK_DIR}/with space/*/*")
expect_equal("folders" "${left}" "é;ü;ü/run")
expect(${TRAIN} 1 "" "^[^\n]*fit: the (loss|gradient) of step [1-9] is [^\n]*MOTE_CHECK=finite[^\n]*\n$" ${few} --max_iters 12
  --save_interval 1 --optimizer sgd --learning_rate 1e30 --grad_clip 0 --out_dir broken_off)
expect(${INSPECT} 0 "newest checkpoint: broken_off/step-0000000[1-9].safetensors\n\n.*\nbroken_off +[1-9] +" "^$" broken_off)
file(GLOB left ${WORK_DIR}/broken_off/step-*.safetensors)
foreach(checkpoint IN LISTS left)
  expect(${INSPECT} 0 "checksums: all ok" "^$" ${checkpoint})
endforeach()

# How often it is looked at changes no bit of the weights.
string(REPLACE "--eval_interval;2" "--eval_interval;5;--eval_iters;1;--samples;0" other "${few}")
expect(${TRAIN} 0 "trained 12 steps" "^$" ${other} --max_iters 12 --out_dir other)
expect(${TRAIN} 0 "trained 0 steps" "^$" --resume other --eval_interval 7 --samples 3 --log_interval 1)
expect(${INSPECT} 1 "tensors: [0-9]+ equal in every bit, 0 not; metadata: [0-9]+ differ\n$" "^$" whole other)
expect(${TRAIN} 2 "^$" "^[^\n]*the run in halves has n_layer 1 \\(here 2\\): give the same, ${stop}" --resume halves --n_layer 2)
expect(${TRAIN} 1 "^$" "^[^\n]*there is a run in whole: go on with it by --resume${stop}" ${few} --out_dir whole)

# What is generated depends on the seed, and on nothing else.
expect(${GENERATE} 0 "^[abc][abc][abc]\\|[abc|][abc|][abc|]\n$" "^$" --run whole)
expect(${GENERATE} 0 "^(abc\\|[abc|][abc|][abc|]\n)+$" "^$" --run whole --prompt abc| --samples 20 --seed 3)
set(first "${stdout}")
expect(${GENERATE} 0 "" "^$" --run whole --prompt abc| --samples 20 --seed 3)
expect_equal("the same seed" "${stdout}" "${first}")
expect(${GENERATE} 0 "" "^$" --run halves --prompt abc| --samples 20 --seed 3 --use_cache false)
expect_equal("without a cache" "${stdout}" "${first}")
expect(${GENERATE} 0 "" "^$" --run whole/step-00000012.safetensors --ids "0 1, 2 3" --samples 20 --seed 3)
expect_equal("a checkpoint by name, the prompt as ids" "${stdout}" "${first}")
expect(${GENERATE} 0 "" "^$" --run whole --prompt abc| --samples 20 --seed 4)
if(stdout STREQUAL first)
  message(SEND_ERROR "another seed generates the same")
endif()
expect(${GENERATE} 0 "^abc\\|.......\n$" "^$" --run whole/best.safetensors --prompt abc| --count 7 --temperature 0 --top_k 2)
expect(${GENERATE} 0 "^abc\\|\n$" "^$" --run whole --prompt abc| --count 0)
# A text without an end begins at once, also where a window lets the context grow.
expect(${TRAIN} 0 "" "^$" ${few} --max_iters 1 --position rotary --window 3 --out_dir windowed)
execute_process(COMMAND bash -c "$0 --run windowed --prompt abc\\| --count 99999999999 | head -c 20" ${GENERATE}
  WORKING_DIRECTORY ${WORK_DIR} OUTPUT_VARIABLE stdout ERROR_VARIABLE stderr)
if(NOT stdout MATCHES "^abc\\|[abc|]+$" OR NOT stderr STREQUAL "")
  message(SEND_ERROR "generate without an end: '${stdout}' '${stderr}'")
endif()

# Models of the outside: ids in, ids out.
expect(${FILES} 0 "^$" "^$" .)
expect(${GENERATE} 0 "^1 2 3( [0-9]+) [0-9]+\n1 2 3( [0-9]+) [0-9]+\n$" "^$" --huggingface gpt2 --ids "1 2 3" --count 2 --samples 2)
expect(${GENERATE} 0 "^[0-9 ]+\n$" "^$" --huggingface gpt2 --ids 1)
string(REGEX MATCHALL "[0-9]+" ids "${stdout}")
list(LENGTH ids length)
expect_equal("tokens, the prompt among them" ${length} 51)

# A word of more than one letter.
expect(${TRAIN} 0 "" "^$" --task repeat --symbols 5 --length 6 --n_embd 8 --n_head 2 --max_iters 3 --sequences 2 --out_dir demo)
expect(${GENERATE} 0 "^33[0-4]\n$" "^$" --run demo --prompt "3 3" --count 1)

# Mistakes: one line, and nothing printed.
expect(${GENERATE} 2 "^$" "^[^\n]*no model is given: give one of --run, ${stop}")
expect(${GENERATE} 2 "^$" "^[^\n]*more than one model is given: give one of ${stop}" --run whole --huggingface gpt2)
expect(${GENERATE} 2 "^$" "^[^\n]*--prompt and --ids: give one of them\n$" --run whole --prompt a --ids 1)
expect(${GENERATE} 2 "^$" "^[^\n]*the task has no word 'x', '7', 'é'; its words are a b c \\|\n$" --run whole --prompt axb7xé)
expect(${GENERATE} 2 "^$" "^[^\n]*the task has no word '5'; its words are 0 1 2 3 4\n$" --run demo --prompt "1 5 5")
expect(${GENERATE} 2 "^$" "^[^\n]*the prompt does not end with \\|; a question is [abc][abc][abc]\\|, say, and --ids takes any beginning\n$"
  --run whole --prompt abc)
expect(${GENERATE} 2 "^$" "^[^\n]*the prompt has 9 words, but the model sees at most 6; a question is [abc][abc][abc]\\|, say,[^\n]*\n$"
  --run whole --prompt abcabcab|)
expect(${GENERATE} 2 "^$" "^[^\n]*--ids: 4 must be an id of the vocabulary, 0 to 3\n$" --run whole --ids "1 4")
expect(${GENERATE} 2 "^$" "^[^\n]*--ids: 'one' is not a whole number\n$" --run whole --ids one)
expect(${GENERATE} 2 "^$" "^[^\n]*--ids: give at least one id\n$" --run whole --ids ,)
expect(${GENERATE} 2 "^$" "^[^\n]*--ids: give at least one id\n$" --run whole --ids=)
expect(${GENERATE} 2 "^$" "^[^\n]*--ids are missing${stop}" --huggingface gpt2)
expect(${GENERATE} 2 "^$" "^[^\n]*--prompt is for texts and for runs of a task: give --ids[^\n]*\n$" --huggingface gpt2 --prompt a)
expect(${GENERATE} 2 "^$" "^[^\n]*samples 0 must be at least 1 and at most 10000\n$" --run whole --samples 0)
expect(${GENERATE} 2 "^$" "^[^\n]*samples 99999999999 must be at least 1 and at most 10000\n$" --run whole --samples 99999999999)
expect(${GENERATE} 2 "^$" "^[^\n]*seed -1 must be 0 to 1000000000000000000\n$" --run whole --seed -1)
expect(${GENERATE} 2 "^$" "^[^\n]*--ids: 9223372036854775808 is above 2\\^63 - 1, ${stop}" --run whole --ids 9223372036854775808)
foreach(source IN ITEMS run huggingface nanogpt llmc)
  expect(${GENERATE} 2 "^$" "^[^\n]*--${source} needs a path\n$" --${source}=)
endforeach()
expect(${GENERATE} 2 "^$" "^[^\n]*count -1 must be at least 0\n$" --run whole --count -1)
expect(${GENERATE} 1 "^$" "^[^\n]*there is no run nothing${stop}" --run nothing)
expect(${GENERATE} 1 "^$" "^[^\n]*there is no checkpoint in gpt2\n$" --run gpt2)
expect(${GENERATE} 1 "^$" "^[^\n]*is not a checkpoint of a run${stop}" --run a.safetensors)
expect(${GENERATE} 1 "^$" "^[^\n]*whole is a run of mote, not a model of Hugging Face's: open it by --run whole\n$" --huggingface whole)
# A run without its checkpoints is not taken for a model of Hugging Face's.
file(COPY ${WORK_DIR}/whole/config.json DESTINATION ${WORK_DIR}/bare)
set(bare "^[^\n]*bare is a run of mote without a checkpoint: nothing can go on with it, so train again in another folder\n$")
expect(${GENERATE} 1 "^$" "${bare}" --huggingface bare)
expect(${GENERATE} 1 "^$" "^[^\n]*there is no checkpoint in bare\n$" --run bare)
expect(${INSPECT} 2 "^$" "${bare}" bare)
expect(${INSPECT} 2 "^$" "${bare}" whole bare)
expect(${TRAIN} 1 "^$" "${bare}" --init_from bare)
expect(${TRAIN} 2 "^$" "${bare}" --resume bare)
# A pipe is no model, and is not waited for.
execute_process(COMMAND mkfifo ${WORK_DIR}/fifo)
foreach(program IN ITEMS "${GENERATE};1;^$;^[^\n]*'fifo': it is not a regular file\n$;--run"
    "${INSPECT};2;^$;^[^\n]*'fifo': it is not a regular file\n$")
  expect(${program} fifo)
endforeach()
file(CREATE_LINK nowhere ${WORK_DIR}/link SYMBOLIC)
expect(${TRAIN} 1 "^$" "^[^\n]*cannot make the folder 'link': it is a symbolic link to 'nowhere', which does not exist: ${stop}" ${few}
  --max_iters 1 --out_dir link)

# What a file holds.
set(number " +[-0-9.e+]+")
expect(${INSPECT} 0 "^a.safetensors, [0-9,]+ bytes\n\n.*step +1\n.*\ncounts +I64 +\\[3\\] +1 +9 +4 +9.274 +0 +0  ok\n.*\ntensors: 3, elements: 11, checksums: all ok\n$"
  "^$" a.safetensors)
expect(${INSPECT} 0 "\nx +F(32|64) +\\[4\\] +-4 +3 +-0.25 +5 +0 +0  ok\n" "^$" a.safetensors)
expect(${INSPECT} 0 "\nstrange +F(32|64) +\\[2, 2\\] +2 +2 +2 +2 +1 +2  ok\n" "^$" a.safetensors)
expect(${INSPECT} 0 "\nh +F16 +\\[2\\] +-2 +1 +-0.5 +2.236 +0 +0  none\nq +F8_E4M3 +\\[2\\] [- ]+  none\n.*checksums: none\n$"
  "^$" other.safetensors)
file(WRITE ${WORK_DIR}/notes.txt "a text of somebody's\n")
foreach(other IN ITEMS notes.txt gpt2/config.json)
  expect(${INSPECT} 2 "^$" "^[^\n]*${other} is not a safetensors file: inspect shows ${stop}" ${other})
endforeach()
expect(${INSPECT} 0 "^whole/best.safetensors.*\nsettings.general.task +copy\n.*\nsteps +[0-9]+\n.*\nmodel.transformer.wte.weight +F32 +\\[4, 8\\]${number}${number}${number}${number} +0 +0  ok\n"
  "^$" whole/best.safetensors)
expect(${INSPECT} 0 "^copy: .*task: symbols = 3, length = 3\n.*newest checkpoint: whole/step-00000012.safetensors\n\n.*\nwhole +12 +.*total +GPT +[0-9]+\n$"
  "^$" whole)
expect(${INSPECT} 0 "^config: block_size = 8, vocab_size = 11, n_layer = 1.*total +GPT +[0-9]+\n$" "^$" gpt2)
expect(${INSPECT} 0 "usage: .*exit code" "^$" --help)

# One bit of a tensor, one of the header, the end.
change(a.safetensors bit.safetensors 00004040000080c0 00004040000081c0)
expect(${INSPECT} 1 "\nx +F32 +\\[4\\] [- ]+  WRONG\n.*checksums: 1 WRONG, the file was changed\n$" "^$" bit.safetensors)
expect(${INSPECT} 1 "\nx +[^\n]*checksum WRONG, bit.safetensors was changed\n.*\ntensors: .*, 1 not" "^$" bit.safetensors a.safetensors)
change(a.safetensors head.safetensors 737472616e6765 737472616e6766)
expect(${INSPECT} 2 "^$" "^[^\n]*the header's checksum is wrong${stop}|^[^\n]*its checksum is missing${stop}" head.safetensors)
expect(${INSPECT} 2 "^$" "^[^\n]*'nothing'${stop}" nothing)
expect(${INSPECT} 0 "^run +[^\n]*steps +training loss +held-out loss +best +right +seconds\n.*\nwhole +" "^$" .)
expect(${INSPECT} 0 "\nwhole +.*\n\ntheir curves are in runs.html\n$" "^$" . --page runs.html)
expect(${INSPECT} 0 "\ntheir curves are in first.html\n" "^$" --page first.html whole)
expect(${INSPECT} 1 "^[^\n]*\n\nsetting .*\nstep 1 is the first that differs: .*\ntensors: " "^$" whole worse)
file(MAKE_DIRECTORY ${WORK_DIR}/broken)
expect(${INSPECT} 2 "^$" "^[^\n]*has no config.json${stop}" broken)
expect(${TRAIN} 2 "^$" "^[^\n]*there is no run in broken\n$" --resume broken)
file(WRITE ${WORK_DIR}/broken/step-00000001.safetensors "cut")
expect(${TRAIN} 1 "^$" "^[^\n]*broken/step-00000001.safetensors${stop}" --resume broken)
expect(${GENERATE} 1 "^$" "^[^\n]*broken/step-00000001.safetensors${stop}" --run broken)
expect(${INSPECT} 2 "^$" "^[^\n]*broken/step-00000001.safetensors${stop}" broken)
file(REMOVE ${WORK_DIR}/broken/step-00000001.safetensors)
file(WRITE ${WORK_DIR}/broken/config.json "{")
expect(${INSPECT} 2 "^$" "^[^\n]*broken/config.json: line 1, ${stop}" broken)
expect(${INSPECT} 2 "^$" "^[^\n]*give one file or folder${stop}")
expect(${INSPECT} 2 "^$" "^[^\n]*unknown option --all${stop}" --all)
expect(${INSPECT} 2 "^$" "^[^\n]*unknown option -a${stop}" -a)
expect(${INSPECT} 2 "^$" "^[^\n]*--page needs a value\n$" whole --page)
expect(${INSPECT} 2 "^$" "^[^\n]*--page needs a path\n$" whole --page=)
expect(${INSPECT} 2 "^$" "^[^\n]*--page is given twice\n$" whole --page a.html --page b.html)
expect(${INSPECT} 2 "^$" "^[^\n]*--page is for the folder of one run or of several runs\n$" a.safetensors --page a.html)
expect(${INSPECT} 2 "^$" "^[^\n]*--report needs a value\n$" --report)
expect(${INSPECT} 2 "^$" "^[^\n]*--report FOLDER writes a report and shows nothing: ${stop}" whole --report whole)

# How two files differ.
expect(${INSPECT} 0 "\nx +F32 +\\[4\\] +equal in every bit\n\ntensors: 3 equal in every bit, 0 not; metadata: 0 differ\n$" "^$"
  a.safetensors a.safetensors)
expect(${INSPECT} 1 "\nstep: 1 \\| 2\n.*\ncounts +I64 +\\[3\\] +equal in every bit\n" "^$" a.safetensors b.safetensors)
expect(${INSPECT} 1 "\nx +F32 +\\[4\\] +largest difference 1, relative 0.2, in 1 of 4 elements, the first at \\[1\\]: -4 \\| -5\n" "^$" a.safetensors b.safetensors)
expect(${INSPECT} 1 "\nstrange +F32 +\\[2, 2\\] +only in a.safetensors\n.*new +F32 +\\[2, 2\\] +only in b.safetensors\n" "^$"
  a.safetensors b.safetensors)
expect(${INSPECT} 1 "\nx +F32 +\\[4\\] +equal as numbers, not in every bit\n" "^$" a.safetensors zero.safetensors)
expect(${INSPECT} 1 "\nx +F32 +\\[4\\] \\| \\[2, 2\\] +other shapes\n" "^$" a.safetensors shape.safetensors)

# A run of somebody's own program: what it keeps can be looked at, and no more.
set(own "'circle' is data of another program, not a task of mote: only the program that made the run can go on with it${stop}")
expect(${INSPECT} 0 "^circle: data of a program's own[^\n]*\n\nsettings: .*batch_size = 4, .*newest checkpoint: circle/step-00000002.safetensors\n\n.*\ncircle +2 +[^\n]*\n$"
  "^$" circle)
expect(${INSPECT} 0 "checksums: all ok\n$" "^$" circle/step-00000002.safetensors)
expect(${TRAIN} 1 "^$" "^[^\n]*circle/step-00000002.safetensors: ${own}" --resume circle)
expect(${GENERATE} 1 "^$" "^[^\n]*circle/step-00000002.safetensors: ${own}" --run circle)
# A model that is no GPT, on a task of the list: never shown as a GPT, in one sentence.
set(own "net/step-00000002.safetensors is of class Net, not GPT: only the program that made the run can go on with it${stop}")
expect(${INSPECT} 0 "^copy: a model of class Net, not GPT; only the program that made the run can go on with it\n\nsettings: [^\n]*\n\nnewest checkpoint: net/step-00000002.safetensors\n\n.*\nnet +2 +[^\n]*\n$"
  "^$" net)
expect(${TRAIN} 1 "^$" "^[^\n]*${own}" --resume net)
expect(${GENERATE} 1 "^$" "^[^\n]*${own}" --run net)

# A run that was killed has its report; one damaged run hides no other, and its whole checkpoints are named.
file(REMOVE ${WORK_DIR}/worse/report.html)
expect(${INSPECT} 0 "^the report is worse/report.html\n$" "^$" --report worse)
if(NOT EXISTS ${WORK_DIR}/worse/report.html)
  message(SEND_ERROR "inspect --report writes no report.html")
endif()
expect(${INSPECT} 2 "^$" "^[^\n]*there is no run in nothing: it has no about.json\n$" --report nothing)
file(COPY ${WORK_DIR}/worse ${WORK_DIR}/halves DESTINATION ${WORK_DIR}/several)
file(WRITE ${WORK_DIR}/several/worse/step-00000004.safetensors "damaged")
expect(${INSPECT} 1 "\nhalves +12 +[^\n]*\n\nworse: several/worse/step-00000004.safetensors: [^\n]*\n$" "^$" several)
expect(${TRAIN} 1 "^$" "^[^\n]*several/worse/step-00000004.safetensors: [^\n]*; remove it to go on from the newest of these: step-00000000.safetensors, best.safetensors\n$"
  --resume several/worse)
file(COPY ${WORK_DIR}/gpt2/ DESTINATION ${WORK_DIR}/broken_gpt2)
# A wrong checksum is told whatever stands for the file, and the exit code says so.
foreach(file IN ITEMS several/halves/step-00000012.safetensors broken_gpt2/model.safetensors)  # the last byte
  execute_process(COMMAND bash -c "printf '\\377' | dd bs=1 conv=notrunc seek=$(($(wc -c <$0) - 1)) of=$0" ${file}
    WORKING_DIRECTORY ${WORK_DIR} ERROR_QUIET)
endforeach()
expect(${INSPECT} 1 "total +GPT +[0-9]+\n\nbroken_gpt2/model.safetensors: the checksum of [^\n]* is wrong${stop}" "^$" broken_gpt2)
set(wrong "halves/step-00000012.safetensors: the checksum of [^\n]* is wrong: the file was changed\n$")
expect(${INSPECT} 1 "^copy: .*total +GPT +[0-9]+\n\nseveral/${wrong}" "^$" several/halves)
expect(${INSPECT} 1 "\nhalves: several/halves/step-00000012.safetensors: the checksum of [^\n]* is wrong: the file was changed\n" "^$" several)
file(REMOVE ${WORK_DIR}/several/worse/step-00000004.safetensors)
expect(${TRAIN} 0 "going on after step 2 of 4\n" "^$" --resume several/worse)
