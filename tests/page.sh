#!/usr/bin/env bash
# The page that trains, without a browser: page.sh BUILD. The same requests go to the native program and to the module, with
# the fused instruction and without it. Every answer must be equal: 1,000 losses of four tasks, the hash of the weights,
# what is seen inside. The exact path takes ten times as long, so of it the first steps are compared. Two builds of the page
# are equal byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
module=$build/examples/page/examples/page_module
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

requests() { # of so many steps of each task
  local task
  for task in copy sort induction modular_addition; do
    echo "{\"do\":\"start\",\"task\":\"$task\",\"seed\":1,\"settings\":{\"training.max_iters\":\"$1\",\"training.eval_interval\":\"50\"}}"
    echo "{\"do\":\"step\",\"steps\":$1}"
    echo '{"do":"hash"}'
    echo '{"do":"look","layer":0,"head":1}'
    echo '{"do":"take_out","heads":["0.1"]}'
    echo '{"do":"back","step":0}'
    echo '{"do":"step","steps":10}'
    echo '{"do":"hash"}'
  done
}
# JSON's numbers have several spellings: both sides are written anew.
written() { node -e 'require("readline").createInterface({input: process.stdin}).on("line", l => console.log(JSON.stringify(JSON.parse(l))))'; }
compare() { # name, steps, node's options, words
  requests "$2" >"$work/requests"
  "$build/examples/page_native" "$work" <"$work/requests" | written >"$work/native"
  # shellcheck disable=SC2086 # options and words
  node --no-experimental-fetch $3 tests/page.mjs "$module.js" "$module.wasm" $4 <"$work/requests" | written >"$work/module"
  cmp "$work/native" "$work/module"
  ! grep -n error "$work/native"
  echo "$1: the first $2 losses of four tasks, their weights and what is inside are native's: $(grep -o '"hash":"[0-9a-f]*"' "$work/module" | tr '\n' ' ')"
}
compare fused 1000 --experimental-wasm-relaxed-simd ''
compare exact 50 '' exact

page=$build/examples/page.html
cp "$page" "$work/page.html"
rm -rf "$build/examples/page" "$page"
cmake --build "$build" --target page >/dev/null
cmp "$page" "$work/page.html"
echo "two builds of the page are equal"
