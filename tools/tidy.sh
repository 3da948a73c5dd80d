#!/usr/bin/env bash
# clang-tidy over the library, in parallel; needs build/release. usage: tools/tidy.sh [files...]
set -euo pipefail
cd "$(dirname "$0")/.."
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files 'rewind/*.cc' | grep -v kernel/cpu/isa/)
printf '%s\n' "${files[@]}" | xargs -P 2 -n 4 clang-tidy-19 --quiet -p build/release --warnings-as-errors='*'
echo "clang-tidy: ok"
