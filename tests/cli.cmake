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
endfunction()

# What there is to choose, and a task's own defaults.
expect(0 "usage: .*--task +what to learn.*\\[copy\\].*--seed .*--task NAME --help" "^$" --help)
expect(0 "^copy +10 of 10 symbols.*\ninduction +rows of 48 .*\nrepeat .*\ntwo_places " "^$" --task list)
expect(0 "--symbols [^\n]*\\[10\\].*--length [^\n]*\\[10\\].*--n_layer +blocks \\[2\\].*--position [^\n]*rotary[^\n]*\\[learned\\].*--steps [^\n]*\\[600\\].*--learning_rate [^\n]*\\[0.001\\]"
  "^$" --task copy --help)
expect(0 "--model [^\n]*\\[attention_lm\\].*--symbols [^\n]*\\[64\\].*--length [^\n]*\\[12\\].*--n_embd +width \\[32\\].*--optimizer [^\n]*\\[adam\\].*--steps [^\n]*\\[360\\]"
  "^$" --task repeat --help)
expect(0 "--modulus [^\n]*\\[5\\].*--position [^\n]*\\[rotary\\].*--steps [^\n]*\\[1000\\]" "^$" --task two_places --modulus 5 --preset llama
  --help)

# An option that the task or the model does not have is a mistake, never ignored.
expect(2 "^$" "^[^\n]*unknown option --n_hed for --task copy and --model gpt \\(did you mean --n_head\\?\\)\n$" --n_hed 2)
expect(2 "^$" "^[^\n]*unknown option --zzzzzzzz for --task [^\n]* \\(--help lists them all\\)\n$" --zzzzzzzz)
expect(2 "^$" "^[^\n]*unknown option copy for [^\n]*\n$" copy)
expect(2 "^$" "^[^\n]*unknown option --symbols for --task two_places and --model gpt [^\n]*\n$" --task two_places --symbols 5)
expect(2 "^$" "^[^\n]*unknown option --modulus for --task copy [^\n]*\n$" --modulus 5)
foreach(option IN ITEMS --position --preset --n_layer)
  expect(2 "^$" "^[^\n]*unknown option ${option} for --task repeat and --model attention_lm [^\n]*\n$" --task repeat ${option} 1)
endforeach()
expect(2 "^$" "^[^\n]*unknown option --n_layer for --task copy and --model attention_lm [^\n]*\n$" --model attention_lm --n_layer 2)

# Values that cannot be read, or cannot be, or cannot be together.
expect(2 "^$" "^[^\n]*--n_head: 'three' is not a whole number\n$" --n_head three)
expect(2 "^$" "^[^\n]*--symbols: 'three' is not a whole number\n$" --symbols three)
expect(2 "^$" "^[^\n]*--steps: '1.5' is not a whole number\n$" --steps=1.5)
expect(2 "^$" "^[^\n]*--steps: '99999999999999999999' is not a whole number\n$" --steps 99999999999999999999)
expect(2 "^$" "^[^\n]*steps -1 must be at least 0\n$" --steps=-1)
expect(2 "^$" "^[^\n]*--dropout: 'nan' is not a number\n$" --dropout nan)
expect(2 "^$" "^[^\n]*task 'nothing' is none of copy, [^\n]*\n$" --task nothing)
expect(2 "^$" "^[^\n]*model 'nothing' is none of gpt, [^\n]*\n$" --model nothing)
expect(2 "^$" "^[^\n]*--optimizer 'nothing' is none of adamw, [^\n]*\n$" --optimizer nothing)
expect(2 "^$" "^[^\n]*--position 'left' is none of learned, [^\n]*\n$" --position left)
expect(2 "^$" "^[^\n]*--preset 'bert' is none of gpt2, [^\n]*\n$" --preset bert)
expect(2 "^$" "^[^\n]*--seed needs a value\n$" --seed)
expect(2 "^$" "^[^\n]*--task needs a value\n$" --task)
expect(2 "^$" "^[^\n]*--seed is given twice\n$" --seed 1 --seed 2)
expect(2 "^$" "^[^\n]*seed -1 must be 0 to [^\n]*\n$" --seed -1)
expect(2 "^$" "^[^\n]*sequences 0 must be at least 1\n$" --sequences 0)
expect(2 "^$" "^[^\n]*batch_size 0 must be at least 1\n$" --batch_size 0)
expect(2 "^$" "^[^\n]*n_embd 32 is not divisible by n_head 3\n$" --n_head 3 --n_embd 32)
expect(2 "^$" "^[^\n]*n_kv_head = 3 [^\n]*\n$" --n_kv_head 3)
expect(2 "^$" "^[^\n]*--rotary_base is for --position rotary\n$" --rotary_base 500)
expect(2 "^$" "^[^\n]*--n_inner is for --feed_forward true\n$" --task induction --n_inner 64)
expect(2 "^$" "^[^\n]*width 32 is not divisible by 3 heads\n$" --task repeat --n_head 3)
expect(2 "^$" "^[^\n]*p = 1.5 is not a probability\n$" --dropout 1.5)
expect(2 "^$" "^[^\n]*symbols 1 must be at least 2\n$" --symbols 1)
expect(2 "^$" "^[^\n]*learning rate 1e\\+300 is beyond the range [^\n]*\n$" --learning_rate 1e300)
expect(2 "^$" "^[^\n]*symbols 9223372036854775807 must be at most 1000000000\n$" --symbols 9223372036854775807)
expect(2 "^$" "^[^\n]*length 4611686018427387904 must be at most 1000000\n$" --length 4611686018427387904)

# Every task is learned by the same loop.
expect(0 "first loss [34]\\.[0-9]+; guessing among 64 ids costs ln 64 = 4.1589.*exact match on 50 fresh sequences: 50 \\(100.0 %\\)"
  "^$" --task repeat --sequences 50)
expect(0 "first loss 1.*question [abc][abc][abc][abc]   answer .*exact match on 60 held-out sequences: [0-9]+.*layer 0 \\(0 is the first\\), head [12] of 2"
  "^$" --symbols 3 --length 4 --n_layer 1 --n_head 2 --n_embd 16 --steps 20 --sequences 60)
expect(0 "exact match on 9 held-out .*layer [01] .*From the first repetition on, [0-9]+ % " "^$" --task induction --length 6
  --steps 5 --sequences 9)
expect(0 "exact match on 9 held-out sequences: [0-9]+ [^\n]*\n$" "^$" --task two_places --steps 5 --sequences 9)
set(few --symbols 3 --length 4 --n_embd 16 --steps 20 --sequences 60)
expect(0 "transformer.h.0.mlp.c_gate.*exact match on 60" "^$" ${few} --preset llama --n_head 2)
expect(0 "transformer.wte +Embedding[^\n]*\ntransformer.h.0.ln_1 .*exact match on 60" "^$" ${few} --position alibi)
expect(0 "exact match on 60" "^$" ${few} --position sinusoidal --optimizer sgd --schedule constant)
expect(0 "total +AttentionLM .*exact match on 60.*layer 0 \\(0 is the first\\), head [1-4] of 4" "^$" ${few} --model attention_lm)
