#!/usr/bin/env bash
# Installs a built tree into a temporary folder and builds projects against it. usage: run.sh BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >/dev/null
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/consumer"
if [ -x "$1/cli/rewind" ]; then "$work/prefix/bin/rewind" version; fi
plugins=("$work"/build/libplugin_*.so)
"$here/../plugin/check_exports.sh" --none-of-rewind "${plugins[@]}"
"$work/build/host" "${plugins[@]}"
for other in LLVM re2; do "$here/../plugin/run_beside.sh" $other "$work/build/host" "${plugins[@]}" || [ $? = 77 ]; done
if [ -x "$work/prefix/bin/rewind-autograph" ]; then
  "$here/../autograph/build/check.py" "$work/prefix" "$work/autograph"
fi
