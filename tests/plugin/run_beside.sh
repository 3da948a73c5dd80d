#!/usr/bin/env bash
# Runs plug-ins in a process in which another LLVM, or an RE2, is loaded for everyone.   run_beside.sh LIBRARY HOST PLUGIN...
# Tries every version of the library (LLVM, re2) that the system has; 77, which means skipped, when there is none.
set -euo pipefail
name=$1
shift
others=$(ldconfig -p | sed -n "s/^\s*\(lib$name[-.0-9so]*\) .* => \(.*\)$/\2/p" | xargs -r -n 1 readlink -f | sort -u)
if [ -z "$others" ]; then
  echo "skipped: no shared $name is installed (Debian: libllvm15, libre2-9)"
  exit 77
fi
for other in $others; do
  echo "beside $other"
  "$1" --beside "$other" "${@:2}"
done
