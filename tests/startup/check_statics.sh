#!/usr/bin/env bash
# Fails if an object file runs code before main or behind it: objects of other files may need what that code makes, or may
# outlive it.   check_statics.sh OBJECT...
# Allowed is what <iostream> brings (std::ios_base::Init), and the threads that a plug-in ends when it is unloaded.
set -euo pipefail
status=0
calls_of() { objdump -dr -C --no-show-raw-insn "$1" | awk '
  /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name) }
  /R_(X86_64|AARCH64)_/ { print name "\t" $0 }' ; }
for object in "$@"; do
  [[ $object == *.gch ]] && continue
  symbols=$(nm "$object")
  if grep -q '_GLOBAL__sub_I' <<<"$symbols"; then
    needs=$(calls_of "$object" | awk -F'\t' '$1 ~ /_GLOBAL__sub_I/' | sed 's/.*R_[A-Z0-9_]*\s*//; s/[-+]0x[0-9a-f]*$//' |
            grep -vE '^(std::ios_base::Init::~?Init\(\)|\.bss\._ZStL8__ioinit|\.bss|__dso_handle|__cxa_atexit)$' | sort -u || true)
    if [ -n "$needs" ]; then
      echo "$object initialises something before main:"; sed 's/^/  /' <<<"$needs"; status=1
    fi
  fi
  if grep -q 'U __cxa_atexit' <<<"$symbols"; then
    makers=$(calls_of "$object" | grep -E '__cxa_atexit' | cut -f1 | grep -vE '_GLOBAL__sub_I' | sort -u || true)
    makers=$(grep -vE '^rw::parallel_for\(|^rw::.*(Helpers|HelperThreads)' <<<"$makers" || true)
    if [ -n "$makers" ]; then
      echo "$object registers a destructor of a static in:"; sed 's/^/  /' <<<"$makers"; status=1
    fi
  fi
done
exit $status
