#!/usr/bin/env bash
# Runs whose folder fails them: a full disk, limits, permissions, links, removed files, calls that are interrupted, a
# second run. Each ends with a clear sentence, leaves whole files behind, and goes on to the bits of a run without trouble.
# faults.sh TRAIN READABLE STORM
. "$(dirname "${BASH_SOURCE[0]}")/runs.sh"
storm=${3:-}
options=("${common[@]}" --max_iters 30 --save_interval 1 --length 4 --n_layer 1)
"$train" "${options[@]}" --out_dir a >/dev/null

# refused "WORDS" COMMAND...: it ends with exit code 1 and one line on stderr that has these words.
refused() {
  local words=$1 code=0
  shift
  "$@" >/dev/null 2>said || code=$?
  ((code == 1)) && [ "$(wc -l <said)" = 1 ] && grep -q -- "$words" said || fail "exit code $code, not '$words': $(cat said)"
}
start() { # in folder $1: a run of its own, stopped on the way
  rm -rf "$1"
  stop TERM 5 "$1" "$train" "${options[@]}" --out_dir "$1"
  ((status == 143)) || fail "exit code $status: $(cat said)"
}
finish() { # the run in folder $1, as if nothing had been
  "$train" --resume "$1" >said 2>&1 || fail "$(cat said)"
  ! compgen -G "$1/.mote.*" >/dev/null || fail "something stayed: $(ls -A "$1")"
  equal a "$1"
}
unharmed() { # what has just been refused left folder $1 as its copy `before`
  diff -rx .mote.lock "$1" before >/dev/null || fail "$1 has changed: $(diff -rq "$1" before)"
  whole "$1"
}
copy() { rm -rf before && cp -a "$1" before; }

echo "two runs in one folder"
rm -rf b
ln -s b link
"$train" "${options[@]}" --out_dir b >said 2>&1 &
run=$!
until [ -e b/step-00000003.safetensors ]; do pause 1000; done
kill -STOP $run
copy b
refused "the folder 'b' is in use by process $run$" "$train" --resume b
refused "the folder 'link' is in use by process $run$" "$train" --resume link
refused "the folder 'b' is in use by process $run$" "$train" "${options[@]}" --out_dir b
unharmed b
kill -CONT $run
ended $run
equal a b
refused "there is a run in b: go on with it by --resume b" "$train" "${options[@]}" --out_dir b
equal a b
rm link

echo "a link as the folder, and checkpoints that are links"
mkdir b.real elsewhere
rm -rf b
ln -s b.real b
stop KILL 8 b "$train" "${options[@]}" --out_dir b
((status == 137)) || fail "exit code $status"
last=$(newest b)
mv "$last" b/best.safetensors elsewhere/
ln -s "../elsewhere/${last##*/}" "$last"
ln -s ../elsewhere/best.safetensors b/best.safetensors
copy elsewhere
finish b.real
[ -L b/best.safetensors ] || fail "the link was replaced"
cmp elsewhere/best.safetensors a/best.safetensors
cmp "elsewhere/${last##*/}" "before/${last##*/}"
[ ! -L "$last" ] || fail "the link stayed"
rm -r b b.real elsewhere

echo "the folder, its log or a checkpoint disappears"
rm -rf b
"$train" "${options[@]}" --out_dir b >/dev/null 2>said &
run=$!
until [ -e b/step-00000003.safetensors ]; do pause 1000; done
kill -STOP $run
mv b gone
kill -CONT $run
ended $run
# Stopped between a file's new name and the folder's sync, it says that the file is written but perhaps not for good.
((status == 1)) && grep -q "'b[/a-z0-9.-]*'.*: No such file or directory$" said || fail "$status $(cat said)"
whole gone
finish gone
start b
copy b
rm b/log.jsonl
"$train" --resume b >said 2>&1 && grep -q "warning: log.jsonl has 0 bytes of whole lines instead of" said || fail "$(cat said)"
[ "$(tail -n 1 b/log.jsonl)" = "$(tail -n 1 a/log.jsonl)" ] || fail "it goes on with other steps"
start b
copy b
printf '{"st' | tee -a b/log.jsonl b/evaluations.jsonl >>b/rates.jsonl # torn lines
finish b
! grep -F '{"st{' b/*.jsonl || fail "half a line was left"
sed 1d b/log.jsonl >shorter # where a checkpoint says that a log ends there is the middle of a line
mv shorter b/log.jsonl
"$train" --resume b >said 2>&1 && ! grep "there is no report" said || fail "$(cat said)"
start b
sed -i '1s/^/   /' b/log.jsonl
"$train" --resume b >said 2>&1 && ! grep "there is no report" said || fail "$(cat said)"
! grep '"step".*"step"' b/*.jsonl || fail "half a line was left"
start b
copy b
rm b/step-* # the best one is left: it is the newest then
finish b
start b
for file in config.json log.jsonl evaluations.jsonl rates.jsonl best.safetensors report.html loss.svg; do # --out_dir takes no folder that somebody uses
  rm -rf other && mkdir other && cp "b/$file" other/
  refused "choose another folder" "$train" "${options[@]}" --out_dir other
  cmp "b/$file" "other/$file"
done
rm -rf b
"$train" "${options[@]}" --out_dir b >/dev/null 2>said &
run=$!
until [ -e b/step-00000003.safetensors ]; do pause 1000; done
rm b/log.jsonl
ended $run
((status == 1)) && grep -q "cannot write 'b/log.jsonl': No such file or directory" said || fail "$status $(cat said)"
whole b

echo "a limit on the size of files"
start b
copy b
refused "cannot write 'b/best.safetensors': File too large\|cannot write 'b/step-[0-9]*.safetensors': File too large" \
  bash -c 'ulimit -f 20; exec "$@"' limit "$train" --resume b
cp before/log.jsonl b/ # its lines were written: they are cut off when the run goes on
cp before/rates.jsonl before/evaluations.jsonl b/
unharmed b
finish b

echo "a folder that may not be written"
start b
copy b
user=()
((EUID != 0)) || { user=(setpriv --reuid=65534 --regid=65534 --clear-groups) && chmod -R a+rX .; }
chmod a-w b
if [ ${#user[@]} = 0 ] || command -v setpriv >/dev/null; then
  cp "$train" their_train # this one they can reach
  refused "cannot lock the folder 'b': Permission denied" "${user[@]}" ./their_train --resume b
  refused "cannot make the folder 'b/c': Permission denied" "${user[@]}" ./their_train "${options[@]}" --out_dir b/c
fi
chmod u+w b
chmod u+w before
unharmed b
finish b

# In a file system of its own. Without the right to mount one this is left out.
on_disk() { unshare -rm bash -euo pipefail -c "mount -t tmpfs -o size=1m none disk; $1"; }
mkdir disk
if command -v unshare >/dev/null && on_disk true 2>/dev/null; then
  echo "a disk that is full, and one that can only be read"
  start b
  export train readable
  on_disk '
    refused() {
      local code=0
      "$train" --resume disk/b >/dev/null 2>said || code=$?
      ((code == 1)) && [ "$(wc -l <said)" = 1 ] && grep -q "cannot $1$" said || exit 1
      "$readable" disk/b/*.safetensors
      ! compgen -G "disk/b/.mote.*.part" || exit 1
    }
    cp -a b disk/b
    head -c "$(($(df --output=avail -k disk | tail -1) - 60))K" /dev/zero >disk/ballast
    refused "write .disk/b/[a-z0-9.-]*.: No space left on device"
    ! head -c 2M /dev/zero >>disk/ballast 2>/dev/null # to the last byte
    refused "write .disk/b/[a-z0-9.-]*.: No space left on device"
    mount -o remount,ro disk
    refused "lock the folder .disk/b.: Read-only file system"
    mount -o remount,rw disk
    rm disk/ballast b/*
    "$train" --resume disk/b >/dev/null
    cp disk/b/* b
  ' || fail "on a full or read-only disk: $(cat said)"
  whole b
  equal a b
else
  echo "skipped: a disk that is full, and one that can only be read (mounting is not permitted)"
fi

if [ -n "$storm" ]; then
  echo "a signal every 100 microseconds that interrupts calls"
  for threads in 1 3; do
    rm -rf b
    LD_PRELOAD=$storm MOTE_THREADS=$threads "$train" "${options[@]}" --out_dir b >said 2>&1 || fail "$(cat said)"
    equal a b
    start b
    LD_PRELOAD=$storm finish b
  done
fi

if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
  echo "the order of calls"
  start b
  MOTE_THREADS=1 strace -f -y -o trace -e trace=write,fsync,rename,unlink,ftruncate "$train" --resume b >said 2>&1 || fail "$(cat said)"
  equal a b
  awk '
    function die(what) { print "line " NR ": " what ": " $0; bad = 1; exit 1 }
    { line = $0; sub(/^[0-9]+ +/, "", line); call = line; sub(/\(.*/, "", call); path = line; sub(/^[^<"]*[<"]/, "", path); sub(/[>"].*/, "", path) }
    line ~ /^(\+\+\+|---) / { next }
    line !~ / = [0-9]/ { die("failed") }
    call == "write" && path ~ /\.part$/ { dirty[path] = 1 }
    call == "write" && path ~ /(log|evaluations)\.jsonl$/ { log_dirty[path] = 1 }
    call == "fsync" && path ~ /(log|evaluations)\.jsonl$/ { log_dirty[path] = 0 }
    call == "fsync" && path ~ /\.part$/ { dirty[path] = 0 }
    call == "fsync" && path ~ /\/b$/ { renamed = "" }
    call == "rename" {
      n = split(line, part, "\"")
      for (p in dirty) if (dirty[p]) die("renamed before it was on the disk")
      for (l in log_dirty) if (part[4] ~ /safetensors$/ && log_dirty[l]) die("a checkpoint before its log")
      if (renamed != "") die("renamed before the folder was on the disk")
      renamed = part[4]
      if (part[4] ~ /step-/) checkpoints++
    }
    call == "unlink" && renamed != "" && path ~ /safetensors$/ { die("an old checkpoint removed before the new one has its name") }
    END { if (!bad && (checkpoints < 5 || renamed != "")) { print checkpoints " checkpoints"; exit 1 } }
  ' trace || fail "the order of calls"

  echo "calls that are interrupted: EINTR from every third"
  for call in fsync pread64 openat write; do
    # Not the writes of the program itself, whose output nothing but a terminal could interrupt.
    only=()
    [ $call != write ] || only=(-P b/log.jsonl -P b/evaluations.jsonl -P b/rates.jsonl)
    start b
    MOTE_THREADS=1 strace -o trace "${only[@]}" -e inject=$call:error=EINTR:when=20+3 "$train" --resume b >said 2>&1 ||
      fail "$call: $(cat said)"
    grep -q INJECTED trace || fail "no $call was interrupted"
    equal a b
  done
else
  echo "skipped: the order of calls, and those that are interrupted (no strace)"
fi
echo "done in $SECONDS s"
