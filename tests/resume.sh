#!/usr/bin/env bash
# A run that was stopped and resumed ends in the bits of one that never was: every task, every signal, other
# instruction sets and thread counts, stopped at random steps. resume.sh TRAIN READABLE
. "$(dirname "${BASH_SOURCE[0]}")/runs.sh"

simd=(portable)
for each in avx2 avx512 neon; do
  ! MOTE_SIMD=$each "$train" --task list >/dev/null 2>&1 || simd+=("$each")
done
random_setting() { echo "MOTE_SIMD=${simd[RANDOM % ${#simd[@]}]} MOTE_THREADS=$((RANDOM % 4 + 1))"; }
codes=([2]=130 [15]=143 [9]=137)

# Stops the run in folder `b` by a signal, as soon as it has taken so many steps; a program that ends before was too fast.
stop_and_look() { # signal, step, command...
  local signal=$1 step=$2
  shift 2
  # shellcheck disable=SC2046
  stop "$signal" "$step" b env $(random_setting) "$@"
  ((status == 0)) && return
  ((status == codes[signal])) || fail "exit code $status after signal $signal: $(cat said)"
  ((signal == 9)) || grep -q "^stopped after step [0-9]*; go on with --resume b$" said ||
    fail "signal $signal was not answered: $(cat said)"
  ((signal == 9)) || grep -q "^stopping after this step; a second signal ends the program at once$" said ||
    fail "signal $signal was not acknowledged: $(cat said)"
  ((signal == 9)) || steps_taken b
  ((signal == 9)) || [ "$(newest b)" = "$(printf 'b/step-%08d.safetensors' "$taken")" ] || fail "not saved at the end"
  whole b
  stops=$((stops + 1))
}
stops=0

echo "every task, stopped three times"
for task in $("$train" --task list | awk 'NF == 0 { exit } NR > 1 { print $1 }'); do
  options=(--task "$task" "${common[@]}" --max_iters 18 --save_interval 4 --n_layer 1)
  case $task in
    copy) options+=(--optimizer sgd) ;;
    induction) options+=(--optimizer adam --schedule constant --preset llama) ;;
    parity) options+=(--position alibi --grad_clip 0 --gradient_accumulation_steps 2) ;;
    repeat) options+=(--save_interval 0) ;;
    text) options+=(--optimizer muon --tokenizer bpe --vocab_size 300 --ema_decay 0.9) ;;
  esac
  # An option must not be given twice: those of the case replace the common ones.
  declare -A last=()
  names=()
  for ((i = 0; i < ${#options[@]}; i += 2)); do
    [[ $task${options[i]} != text*--sequences ]] || continue # it has no right answers
    [ -n "${last[${options[i]}]:-}" ] || names+=("${options[i]}")
    last[${options[i]}]=${options[i + 1]}
  done
  options=()
  for name in "${names[@]}"; do options+=("$name" "${last[$name]}"); done
  rm -rf a b
  "$train" "${options[@]}" --out_dir a >/dev/null
  stop_and_look 2 $((RANDOM % 4 + 1)) "$train" "${options[@]}" --out_dir b
  stop_and_look 9 $((RANDOM % 4 + 6)) "$train" --resume b
  stop_and_look 15 $((RANDOM % 5 + 11)) "$train" --resume b
  "$train" --resume b >said || fail "resume: $(cat said)"
  equal a b
done

echo "20 random steps"
options=("${common[@]}" --max_iters 25 --save_interval 5 --length 4 --n_layer 1)
rm -rf a
"$train" "${options[@]}" --out_dir a >/dev/null
for ((i = 0; i < 20; ++i)); do
  rm -rf b
  signals=(2 15 9)
  stop_and_look "${signals[i % 3]}" $((RANDOM % 23 + 1)) "$train" "${options[@]}" --out_dir b
  # shellcheck disable=SC2046
  env $(random_setting) "$train" --resume b >said || fail "resume: $(cat said)"
  equal a b
done
((stops >= 25)) || fail "only $stops runs were stopped: this machine is too fast for these steps"
echo "$stops runs were stopped"

echo "intervals may change, steps may grow, what is done stays done"
cp -r b c
"$train" --resume c --save_interval 3 --keep 1 >said
equal_training b c
"$train" --resume c --save_interval 3 --keep 1 --max_iters 26 >said
grep -q '"max_iters": 26' c/config.json && grep -q '"save_interval": 3' c/config.json || fail "config.json"
[ "$(newest c)" = c/step-00000026.safetensors ] && [ "$(echo c/step-*)" = "$(newest c)" ] || fail "keep 1: $(ls c)"
for bad in "--max_iters 25" "--learning_rate 1" "--task repeat" "--seed 2" "--length 5"; do
  cp -r c d
  # shellcheck disable=SC2086
  "$train" --resume d $bad >said 2>&1 && fail "--resume with $bad"
  diff -r c d || fail "$bad changed the folder"
  rm -r d
done

echo "a second signal ends the run at once"
rm -rf b
mkdir b
"$train" "${options[@]}" --out_dir b >said 2>&1 &
run=$!
until steps_taken b && ((taken >= 6)); do pause 1000; done
kill -STOP $run
before=$(newest b)
kill -INT $run # both arrive when it goes on: the first raises the flag, whichever it is, the second meets no handler
kill -TERM $run
kill -CONT $run
ended $run
((status == 143 || status == 130)) && ! grep -q "go on" said || fail "exit code $status: $(cat said)"
[ "$(newest b)" = "$before" ] || fail "it went on"
whole b
"$train" --resume b >/dev/null
equal a b

echo "a signal that is ignored stays ignored"
rm -rf b
(
  trap '' INT
  stop INT 3 b "$train" "${options[@]}" --out_dir b
  ((status == 0)) || fail "exit code $status"
)
equal a b

echo "a run that nobody listens to any more is saved: a full disk, a reader that has seen enough, a terminal that was closed"
"$train" "${options[@]}" --out_dir heard --log_interval 1 >/dev/null
unheard() { # exit code, what is said on stderr
  ((status == $1)) && grep -q "$2" said || fail "exit code $status: $(cat said)"
  "$train" --resume b >/dev/null
  equal heard b
}
rm -rf b
status=0
"$train" "${options[@]}" --out_dir b --log_interval 1 >/dev/full 2>said || status=$?
[ "$(basename "$(newest b)")" != "$(basename "$(newest heard)")" ] || fail "it trained on"
unheard 1 "cannot write to standard output: No space left on device"
rm -rf b
"$train" "${options[@]}" --out_dir b --log_interval 1 2>said | sed -n '/^step 3/q' || status=${PIPESTATUS[0]}
[ -n "$(newest b)" ] || fail "no checkpoint: $(ls b)"
[ ! -s said ] || fail "$(cat said)"
echo >said
unheard 141 ""
if ((0x$(awk '/^SigIgn/ { print $2 }' /proc/self/status) & 1)); then
  echo "skipped: a terminal that was closed (SIGHUP is ignored here, as under nohup)"
else
  rm -rf b
  stop HUP 3 b "$train" "${options[@]}" --out_dir b --log_interval 1
  unheard 129 "go on with --resume b"
fi

echo "many seeds, stopped and killed: the same command goes on"
seeds=(--seeds 1-3 --jobs 2 "${options[@]}")
"$train" "${seeds[@]}" --out_dir all >/dev/null
for signal in 15 9 2; do
  stop "$signal" $((signal + 3)) some/seed-$((signal % 3 + 1)) "$train" "${seeds[@]}" --out_dir some
  ((signal == 9 || status == 0)) || grep -q "^stopped; the same command goes on from some$" said || fail "$(cat said)"
done
"$train" "${seeds[@]}" --out_dir some >said
for seed in 1 2 3; do equal all/seed-$seed some/seed-$seed; done

echo "no steps: the weights as they began"
rm -rf b
"$train" "${common[@]}" --max_iters 0 --out_dir b >/dev/null
[ "$(newest b)" = b/step-00000000.safetensors ] || fail "$(ls b)"
echo "done in $SECONDS s"
