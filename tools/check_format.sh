#!/usr/bin/env bash
# Fails if a C++ file is not formatted. `tools/check_format.sh --fix` formats.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files '*.h' '*.cc' | xargs clang-format-19 "${mode[@]}"
echo "format: ok"
