#!/usr/bin/env bash
# examples/index.md, the index of the library, from its headers. Without a word: whether the page is what they give, and
# each name has its sentence.
# tests/index.sh [--write]
set -euo pipefail
cd "$(dirname "$0")/.."
page=examples/index.md

index() {
  echo '# Index of the library'
  echo
  echo "Every public function, layer, struct of options and error class, with the first sentence of its comment and its header."
  echo "\`tests/index.sh --write\` makes this page from the headers."
  for room in engine nn models train; do
    printf '\n## %s\n\n| name | what | header |\n| --- | --- | --- |\n' "$room"
    find "$room" -name '*.h' ! -path 'engine/kernels/*' ! -path 'engine/base/math*' ! -path 'engine/ops/cost.h' ! -name unicode_tables.h | LC_ALL=C sort | while read -r header; do
      awk -v file="$header" -f tests/index.awk "$header"
    done | LC_ALL=C sort -f -t$'\t' -k1,1 -k3,3 | awk -F'\t' '{ printf "| `%s` | %s | `%s` |\n", $1, $2, $3 }'
  done
}

if [ "${1:-}" = --write ]; then
  index >"$page"
else
  ! grep -F '` |  | `' "$page" || { echo "these names have no comment that begins with ///" >&2 && exit 1; }
  diff <(index) "$page" || { echo "$page is not what the headers give: run tests/index.sh --write" >&2 && exit 1; }
fi
