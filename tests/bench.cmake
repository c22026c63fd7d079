# Holds examples/bench against what a user of a command line expects. Times are nobody's business here: models and shapes
# are tiny, every row is measured for a millisecond.
function(expect status out err)
  execute_process(COMMAND ${BENCH} ${ARGN} RESULT_VARIABLE got OUTPUT_VARIABLE stdout ERROR_VARIABLE stderr)
  list(JOIN ARGN " " command)
  if(NOT got EQUAL status OR NOT stdout MATCHES "${out}" OR NOT stderr MATCHES "${err}")
    message(SEND_ERROR "bench ${command}: exit ${got} instead of ${status}, or other words than '${out}' and '${err}'\n"
      "stdout:\n${stdout}\nstderr:\n${stderr}")
  endif()
  set(stdout "${stdout}" PARENT_SCOPE)
endfunction()

set(words "limits, matmul, train, generate, or all")
expect(2 "^$" "^[^\n]*say what to measure: ${words}\n$")
expect(2 "^$" "^[^\n]*'speed' is nothing to measure: ${words}\n$" speed)
expect(0 "usage: .*WHAT.*\n  matmul .*.*\n  all " "^$" --help)
foreach(what IN ITEMS limits matmul train generate)
  expect(0 "usage: [^\n]*bench ${what} \\[options\\].*--seconds .*--threads " "^$" ${what} --help)
  expect(2 "^$" "^[^\n]*bench[^\n]*unknown option --secnds \\(did you mean --seconds\\?\\)\n$" ${what} --secnds 1)
  expect(2 "^$" "^[^\n]*--seconds 0 must be above 0 and at most 3600\n$" ${what} --seconds 0)
  expect(2 "^$" "^[^\n]*set_threads: -1 is not [^\n]*\n$" ${what} --threads=-1)
endforeach()
foreach(what IN ITEMS train generate)
  expect(0 "--model .*--batch .*--n_layer .*--position .*--window .*--activation " "^$" ${what} --help)
  expect(2 "^$" "^[^\n]*model 'S9' is none of all, micro, S0, S1, S2, S3, S4\n$" ${what} --model S9)
  expect(2 "^$" "^[^\n]*n_embd 65 is not divisible by n_head 4\n$" ${what} --n_embd 65 --seconds 0.001)
  expect(2 "^$" "^[^\n]*batch 0 must be at least 1\n$" ${what} --batch 0)
endforeach()
expect(2 "^$" "^[^\n]*--m, --k and --n belong together, each at least 1\n$" matmul --m 5)

# A tiny run of each: every cell is there, and above 0.
set(brief --seconds 0.001)
set(tiny ${brief} --n_layer 1 --n_embd 8 --n_head 2 --block_size 4 --vocab_size 5 --batch 2)
set(x " +[0-9.]*[1-9][0-9.]*")
set(share " +[0-9]+ %")
expect(0 "GFLOP/s.*\nNN +5 +7 +3${x}${x}${x}${share}\nNT +5 .*\nTN +5 .*geometric mean [0-9]+ %, the worst [0-9]+ %" "^$"
  matmul ${brief} --m 5 --k 7 --n 3 --threads 1)
expect(0 "\nmultiply-adds +1${x}\nreading L1 +1${x}${x}\n.*\nreading memory +" "^$" limits ${brief})
expect(0 "ms/step.*\nown${x} +2 +4${x}${x}${x}${x}${share} +[0-9.]+\n" "^$" train ${tiny} --threads 1)
expect(0 "\nS0 changed${x} +2 +4" "^$" train ${tiny} --model S0)
expect(0 "\nown +2 +3${x}${x}${x}${x}${share}\n" "^$" generate ${tiny})

# MOTE_PROFILE=1 for any program: the results as ever, the tables on stderr.
set(ENV{MOTE_PROFILE} 1)
expect(0 "\nown " "^MOTE_PROFILE: [0-9.]+ s of .*\nop .*\nlinear .*\noutside any op .*\nall .* 100.0 %\n\nlayer .*\nLinear .*\noutside any layer .*\nall .* 100.0 %\n$"
  train ${tiny})
