#!/usr/bin/env bash
# check_isa_symbols.sh OBJECT...: objects compiled for one instruction set define no code outside rw::isa_* that the
# linker could give to others: no inline functions or templates with linkage, no global functions. Constants may be
# shared, they are the same in every set.
bad=$(nm -C --defined-only "$@" 2>/dev/null |
  awk '$2 ~ /^[TWwi]$/ { name = $0; sub(/^[^ ]* [^ ]* /, "", name);
       sub(/^(guard variable for|vtable for|typeinfo (name )?for) /, "", name);
       if (name !~ /^rw::isa_/ && name !~ /^(DW\.ref\.|_GLOBAL_|__)/) print $2, name }' | sort -u)
[ $# -gt 0 ] || { echo "no objects given"; exit 1; }
[ -z "$bad" ] && { echo "$# objects are clean"; exit 0; }
echo "symbols outside rw::isa_*:"
echo "$bad"
exit 1
