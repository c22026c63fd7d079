#!/usr/bin/env bash
# Modular addition knows its training pairs long before those held out, and those in the end: grokking.sh TRAIN
set -euo pipefail
"$1" modular_addition --eval_interval 100 | awk '
  /^evaluation after/ {
    split($0, part, /after | steps|exact match | %|train on /)  # steps, held out, training
    if (!known && part[6] >= 99) known = part[2]
    if (!found && part[4] >= 99) found = part[2]
  }
  /^exact match on/ { match($0, /\([0-9.]+/); right = substr($0, RSTART + 1, RLENGTH - 1) + 0 }
  END {
    print "99 % of training after " known " steps, of those held out after " found "; in the end " right " %"
    exit !(known && found >= 4 * known && right >= 99)
  }'
