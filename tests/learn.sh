# Holds examples/learn against what a learner expects: what is unsolved stays so, what is solved is kept, nothing that one
# wrote is lost, and no trick passes. learn.sh LEARN WORK_DIR SOURCE_DIR
set -euo pipefail
learn=$1 work=$2 source=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() { echo "learn.sh: $*" >&2; exit 1; }
# expect STATUS REGEX COMMAND...: the command ends with STATUS, and what it prints matches.
expect() {
  local status=$1 regex=$2 got=0
  shift 2
  printed=$("$@" </dev/null 2>&1) || got=$?
  [ "$got" = "$status" ] || fail "$*: exit $got instead of $status: $printed"
  grep -Eq -- "$regex" <<<"$printed" || fail "$* does not print $regex: $printed"
}
# What solves an exercise, as its file.
solution() { awk '/^}  \/\/ namespace solution/ {exit} inside {print} /^namespace solution \{/ {inside = 1; print "#include \"examples/exercises/exercise.h\""}' "$source"/examples/exercises/answers/$1_*.cpp; }

expect 0 "[0-9]+ of [0-9]+ solved" "$learn" list
[ "$(grep -c '\[ \] ' <<<"$printed")" = "$(ls "$source"/examples/exercises/*.cpp | wc -l)" ] || fail "list: $printed"
[ "$(ls exercises/*.cpp | wc -l)" = "$(ls "$source"/examples/exercises/*.cpp | wc -l)" ] || fail "copies are missing"
file=$(ls exercises/01_*.cpp)
original=$(cat "$file")

echo "unsolved, and what does not solve it"
expect 1 "your_code_here\(\) still stands" "$learn"
expect 1 "your_code_here\(\) still stands" "$learn" check 1
expect 1 "shown once yours is right" "$learn" solution 01
expect 0 "." "$learn" hint 01_slope
[ "$(wc -l <<<"$printed")" = 2 ] || fail "hint: $printed"
try() { # STATUS REGEX, the file on standard input
  cat >"$file"
  expect "$1" "$2" "$learn" check 1
}
try 1 "does not compile" </dev/null
sed 's/your_code_here();/std::exit(0);/' <<<"$original" | try 1 "ended the program before the check had"
sed 's/your_code_here();/std::puts("passed-1"); std::_Exit(0);/' <<<"$original" | try 1 "ended the program before the check had"
sed 's/your_code_here();/return *static_cast<volatile double*>(nullptr);/' <<<"$original" | try 1 "crashed"
sed 's/your_code_here();/throw Error("mine");/' <<<"$original" | try 1 "ends with an error: mine"
sed 's/your_code_here();/;/' <<<"$original" | try 1 "error: no return statement"
sed 's/your_code_here();/return solution::slope(f, x);/' <<<"$original" | try 1 "error: .*solution"
sed 's/your_code_here();/double helper(double); return helper(x);/' <<<"$original" | try 1 "undefined reference to .helper"
sed 's/your_code_here();/return f(x) @ f(x);/' <<<"$original" | try 1 "is matmul\(a, b\)"
sed 's/your_code_here();/return zeros({2, 3}).shape[0];/' <<<"$original" | try 1 "x.shape\(\)\[0\]"
sed 's/your_code_here();/return sum(zeros({2, 3}), dim=0).item();/' <<<"$original" | try 1 "names no arguments"
sed 's/your_code_here();/NoGrad(); return 0;/' <<<"$original" | try 1 "unused-result"
sed '$d' <<<"$original" | try 1 "is a } missing in yours"
expect 0 "^0 of" bash -c "'$learn' list | tail -1"

echo "solved"
solution 01 | try 0 "^Solved\."
expect 0 "return" "$learn" solution 1
expect 0 "\[x\] 01: " "$learn" list
expect 1 "^02: " "$learn"
expect 1 "^03: " "$learn" --from 3
expect 2 "there is no exercise '98'" "$learn" --from 98
mine=$(cat "$file")
sed 's/your_code_here();/return 0;/' <<<"$original" | try 1 "."
expect 0 "\[ \] 01: " "$learn" list
try 0 "^Solved\." <<<"$mine"

echo "reset keeps what one wrote"
expect 0 "^exercises/01_slope.old is yours" "$learn" reset 1
[ "$(cat "$file")" = "$original" ] && [ "$(cat exercises/01_slope.old)" = "$mine" ] || fail "reset lost something"
expect 0 "^exercises/01_slope.old_ is yours" "$learn" reset 1
[ "$(cat exercises/01_slope.old)" = "$mine" ] || fail "a second reset lost something"
expect 0 "\[ \] 01: " "$learn" list

echo "mistakes of the command line"
expect 2 "there is no exercise '99'" "$learn" check 99
expect 2 "unknown command 'chek'" "$learn" chek
expect 2 "needs the number of an exercise" "$learn" hint
expect 2 "unknown option --dri \(did you mean --dir\?\)" "$learn" --dri x
expect 2 "^[^ ]*learn: --dir is empty" "$learn" check 2 --dir ""
expect 1 "your_code_here" "$learn" check 2 --dir "a folder's name"

echo "on a terminal: a verdict within seconds of saving"
if command -v script >/dev/null; then
  mkfifo keys
  script -qfec "'$learn' --from 1" /dev/null <keys >screen &
  trap 'kill %1 2>/dev/null || true' EXIT # it would wait for keys
  exec 9>keys
  wait_for() {
    for _ in $(seq 300); do
      grep -q -- "$1" screen && return
      sleep 0.1
    done
    fail "the screen never shows $1: $(cat screen)"
  }
  wait_for "q quit"
  printf h >&9
  wait_for "^$(sed -n '0,/^.. hint: /s|^// hint: ||p' "$source"/examples/exercises/answers/01_*.cpp | cut -c1-20)"
  : >screen
  begun=$(date +%s%N)
  solution 01 >new && mv new "$file" # as editors save
  wait_for "^Solved\."
  echo "from saving to the verdict: $((($(date +%s%N) - begun) / 1000000)) ms"
  printf n >&9
  wait_for "02: "
  printf q >&9
  exec 9>&-
  wait
fi
