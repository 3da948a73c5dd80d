#!/usr/bin/env bash
# Builds the fuzz targets of this folder with libFuzzer and runs each for some seconds; needs the release build.
#   tests/fuzz/run.sh [seconds [target ...]]      tests/fuzz/run.sh 600 hdf5
# It begins with the corpus of the target. What it finds beyond that stays in build/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-10}
shift || true
clang=$(command -v clang++-19 || command -v clang++ || true)
if [ -z "$clang" ] || ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  "$clang" -x c++ - -fsanitize=fuzzer -o /dev/null 2>/dev/null; then
  echo "fuzz: skipped, there is no clang with libFuzzer (clang-19, libclang-rt-19-dev)"
  exit 0
fi
out=build/fuzz
mkdir -p $out
# What the tests are linked with, behind their own part.
libraries=$(ninja -C build/release -t commands tests/fuzz_test | tail -n 1 |
  sed 's/.*librewind_test_support.a//; s/&& :.*//' | tr ' ' '\n' | sed -E 's#^([^-/].*[.](a|so))$#build/release/\1#' | tr '\n' ' ')
make -f tests/fuzz/Makefile -s -k -j2 CXX="$clang" LIBRARIES="$libraries"
targets=("$@")
[ $# -gt 0 ] || targets=($({ $out/rewind_fuzz 2>&1 || true; } | sed -n 's|^targets: ||p'))
failed=0
for name in "${targets[@]}"; do
  mkdir -p "$out/$name"
  seeds=(tests/fuzz/corpus/"$name")
  [ "$name" = hdf5 ] && seeds+=(tests/golden/hdf5)
  "$out/rewind_fuzz" "$name" -max_total_time="$seconds" -rss_limit_mb=1024 -malloc_limit_mb=300 -timeout=10 -len_control=0 \
    -print_final_stats=1 -max_len=300000 -artifact_prefix="$out/$name-" "$out/$name" "${seeds[@]}" \
    >"$out/$name.log" 2>&1 || failed=1
  echo "$name: $(sed -n 's|stat::number_of_executed_units: *||p' "$out/$name.log" | tail -n 1) executions in ${seconds} s," \
    "$(grep -c 'SUMMARY' "$out/$name.log" || true) found"
  grep -A 12 'ERROR\|runtime error' "$out/$name.log" || true
done
exit $failed
