#!/usr/bin/env bash
# The page that trains computes what a native program does: page.sh BUILD. The same requests go to the native program, to the
# module under node, and to the page in Chromium if there is one; with the fused instruction and without it. Every answer must
# be equal: 1,000 losses of four tasks, the hash of the weights, what is seen inside. The exact path takes ten times as long, so
# its models are smaller. Two builds of the page are equal byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
module=$build/examples/page/examples/page_module
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

requests() { # the model's settings
  local task
  for task in copy sort induction modular_addition; do
    echo "{\"do\":\"start\",\"task\":\"$task\",\"seed\":1,\"settings\":{$1\"training.max_iters\":\"1000\",\"training.eval_interval\":\"250\"}}"
    for _ in {1..20}; do echo '{"do":"step","steps":50}'; done
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
equal() { # name, answers
  cmp "$work/native" "$2"
  echo "$1: 1,000 losses of four tasks, their weights and what is inside are native's: $(grep -o '"hash":"[0-9a-f]*"' "$2" | tr '\n' ' ')"
}
compare() { # fused or exact, the model's settings
  requests "$2" >"$work/requests"
  "$build/examples/page_native" "$work" <"$work/requests" | written >"$work/native"
  ! grep -n error "$work/native"
  node --no-experimental-fetch --experimental-wasm-relaxed-simd tests/page.mjs "$module.js" "$module.wasm" "$1" <"$work/requests" >"$work/node"
  equal "$1, node" "$work/node"
  command -v chromedriver >/dev/null || return 0
  node tests/page_losses.mjs "$build/examples/page.html" "$1" <"$work/requests" >"$work/chromium"
  equal "$1, Chromium" "$work/chromium"
}
compare fused ''
compare exact '"model.n_embd":"16","model.n_head":"2","model.n_layer":"1","training.batch_size":"8",'

page=$build/examples/page.html
cp "$page" "$work/page.html"
rm -rf "$build/examples/page" "$page"
cmake --build "$build" --target page >/dev/null
cmp "$page" "$work/page.html"
echo "two builds of the page are equal"
