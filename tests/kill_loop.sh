#!/usr/bin/env bash
# SIGKILL at a random moment of a run that saves at every step, again and again: every file can be read after each, and
# every run ends in the bits of one that nobody killed. kill_loop.sh TRAIN READABLE [HOW OFTEN]
. "$(dirname "${BASH_SOURCE[0]}")/runs.sh"
kills=${3:-100}

options=("${common[@]}" --max_iters 40 --save_interval 1 --length 4 --n_layer 1)
"$train" "${options[@]}" --out_dir a >/dev/null

runs=0 killed=0 empty=0 writing=0
while true; do
  # Without config.json it was killed before there was anything to go on with.
  command=("$train" --resume b)
  [ -e b/config.json ] || command=("$train" "${options[@]}" --out_dir b)
  if ((killed == kills)); then
    "${command[@]}" >said 2>&1 || fail "after $killed kills: $(cat said)"
    equal a b
    break
  fi
  "${command[@]}" >said 2>&1 &
  run=$!
  # Some steps further, however long one takes at the moment, and then somewhere within one or in what comes before it.
  steps_taken b
  after $((taken + RANDOM % 14)) b
  pause $((RANDOM / 2))
  if kill -KILL $run 2>/dev/null; then killed=$((killed + 1)); fi
  ended $run
  ((status == 137 || status == 0)) || fail "exit code $status after $killed kills: $(cat said)"
  whole b
  newest b >/dev/null || empty=$((empty + 1))
  ! compgen -G 'b/.mote.*.part' >/dev/null || writing=$((writing + 1))
  if ((status == 0)); then
    equal a b
    runs=$((runs + 1))
    rm -r b
  fi
done
[ -z "$(find b -name '.mote*')" ] || fail "something stayed: $(ls -A b)"
echo "$killed kills, $empty of them before the first checkpoint, $writing within the writing of a file; $((runs + 1)) runs" \
  "were finished; $SECONDS s"
