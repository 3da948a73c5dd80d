#!/usr/bin/env bash
# compare_isa.sh PROGRAM: runs it under each instruction set (those that the machine lacks fall back) and compares.
set -e
expected=$(REWIND_ISA=base "$1")
for isa in v3 v4; do
  diff <(echo "$expected") <(REWIND_ISA=$isa "$1") > /tmp/compare_isa.$$ || {
    echo "results under $isa differ from base:"; head -40 /tmp/compare_isa.$$; rm -f /tmp/compare_isa.$$; exit 1; }
done
rm -f /tmp/compare_isa.$$
echo "$(echo "$expected" | wc -l) results are equal"
