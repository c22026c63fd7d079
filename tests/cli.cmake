# Holds examples/train against what a user of a command line expects: --help on stdout and 0; a mistake is one line on
# stderr, nothing on stdout, and a non-zero exit.
function(expect status out err)
  execute_process(COMMAND ${TRAIN} ${ARGN} RESULT_VARIABLE got OUTPUT_VARIABLE stdout ERROR_VARIABLE stderr)
  list(JOIN ARGN " " command)
  if(NOT got EQUAL status)
    message(SEND_ERROR "train ${command}: exit ${got} instead of ${status}\n${stdout}\n${stderr}")
  endif()
  if(NOT stdout MATCHES "${out}")
    message(SEND_ERROR "train ${command}: stdout does not match ${out}:\n${stdout}")
  endif()
  if(NOT stderr MATCHES "${err}")
    message(SEND_ERROR "train ${command}: stderr does not match ${err}:\n${stderr}")
  endif()
  set(stdout "${stdout}" PARENT_SCOPE)
endfunction()

# What there is to choose, and a task's own defaults.
expect(0 "usage: .*--task +what to learn.*\\[copy\\].*--seed .*--task NAME --help" "^$" --help)
expect(0 "^task +outcome +chance +steps +seconds +what.*\ncopy +>= 99.9 % +0 % +600 .*10 of 10 symbols.*\ninduction .*rows of 48 .*\nrepeat .*\nselective_copy " "^$" --task list)
expect(0 "--symbols [^\n]*\\[10\\].*--length [^\n]*\\[10\\].*--n_layer +blocks \\[2\\].*--position [^\n]*rotary[^\n]*\\[learned\\].*--max_iters [^\n]*\\[600\\].*--learning_rate [^\n]*\\[0.001\\]"
  "^$" --task copy --help)
expect(0 "--symbols [^\n]*\\[64\\].*--length [^\n]*\\[12\\].*--n_embd +width \\[32\\].*--optimizer [^\n]*\\[adam\\].*--max_iters [^\n]*\\[360\\]"
  "^$" --task repeat --help)
expect(0 "--modulus [^\n]*\\[7\\].*--position [^\n]*\\[rotary\\].*--max_iters [^\n]*\\[4000\\]" "^$" --task modular_addition --modulus 7 --preset llama
  --help)

string(ASCII 27 escape)
expect(0 "--text [^\n]*\\[a␛b\\]" "^$" "--text=a${escape}b" --help)

# An option that the task or the model does not have is a mistake, never ignored.
expect(2 "^$" "^[^\n]*unknown option --n_hed for --task copy \\(did you mean --n_head\\?\\)\n$" --n_hed 2)
expect(2 "^$" "^[^\n]*unknown option --zzzzzzzz for --task [^\n]* \\(--help lists them all\\)\n$" --zzzzzzzz)
expect(2 "^$" "^[^\n]*task 'copies' is none of adder10, [^\n]*\n$" copies)
expect(2 "^$" "^[^\n]*unknown option --symbols for --task parity [^\n]*\n$" --task parity --symbols 5)
expect(2 "^$" "^[^\n]*unknown option --modulus for --task copy [^\n]*\n$" --modulus 5)

# What keeps a model from learning.
expect(0 "^copy, before training, on one batch:\nok    visit\\(\\) lists what the layers use\nok    of the targets [0-9]+ % are the symbol itself, 100 % the next one.*\nok    100 steps on this batch alone: loss 2.4[0-9]+ -> 0[^\n]*\n$" "^$" copy --diagnose)
expect(1 "\nok    four steps change every parameter\n.*LOOK  100 steps" "^$" copy --diagnose --learning_rate 10)
expect(2 "^$" "^[^\n]*--diagnose measures a new model and keeps nothing[^\n]*\n$" copy --diagnose --seeds 1-2)

# Sizes are bounded before anything is built.
foreach(size IN ITEMS "--n_layer;1000000000" "--n_embd;4000000000" "--eval_iters;9223372036854775807" "--batch_size;2147483648")
  expect(2 "^$" "^[^\n]*\n$" ${size})
endforeach()

# A learning rate that leaves no finite weights: what happened, why, and where to look.
expect(1 "evaluation after 0 steps" "^[^\n]*the logits after position [0-9]+ contain NaN or infinity: [^\n]* a learning rate too high; MOTE_CHECK=finite [^\n]*\n$"
  --learning_rate 1e38 --max_iters 2 --sequences 2 --eval_interval 1)

# A pipe without a program that writes into it is not waited for; one that comes late is.
execute_process(COMMAND rm -f ${WORK_DIR}/fifo)
execute_process(COMMAND mkdir -p ${WORK_DIR})
execute_process(COMMAND mkfifo ${WORK_DIR}/fifo)
foreach(option IN ITEMS config text)
  expect(2 "^$" "^[^\n]*cannot read '[^\n]*fifo': the pipe is empty and no program writes into it: start that program first\n$" --${option}
    ${WORK_DIR}/fifo)
endforeach()
expect(1 "^$" "^[^\n]*cannot read '[^\n]*fifo': it is not a regular file\n$" --init_from ${WORK_DIR}/fifo)
execute_process(COMMAND bash -c "(sleep 0.1; echo max_iters = 0) | \"$0\" --config /dev/stdin --sequences 1" ${TRAIN}
  OUTPUT_VARIABLE stdout ERROR_VARIABLE stderr)
if(NOT stdout MATCHES "trained 0 steps" OR NOT stderr STREQUAL "")
  message(SEND_ERROR "train --config /dev/stdin:\n${stdout}\n${stderr}")
endif()

# Several seeds.
expect(2 "^$" "^[^\n]*--seeds 3-1 must be two seeds, [^\n]*\n$" --seeds 3-1)
foreach(seeds IN ITEMS "" - 1- -1 1,1 x 1-2-3)
  expect(2 "^$" "^[^\n]*--seeds '${seeds}' must be a seed such as 3, or [^\n]*: 1-10\n$" --seeds=${seeds})
endforeach()
expect(2 "^$" "^[^\n]*n_embd 64 is not divisible by n_head 3\n$" --seeds 1-2 --n_head 3)
expect(2 "^$" "^[^\n]*--jobs is for --seeds\n$" --jobs 2)
expect(0 "\n1 [^\n]* %  [^\n]*\n.*right: worst [0-9.]+ %, median [0-9.]+ %; stated for the task.s own settings: >= 99.9 %\n$" "^$" --seeds 1-2
  --jobs 2 --max_iters 2 --sequences 5)
expect(0 "" "^$" --seeds 1-2 --max_iters 50 --sequences 50 --symbols 3 --length 3)
string(REGEX MATCH "\n1 +[0-9.]+ +([0-9]+)\\.0 %.*\n2 +[0-9.]+ +([0-9]+)\\.0 %.*worst ([0-9]+)\\.0 %, median ([0-9]+)\\.0 %" found "${stdout}")
math(EXPR twice "2 * ${CMAKE_MATCH_4} - ${CMAKE_MATCH_1} - ${CMAKE_MATCH_2}")
if(CMAKE_MATCH_1 EQUAL CMAKE_MATCH_2 OR NOT twice EQUAL 0)
  message(SEND_ERROR "the median of two seeds is not their mean, or both are alike:\n${stdout}")
endif()
foreach(jobs IN ITEMS 1 2)  # a run that fails ends them all
  file(REMOVE_RECURSE ${WORK_DIR}/seeds)
  file(WRITE ${WORK_DIR}/seeds/seed-1/log.jsonl "")
  expect(1 "^copy: " "^[^\n]*the run with seed 1 failed: [^\n]*already has a log.jsonl[^\n]*\n$" --seeds 1-9 --jobs ${jobs} --max_iters 2
    --sequences 5 --out_dir ${WORK_DIR}/seeds)
  if(EXISTS ${WORK_DIR}/seeds/seed-9)
    message(SEND_ERROR "train --seeds goes on behind a run that failed")
  endif()
endforeach()

# What people type first.
expect(2 "^$" "^[^\n]*unknown option --lr for --task copy \\(did you mean --learning_rate\\?\\)\n$" --lr 1e-3)
expect(2 "^$" "^[^\n]*unknown option --epochs for --task copy \\(did you mean --max_iters\\?\\)\n$" --epochs 3)
expect(2 "^$" "^[^\n]*unknown option --layers for --task copy \\(did you mean --n_layer\\?\\)\n$" --layers 3)
expect(2 "^$" "^[^\n]*there is no run in nowhere\n$" --resume nowhere)
expect(0 "^reverse: .*\ntrained 1 steps" "^$" reverse --max_iters 1 --sequences 1)

# Values that cannot be read, or cannot be, or cannot be together.
expect(2 "^$" "^[^\n]*--n_head: 'three' is not a whole number\n$" --n_head three)
expect(2 "^$" "^[^\n]*--symbols: 'three' is not a whole number\n$" --symbols three)
expect(2 "^$" "^[^\n]*--max_iters: '1.5' is not a whole number\n$" --max_iters=1.5)
expect(2 "^$" "^[^\n]*--max_iters: 9223372036854775808 is above 2\\^63 - 1, the largest whole number that is possible\n$"
  --max_iters 9223372036854775808)
expect(2 "^$" "^[^\n]*--seed: -99999999999999999999 is below -2\\^63, [^\n]*\n$" --seed=-99999999999999999999)
expect(2 "^$" "^[^\n]*max_iters -1 must be at least 0\n$" --max_iters=-1)
expect(2 "^$" "^[^\n]*--max_iters: '1e3' is not a whole number\n$" --max_iters=1e3)
expect(2 "^$" "^[^\n]*--max_iters: '' is not a whole number\n$" --max_iters=)
expect(2 "^$" "^[^\n]*unknown option -- for [^\n]*\n$" --)
expect(2 "^$" "^[^\n]*unknown option --version for [^\n]*\n$" --version)
expect(2 "^$" "^[^\n]*--dropout: 'nan' is not a number\n$" --dropout nan)
expect(2 "^$" "^[^\n]*task 'nothing' is none of adder10, [^\n]*\n$" --task nothing)
expect(2 "^$" "^[^\n]*--optimizer 'nothing' is none of adamw, [^\n]*\n$" --optimizer nothing)
expect(2 "^$" "^[^\n]*--position 'left' is none of learned, [^\n]*\n$" --position left)
expect(2 "^$" "^[^\n]*--preset 'bert' is none of gpt2, [^\n]*\n$" --preset bert)
expect(2 "^$" "^[^\n]*--seed needs a value\n$" --seed)
expect(2 "^$" "^[^\n]*--task needs a value\n$" --task)
expect(2 "^$" "^[^\n]*--seed is given twice\n$" --seed 1 --seed 2)
expect(2 "^$" "^[^\n]*seed -1 must be 0 to [^\n]*\n$" --seed -1)
expect(2 "^$" "^[^\n]*sequences 0 must be at least 1 [^\n]*\n$" --sequences 0)
expect(2 "^$" "^[^\n]*batch_size 0 must be 1 to 1000000\n$" --batch_size 0)
expect(2 "^$" "^[^\n]*n_embd 32 is not divisible by n_head 3\n$" --n_head 3 --n_embd 32)
expect(2 "^$" "^[^\n]*n_kv_head 3 [^\n]*\n$" --n_kv_head 3)
expect(2 "^$" "^[^\n]*--rotary_base is for --position rotary\n$" --rotary_base 500)
expect(2 "^$" "^[^\n]*--activation is for --feed_forward true\n$" --task induction --activation relu)
expect(2 "^$" "^[^\n]*p = 1.5 is not a probability\n$" --dropout 1.5)
expect(2 "^$" "^[^\n]*symbols 1 must be 2 to 10000000\n$" --symbols 1)
expect(2 "^$" "^[^\n]*learning rate 1e\\+300 must be at most [^\n]*\n$" --learning_rate 1e300)
expect(2 "^$" "^[^\n]*symbols 9223372036854775807 must be 2 to 10000000\n$" --symbols 9223372036854775807)
expect(2 "^$" "^[^\n]*length 4611686018427387904 must be 1 to 10000000\n$" --length 4611686018427387904)

# An option that has no effect is a mistake, too.
expect(2 "^$" "^[^\n]*--keep is for runs that are kept: give --out_dir\n$" --keep 2)
expect(2 "^$" "^[^\n]*--save_interval is for runs that are kept: give --out_dir\n$" --save_interval 2)
expect(2 "^$" "^[^\n]*--beta2 is for optimizers that keep means of gradients\n$" --optimizer sgd --beta2 0.5)
expect(2 "^$" "^[^\n]*--min_lr is for schedules that end with it\n$" --schedule constant --min_lr 0.5)
expect(2 "^$" "^[^\n]*unknown option --text for --task copy .*\n$" --task copy --text x)
expect(2 "^$" "^[^\n]*eval_iters 0 must be 1 to [^\n]*\n$" --eval_iters 0)
expect(2 "^$" "^[^\n]*eval_interval -1 must be at least 0\n$" --eval_interval=-1)
expect(2 "^$" "^[^\n]*samples -1 must be at least 0 [^\n]*\n$" --samples=-1)
expect(2 "^$" "^[^\n]*log_interval -1 must be at least 0\n$" --log_interval=-1)
expect(2 "^$" "^[^\n]*gradient_accumulation_steps 0 must be at least 1\n$" --gradient_accumulation_steps 0)
expect(2 "^$" "^[^\n]*--diagnose: 'x' is not true or false\n$" --diagnose=x)
foreach(flag IN ITEMS "--diagnose;x" "--bias;maybe" "--bias;1" "--bias;TRUE" "copy;--bias;maybe")
  expect(2 "^$" "^[^\n]*--[a-z]+ is a flag, and '[a-zA-Z1]+' behind it is none of true, false and the tasks: give it a value as in --[a-z]+=false\n$" ${flag})
endforeach()
expect(0 "^reverse: .*\ntrained 0 steps" "^$" --bias reverse --max_iters 0 --sequences 1)
expect(0 "^copy: .*\ntrained 0 steps" "^$" --bias false --max_iters 0 --sequences 1)
expect(2 "^$" "^[^\n]*--samples has no effect on --diagnose, [^\n]*\n$" copy --diagnose --samples 3)
expect(2 "^$" "^[^\n]*--schedule has no effect on --diagnose, [^\n]*\n$" --diagnose copy --schedule linear)
expect(2 "^$" "^[^\n]*--log_interval is for one run: without --seeds\n$" --seeds 1-2 --log_interval 7)
expect(2 "^$" "^[^\n]*--seeds 1-2000000000000000000 must end at 1000000000000000000 at most\n$" --seeds 1-2000000000000000000)
expect(2 "^$" "^[^\n]*unknown option --lr [^\n]*; --n_head: 'x' is not a whole number; --rotary_base is for [^\n]*\n$" --lr 1 --n_head x
  --rotary_base 500)
expect(2 "^$" "^[^\n]*--diagnose is given twice\n$" --diagnose --diagnose)
expect(2 "^$" "^[^\n]*--config needs a path\n$" --config=)
expect(2 "^$" "^[^\n]*cannot read 'nowhere.txt': No such file or directory\n$" --config nowhere.txt)

# A file with options: as nanoGPT's, and what is wrong with it in one line that says where.
function(config text)
  file(WRITE ${WORK_DIR}/config.txt "${text}")
endfunction()
function(expect_config text err)
  config("${text}")
  expect(2 "^$" "^[^\n]*config.txt:${err}\n$" --config ${WORK_DIR}/config.txt)
endfunction()
config("# a comment\n\nmax_iters = 3   # three\r\nlearning_rate=1e-3\nn_layer = 1\nsymbols = 3\nlength = 4\n\tgrad_clip = 0.5\ndecay_lr = False\nmin_lr = None\nout_dir = None\nsequences = 7\ntask = 'copy'\nbias = True\ndiagnose = False\neval_interval = 0")
expect(0 "^copy: 4 of 3 .*trained 3 steps.*exact match on 7 held-out" "^$" --config ${WORK_DIR}/config.txt)
expect(0 "^copy: 4 of 3 .*trained 2 steps.*exact match on 9 held-out" "^$" --max_iters 2 --config ${WORK_DIR}/config.txt --sequences=9)
config("﻿max_iters = 2\r\nsymbols = 3\r\nlength = 4\r\n")  # as Windows' editors write it
expect(0 "^copy: 4 of 3 .*trained 2 steps" "^$" --sequences 3 --config ${WORK_DIR}/config.txt)
expect_config("# one\nmax_iter = 3\n" "2: unknown option max_iter for --task copy \\(did you mean --max_iters\\?\\)")
expect_config("n_layer = 1\nwindow_size = 3" "2: unknown option window_size for [^\n]*")
expect_config("max_iters = many" "1: max_iters: 'many' is not a whole number")
expect_config("\n\nmax_iters = 5 * x" "3: max_iters: '5 \\* x' is not a whole number")
config("max_iters = 1 * 2  # a product\nsymbols = 3\nlength = 4\nsequences = 3\n")
expect(0 "^copy: 4 of 3 .*trained 2 steps" "^$" --config ${WORK_DIR}/config.txt)
# All lines that cannot be taken at once.
expect_config("wandb_log = True\nn_layer = 1\ndataset = 'a'\nn_head = 'b'\n" "1: unknown option wandb_log [^\n]*config.txt:3: unknown option dataset [^\n]*config.txt:4: n_head: 'b' is not a whole number")
expect_config("import time\nn_layer = 1\nseed =\n" "1: a line must be key = value, [^\n]*config.txt:3: seed has no value")
config("task = 'text'\ntext = \"a#b.txt\"  # a # in quotes\n")
expect(2 "^$" "^[^\n]*cannot read 'a#b.txt': No such file or directory\n$" --config ${WORK_DIR}/config.txt)
expect_config("task = 'text' x" "1: after the closing quote only a comment may follow, not x")
expect_config("max_iters" "1: a line must be key = value, or a comment that begins with #")
expect_config("max_iters = # none" "1: max_iters has no value")
expect_config("= 3" "1: a line must be key = value, or a comment that begins with #")
expect_config("max_iters = \t# none" "1: max_iters has no value")
expect_config("max iters = 3" "1: a line must be key = value, or a comment that begins with #")
expect_config("task = 'copy" "1: a quote is not closed")
expect_config("max_iters = 3\nseed = 1\nmax_iters = 4" "3: max_iters is given twice")
expect_config("config = other.txt" "1: config is for the command line")
expect_config("resume = run" "1: resume is for the command line")
expect_config("\\x7fELF\\x02\\x01" "1: a line must be key = value, or a comment that begins with #")
expect(2 "^$" "^[^\n]*cannot read '[^\n]*': Is a directory\n$" --config ${WORK_DIR})

# Every task is learned by the same loop.
expect(0 "a loss of ln 64 = 4.1589 is that of guessing.*exact match on 50 fresh sequences: 50 \\(100.0 %\\)"
  "^$" --task repeat --sequences 50)
expect(0 "question [abc][abc][abc][abc]   answer .*exact match on 60 held-out sequences: [0-9]+.*attention: head [01] of layer 0 "
  "^$" --symbols 3 --length 4 --n_layer 1 --n_head 2 --n_embd 16 --max_iters 20 --sequences 60)
expect(0 "exact match on 9 held-out .*attention: head [0-3] of layer [01] .*From the first repetition on, [0-9]+ % " "^$" --task induction --length 6
  --max_iters 5 --sequences 9)
expect(0 "exact match on 9 held-out sequences: [0-9]+ [^\n]*\nfirst mistakes:\n(  question [01 ]+   answer (even|odd)   instead of (even|odd)\n)+$" "^$" --task parity
  --max_iters 5 --sequences 9)
set(few --symbols 3 --length 4 --n_embd 16 --max_iters 20 --sequences 60)
expect(0 "evaluation after 0 steps: held-out loss [0-9.]+, exact match [0-9]+ % \\(of questions to train on [0-9]+ %\\)\n  [abc]+   [abc|]+   (right|wrong)\n.*evaluation after 10 steps.*evaluation after 20 steps.*first mistakes:\n  question [abc]+   answer [abc|]+   instead of [abc]+\n"
  "^$" ${few} --eval_interval 10)
expect(0 "\nstep 1/20 [^\n]*\nstep 2/20 [^\n]*\nstep 3/20 [^\n]* norm [^\n]* left [^\n]* tokens/s\n" "^$" ${few} --log_interval 0 --eval_interval 0)
expect(0 "exact match on 60" "^$" ${few} --gradient_accumulation_steps 3)
expect(0 "\ntrained 0 steps" "^$" --symbols 3 --length 4 --n_embd 16 --sequences 60 --max_iters=0)
expect(0 "a GPT of [0-9]+ parameters.*exact match on 60" "^$" ${few} --preset llama --n_head 2)
expect(0 "exact match on 60" "^$" ${few} --position alibi)
expect(0 "exact match on 60" "^$" ${few} --position sinusoidal --optimizer sgd --schedule constant)
