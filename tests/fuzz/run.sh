#!/usr/bin/env bash
# Builds the libFuzzer harnesses of this folder and runs each for some seconds.
#   tests/fuzz/run.sh [seconds [harness ...]]      tests/fuzz/run.sh 600 hdf5_fuzz
# A harness names its sources and its seeds in comments at its top. What it finds beyond them stays in build/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-10}
shift || true
clang=$(command -v clang++-19 || command -v clang++ || true)
if [ -z "$clang" ] || ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  "$clang" -x c++ - -fsanitize=fuzzer -o /dev/null 2>/dev/null; then
  echo "fuzz: skipped, there is no clang with libFuzzer (libclang-rt-19-dev)"
  exit 0
fi
out=build/fuzz
mkdir -p $out
harnesses=("$@")
[ $# -gt 0 ] || harnesses=($(cd tests/fuzz && ls ./*_fuzz.cc | sed 's|\./||; s|\.cc$||'))
for name in "${harnesses[@]}"; do
  file=tests/fuzz/$name.cc
  # shellcheck disable=SC2046
  sources=$(ls $(sed -n 's|^// sources: ||p' "$file") rewind/format/{read_file,atomic_file,utf8}.cc rewind/base/*.cc | sort -u)
  # shellcheck disable=SC2086
  "$clang" -std=c++20 -O1 -g -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
    "$file" $sources -o "$out/$name" -lz -ldl
  mkdir -p "$out/$name.corpus" "$out/$name.seeds"
  seeds=$(sed -n 's|^// seeds: ||p' "$file")
  # shellcheck disable=SC2086
  [ -z "$seeds" ] || cp $seeds "$out/$name.seeds"
  "$out/$name" -max_total_time="$seconds" -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=10 -print_final_stats=1 \
    -max_len=300000 -artifact_prefix="$out/$name-" "$out/$name.corpus" "$out/$name.seeds" 2>&1 | tail -n 3
done
