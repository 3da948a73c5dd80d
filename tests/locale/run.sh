#!/usr/bin/env bash
# Texts are the same under every locale. Builds one that writes 1.234,5, in a folder of its own, then compares what
# texts.cc writes under it with what it writes under C, and runs test programs under it.
#   run.sh TEXTS PROGRAM FILTER [PROGRAM FILTER ...]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
name=de_DE.UTF-8
if ! command -v localedef >/dev/null || [ ! -e /usr/share/i18n/locales/de_DE ]; then
  echo "skipped: no localedef; tools/setup.sh installs the package locales"
  exit 77
fi
mkdir "$folder/locales"
# It warns (status 1) of languages whose sources are incomplete.
localedef --no-archive -i de_DE -f UTF-8 "$folder/locales/$name" 2>"$folder/log" || [ -e "$folder/locales/$name/LC_NUMERIC" ] ||
  { cat "$folder/log"; exit 1; }
export LOCPATH=$folder/locales
unset LANG LANGUAGE LC_ALL COLUMNS
echo "leak:__argz_add_sep" >"$folder/leaks"  # glibc's own, of a locale in LOCPATH
export LSAN_OPTIONS=suppressions=$folder/leaks:print_suppressions=0

texts=$1
shift
for side in C $name; do
  mkdir "$folder/work"
  "$texts" "$folder/work" $([ $side = C ] || echo $name) >"$folder/$side" 2>&1 || { echo "$texts: status $? under $side"; exit 1; }
  rm -r "$folder/work"
done
diff "$folder/C" "$folder/$name" || { echo "texts differ between C (<) and $name (>)"; exit 1; }

while [ $# -gt 0 ]; do
  echo "-- $1 $2"
  REWIND_TEST_LOCALE=$name "$1" --gtest_filter="$2" --gtest_brief=1
  shift 2
done
