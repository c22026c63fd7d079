#!/usr/bin/env bash
# Random command lines over tasks, texts and options. Each run begins shorter, is killed or stopped at random moments, and
# goes on with other threads and instruction sets. Its files are those of a run that nobody disturbed, byte for byte.
# random_runs.sh TRAIN READABLE [HOW MANY]
. "$(dirname "${BASH_SOURCE[0]}")/runs.sh"
wanted=${3:-20}

one() { # of several words
  local words=("$@")
  drawn=${words[RANDOM % $#]}
}
draw() { # an option with one of these values, in two cases of three
  local name=$1
  shift
  one "$@"
  ((RANDOM % 3 == 0)) || options+=("$name" "$drawn")
}
for ((i = 0; i < 400; ++i)); do printf '%s ' $((RANDOM * RANDOM)); ((i % 7)) || echo; done >text
"$train" --help | sed 's/-/\n/g' >lines

kills=0 stops=0
for ((n = 0; n < wanted; ++n)); do
  steps=$((2 + RANDOM % 12))
  options=(--n_layer 1 --sequences 3)
  one copy reverse sort addition addition_plain modular_addition induction dyck parity selective_copy \
    associative_recall text text text
  task=$drawn
  if [ "$task" = text ]; then
    options=(--n_layer 1)
    one text lines
    options+=(--text "$drawn" --block_size 12)
    draw --tokenizer char byte bpe
    draw --lines true false
    draw --val text lines
  else
    options+=(--task "$task")
  fi
  one 1 2
  options+=(--n_head "$drawn")
  one 8 16
  options+=(--n_embd "$drawn")
  one constant cosine
  options+=(--schedule "$drawn")
  [ "$drawn" = constant ] || options+=(--lr_decay_iters $((steps + RANDOM % 5)))
  draw --position learned sinusoidal rotary alibi none
  draw --norm layer_norm rms_norm
  draw --dropout 0 0.1 0.4
  draw --bias true false
  draw --tie_weights true false
  draw --batch_size 1 3 8
  draw --gradient_accumulation_steps 1 2 3
  draw --optimizer adamw muon sgd
  draw --learning_rate 0.001 0.01
  draw --warmup_iters 0 1 5
  draw --grad_clip 0 0.1 1
  draw --ema_decay 0 0.9
  draw --eval_interval 0 1 2 3 5
  draw --eval_iters 1 2
  draw --save_interval 0 1 2 5
  draw --keep 1 2 3
  draw --samples 0 1 2
  draw --health 0 1 3
  draw --seed 1 2 77 1234567

  "$train" "${options[@]}" --max_iters "$steps" --out_dir a >said 2>&1 || fail "${options[*]}: $(cat said)"
  status=1
  while ((status != 0)); do
    longest=$((1 + RANDOM % steps)) # made longer by later parts
    ((RANDOM % 2)) || longest=$steps
    [ ! -e b/config.json ] || steps_taken b
    [ ! -e b/config.json ] || ((longest > taken)) || longest=$steps
    command=("$train" --resume b --max_iters "$longest")
    [ -e b/config.json ] || command=("$train" "${options[@]}" --max_iters "$longest" --out_dir b)
    one 1 2 3
    threads=$drawn
    one "" portable
    MOTE_THREADS=$threads MOTE_SIMD=$drawn "${command[@]}" >said 2>&1 &
    run=$!
    pause $((RANDOM * 3))
    one KILL TERM INT none none
    if [ "$drawn" != none ] && kill -"$drawn" $run 2>/dev/null; then
      [ "$drawn" = KILL ] && kills=$((kills + 1)) || stops=$((stops + 1))
    fi
    ended $run
    case $status in 0 | 130 | 137 | 143) ;; *) fail "${command[*]}: exit code $status: $(cat said)" ;; esac
    whole b
    ((status != 0 || longest == steps)) || status=1
  done
  diff -rq --exclude=rates.jsonl a b || fail "other files: ${options[*]} --max_iters $steps"
  rm -r a b
done
echo "$wanted command lines, $kills kills and $stops signals; $SECONDS s"
