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
  set(printed "${out}" PARENT_SCOPE)
endfunction()

# Windows line ends, emoji, a byte order mark.
set(text "﻿")
foreach(i RANGE 100)
  string(APPEND text "Don't panic, “said” the 🐳 number ${i}.\r\n")
endforeach()
file(WRITE ${WORK_DIR}/my.txt "${text}")
set(small --n_layer 1 --n_embd 16 --n_head 2 --max_iters 3 --block_size 16)
foreach(kind IN ITEMS char byte bpe)
  run(0 "bits per byte" ${TRAIN} --text my.txt --tokenizer ${kind} --out_dir ${kind} ${small})
endforeach()
file(WRITE ${WORK_DIR}/names.txt "anna\nbert\ncarl\ndora\nemil\nfritz\ngerd\nhans\nida\njule\nkurt\nlara\nmia\nnils\nolga\n")
run(0 "documents" ${TRAIN} --text names.txt --lines --out_dir names ${small})

# A run that was stopped goes on with its text, and refuses another one.
run(0 "going on" ${TRAIN} --resume char --max_iters 4)
file(APPEND ${WORK_DIR}/my.txt "!")
run(2 "my.txt is not the text that the run began with" ${TRAIN} --resume char --max_iters 5)

# Only what was kept is needed to generate.
file(REMOVE ${WORK_DIR}/my.txt ${WORK_DIR}/names.txt)
foreach(kind IN ITEMS char byte bpe)
  run(0 "^Don't" ${GENERATE} --run ${kind} --prompt Don't --count 30)
  file(WRITE ${WORK_DIR}/printed "${printed}")
  run(0 "" ${GENERATE} --run ${kind} --count 5 --samples 2)
endforeach()
run(0 "^an" ${GENERATE} --run names --prompt an)
file(WRITE ${WORK_DIR}/prompt "said”")
run(0 "^said”" ${GENERATE} --run bpe --prompt FILE:prompt --count 3)
run(2 "'z' .U.007A. at byte 0 is not among" ${GENERATE} --run char --prompt z)
run(2 "has the special token" ${GENERATE} --run names --prompt "<|endoftext|>")
run(0 "" ${GENERATE} --run names --prompt "<|endoftext|>" --special allow)
run(2 "nowhere" ${GENERATE} --run char --prompt FILE:nowhere)

# One sentence each.
run(2 "my.txt" ${TRAIN} --text my.txt)
file(WRITE ${WORK_DIR}/empty "")
run(2 "empty is empty" ${TRAIN} --text empty)
file(WRITE ${WORK_DIR}/short "a few bytes")
run(2 "a smaller block_size may do" ${TRAIN} --text short)
run(2 "Is a directory" ${TRAIN} --text .)
string(ASCII 255 254 no_text)
file(WRITE ${WORK_DIR}/binary "${no_text}${no_text}${no_text}")
run(2 "bpe and byte take any bytes" ${TRAIN} --text binary)
