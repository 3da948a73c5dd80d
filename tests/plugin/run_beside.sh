#!/usr/bin/env bash
# Runs plug-ins in a process in which another LLVM is loaded for everyone.   run_beside.sh HOST PLUGIN...
# Tries every libLLVM that the system has; 77, which means skipped, when there is none.
set -euo pipefail
others=$(ldconfig -p | sed -n 's/^\s*\(libLLVM[-.0-9so]*\) .* => \(.*\)$/\2/p' | xargs -r -n 1 readlink -f | sort -u)
if [ -z "$others" ]; then
  echo "skipped: no shared LLVM is installed (Debian: libllvm15)"
  exit 77
fi
for other in $others; do
  echo "beside $other"
  "$1" --beside "$other" "${@:2}"
done
