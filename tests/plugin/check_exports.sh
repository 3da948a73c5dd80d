#!/usr/bin/env bash
# Fails if a library shows symbols of what Rewind uses inside.   check_exports.sh [--none-of-rewind] LIBRARY...
# With --none-of-rewind the compiled functions of Rewind itself must not be seen either (inline ones of its headers are
# the user's to hide).
set -euo pipefail
forbidden='llvm::|protozero::|dnnl::| LLVM[A-Z]|re2::|RE2::'
if [ "$1" = --none-of-rewind ]; then
  forbidden+='| [TDBR] rw::'
  shift
fi
status=0
for library in "$@"; do
  # Patterns are the library's own: an RE2 would be that of whoever loaded one first.
  if readelf -d "$library" | grep -q 'NEEDED.*libre2'; then
    echo "$library needs libre2"
    status=1
  fi
  shown=$(nm -DC --defined-only "$library" | grep -E "$forbidden" || true)
  [ -z "$shown" ] && continue
  echo "$library shows $(wc -l <<<"$shown") symbols that belong inside:"
  head -20 <<<"$shown"
  status=1
done
exit $status
