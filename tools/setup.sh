#!/usr/bin/env bash
# Installs the Debian packages the project needs, if any is missing. usage: tools/setup.sh [extra packages...]
set -euo pipefail
packages=(g++ cmake ninja-build ccache mold python3 libdnnl-dev liblapacke-dev liblapack-dev libprotozero-dev libcli11-dev libgtest-dev
          dataset-fashion-mnist zlib1g-dev libpng-dev libjpeg62-turbo-dev llvm-19-dev libclang-19-dev libzstd-dev locales "$@")
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
