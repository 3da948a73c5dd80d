#!/usr/bin/env bash
# check_isa_symbols.sh OBJECT...: objects compiled for one instruction set define nothing outside rw::isa_* that the
# linker could give to other code: no weak symbols (inline functions, templates), no globals.
bad=$(nm -C --defined-only "$@" 2>/dev/null |
  awk '$2 ~ /^[A-Zuvw]$/ { name = $0; sub(/^[^ ]* [^ ]* /, "", name);
       sub(/^(guard variable for|vtable for|typeinfo (name )?for) /, "", name);
       if (name !~ /^rw::isa_/ && name !~ /^(DW\.ref\.|_GLOBAL_|__)/) print $2, name }' | sort -u)
[ $# -gt 0 ] || { echo "no objects given"; exit 1; }
[ -z "$bad" ] && { echo "$# objects are clean"; exit 0; }
echo "symbols outside rw::isa_*:"
echo "$bad"
exit 1
