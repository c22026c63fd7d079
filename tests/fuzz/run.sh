#!/bin/sh
# Runs every fuzzer for some seconds: sh tests/fuzz/run.sh BUILD SECONDS, after
#   cmake -S . -B BUILD -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DMOTE_BUILD_FUZZERS=ON -DMOTE_BUILD_TESTS=OFF
#   ninja -C BUILD fuzzers
# What a fuzzer learns stays in BUILD/fuzz; an input that it fails on is written there and named.
set -eu
folder=$(dirname "$0")
out=$1/fuzz
sh "$folder/seeds.sh" "$out/seeds"
fuzz() {
  name=$1
  mkdir -p "$out/$name" "$out/seeds/$name"
  if ! "$2/tests/fuzz/${name}_fuzz" -max_total_time="$3" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$out/$name-" "$out/$name" "$out/seeds/$name" > "$out/$name.log" 2>&1; then
    tail -n 40 "$out/$name.log"
    return 1
  fi
  echo "$name: $(grep -E "^Done" "$out/$name.log")"
}
# Two at a time.
other=
for source in "$folder"/*_fuzz.cpp; do
  fuzz "$(basename "$source" _fuzz.cpp)" "$1" "$2" &
  [ -z "$other" ] || wait "$other"
  other=$!
done
wait "$other"
