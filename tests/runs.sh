# What resume.sh, kill_loop.sh and faults.sh share: runs that are started, stopped and compared. $1 is the program `train`,
# $2 the program `readable`. Work happens in a folder of its own under TMPDIR.
set -euo pipefail
set -m # else jobs would be started with SIGINT ignored
train=$(realpath "$1") readable=$(realpath "$2")
work=$(mktemp -d)
trap 'jobs=$(jobs -p); [ -z "$jobs" ] || kill -KILL $jobs 2>/dev/null; rm -rf "$work"' EXIT
trap 'echo "FAILED: line $LINENO of $0 ended with $?" >&2' ERR
cd "$work"

seed=${SEED:-$(date +%N)} # of what is random here: a failure can be had again, as far as timing allows
RANDOM=$((10#$seed % 32768))
echo "SEED=$seed"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Steps of a few milliseconds, with dropout, warm-up and clipping.
common=(--n_head 2 --n_embd 32 --dropout 0.1 --batch_size 32 --warmup_iters 10 --grad_clip 0.5 --sequences 1 --eval_interval 5
  --eval_iters 1)
mkfifo nothing # comes from it: a way to sleep without another program
pause() { read -rt "$(($1 / 1000000)).$(printf %06d $(($1 % 1000000)))" <>nothing || true; } # microseconds

newest() { # of a folder: the last checkpoint
  local all=("$1"/step-*.safetensors)
  [ -e "${all[-1]}" ] && echo "${all[-1]}"
}
steps_taken() { # that a folder's log has
  local lines=()
  [ ! -e "$1/log.jsonl" ] || mapfile -t lines <"$1/log.jsonl"
  taken=${#lines[@]}
}
whole() { # every checkpoint in a folder can be read
  local all=("$1"/*.safetensors)
  [ ! -e "${all[0]}" ] || "$readable" "${all[@]}" || fail "a file in $1 is not whole"
}
equal_training() { # two runs ended as one, whatever was kept on the way
  local a b
  a=$(newest "$1") b=$(newest "$2")
  [ "${a##*/}" = "${b##*/}" ] || fail "$1 ends with $a, $2 with $b"
  for file in "${a##*/}" log.jsonl evaluations.jsonl best.safetensors about.json loss.svg; do
    cmp "$1/$file" "$2/$file" || fail "$1 and $2 differ"
  done
}
equal() { # and in all files, but for the one that has times
  diff -rq --exclude=rates.jsonl "$1" "$2" || fail "$1 and $2 differ"
}
ended() { # waits for a program, also for one that SIGSTOP holds; its exit code is in $status. `wait -f` may never come back.
  while kill -0 "$1" 2>/dev/null; do pause 1000; done
  status=0
  wait "$1" 2>/dev/null || status=$?
}
after() { # waits until the log in folder $2 has $1 steps, or the program $run has ended
  until steps_taken "$2" && ((taken >= $1)) || ! kill -0 "$run" 2>/dev/null; do pause 1000; done
}
# stop SIGNAL STEP FOLDER COMMAND...: starts it, sends the signal once the log in FOLDER has so many steps and more than
# now, and waits; its exit code is in $status, what it printed in the file `said`.
stop() {
  local signal=$1 step=$2 folder=$3
  shift 3
  steps_taken "$folder"
  ((step > taken)) || step=$((taken + 1))
  "$@" >said 2>&1 &
  run=$!
  after "$step" "$folder"
  kill -"$signal" $run 2>/dev/null || true
  ended $run
}
