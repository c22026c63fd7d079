#!/bin/sh
# Runs every fuzzer for some seconds: sh tests/fuzz/run.sh BUILD SECONDS, after
#   cmake -S . -B BUILD -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DMOTE_BUILD_FUZZERS=ON -DMOTE_BUILD_TESTS=OFF
#   ninja -C BUILD fuzzers
# What a fuzzer learns stays in BUILD/fuzz; an input that it fails on is written there and named.
set -eu
folder=$(dirname "$0")
out=$1/fuzz
sh "$folder/seeds.sh" "$out/seeds"
for source in "$folder"/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  mkdir -p "$out/$name" "$out/seeds/$name"
  echo "$name"
  if ! "$1/tests/fuzz/${name}_fuzz" -max_total_time="$2" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$out/$name-" "$out/$name" "$out/seeds/$name" > "$out/$name.log" 2>&1; then
    tail -n 40 "$out/$name.log"
    exit 1
  fi
  grep -E "^(Done|stat::)" "$out/$name.log"
done
