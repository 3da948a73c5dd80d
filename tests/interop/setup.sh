#!/usr/bin/env bash
# Makes a virtual environment with TensorFlow, once. usage: setup.sh FOLDER
set -euo pipefail
venv=$1
[ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ["tensorflow", "safetensors", "tf_keras"])))' && exit 0
python3 -m venv "$venv" 2>/dev/null || { "$(dirname "$0")/../../tools/setup.sh" python3-venv && python3 -m venv "$venv"; }
"$venv/bin/pip" install -q --disable-pip-version-check 'tensorflow-cpu==2.21.*' tokenizers safetensors
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps 'tf_keras==2.21.*'  # which asks for another build of TensorFlow
