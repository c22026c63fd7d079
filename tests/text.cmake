# A text run as a user would make it: a few steps on a file, tokens of every kind, then generate without the file.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
set(ENV{MOTE_THREADS} 1)

# Runs a program in WORK_DIR, and fails unless it ends with this code and prints something that matches `says`.
function(run code says)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK_DIR} RESULT_VARIABLE result OUTPUT_VARIABLE out
    ERROR_VARIABLE err)
  if(NOT result EQUAL code OR NOT "${out}${err}" MATCHES "${says}")
    list(JOIN ARGN " " command)
    message(SEND_ERROR "${command}\nends with ${result} instead of ${code}, or does not say '${says}':\n${out}${err}")
  endif()
endfunction()

# Windows line ends, emoji, a byte order mark.
set(text "﻿")
foreach(i RANGE 100)
  string(APPEND text "Don't panic, “said” the 🐳 number ${i}.\r\n")
endforeach()
file(WRITE ${WORK_DIR}/my.txt "${text}")
set(tiny --n_layer 1 --n_embd 16 --n_head 2 --block_size 16)
set(small ${tiny} --max_iters 3)
foreach(kind IN ITEMS char byte bpe)
  run(0 "bits per byte" ${TRAIN} --text my.txt --tokenizer ${kind} --out_dir ${kind} ${small})
endforeach()
file(WRITE ${WORK_DIR}/names.txt "anna\nbert\ncarl\ndora\nemil\nfritz\ngerd\nhans\nida\njule\nkurt\nlara\nmia\nnils\nolga\n")
run(0 "documents" ${TRAIN} --text names.txt --lines --out_dir names ${small})

# A run that was stopped goes on with its text, and refuses another one.
run(0 "going on" ${TRAIN} --resume char --max_iters 4)
file(MAKE_DIRECTORY ${WORK_DIR}/elsewhere)
file(RENAME ${WORK_DIR}/my.txt ${WORK_DIR}/elsewhere/it.txt)
run(2 "cannot read 'my.txt'" ${TRAIN} --resume char --max_iters 5)
run(0 "going on" ${TRAIN} --resume char --max_iters 5 --text elsewhere/it.txt)
file(RENAME ${WORK_DIR}/elsewhere/it.txt ${WORK_DIR}/my.txt)
file(APPEND ${WORK_DIR}/my.txt "!")
run(2 "my.txt is not the text that the run began with" ${TRAIN} --resume char --max_iters 6 --text my.txt)
run(2 "^[^\n]*--task copy contradicts the run in char, which has text\n$" ${TRAIN} --resume char --task copy)
run(2 "^[^\n]*--model attention_lm contradicts the run in char, which has gpt\n$" ${TRAIN} --resume char --model attention_lm)
run(2 "^[^\n]*--text needs a path\n$" ${TRAIN} --text=)

# Only what was kept is needed to generate and to look at it.
file(REMOVE ${WORK_DIR}/my.txt ${WORK_DIR}/names.txt)
run(0 "^text: .*it.txt.*newest checkpoint: char/step-0*5.safetensors.*total +GPT" ${INSPECT} char)
foreach(kind IN ITEMS char byte bpe)
  run(0 "^Don't" ${GENERATE} --run ${kind} --prompt Don't --count 30)
  run(0 "" ${GENERATE} --run ${kind} --count 5 --samples 2)
endforeach()
run(0 "^an" ${GENERATE} --run names --prompt an)
file(WRITE ${WORK_DIR}/prompt "said”")
run(0 "^said”" ${GENERATE} --run bpe --prompt FILE:prompt --count 3)
run(2 "'z' .U.007A. at byte 0 is not among" ${GENERATE} --run char --prompt z)
run(2 "has the special token" ${GENERATE} --run names --prompt "<|endoftext|>")
run(0 "" ${GENERATE} --run names --prompt "<|endoftext|>" --special allow)
run(0 "^a[^\n]*\n" ${GENERATE} --run names --prompt a --count 40)
run(0 "^a[^\n]*\n[^\n]*\n" ${GENERATE} --run names --prompt a --count 200 --stop_token=-1)  # goes on behind a document
run(2 "nowhere" ${GENERATE} --run char --prompt FILE:nowhere)

# One sentence each.
run(2 "my.txt" ${TRAIN} --text my.txt)
# A file may be called as a number is written.
foreach(name IN ITEMS 1e3 3.10 true)
  file(WRITE ${WORK_DIR}/${name} "${text}")
  run(0 "bits per byte" ${TRAIN} --text ${name} --out_dir run-${name} ${tiny} --max_iters 1)
  run(0 "going on" ${TRAIN} --resume run-${name} --max_iters 2)
endforeach()
# In a file of options the names of before hold, too, and the command line wins.
file(WRITE ${WORK_DIR}/options "file = 'nowhere'\ndecay_lr = False\n")
run(0 "1 step" ${TRAIN} --text 1e3 --config options --schedule wsd ${tiny} --max_iters 1)
file(WRITE ${WORK_DIR}/empty "")
run(2 "empty is empty" ${TRAIN} --text empty)
file(WRITE ${WORK_DIR}/short "a few bytes")
run(2 "a smaller block_size may do" ${TRAIN} --text short)
run(2 "Is a directory" ${TRAIN} --text .)
string(ASCII 255 254 no_text)
file(WRITE ${WORK_DIR}/binary "${no_text}${no_text}${no_text}")
run(2 "bpe and byte take any bytes" ${TRAIN} --text binary)
