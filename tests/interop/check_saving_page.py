"""Runs docs/saving.md as it stands: its programs in C++ and in Python, in their order and in one folder.

    check_saving_page.py BUILD_FOLDER    (with a Python that has TensorFlow)
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "saving.md"
programs = pathlib.Path(sys.argv[1]).resolve() / "tests" / "docs"
env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
blocks = re.findall(r"```(cpp|python)\n(.*?)```\n", PAGE.read_text(), re.S)
failed = 0
with tempfile.TemporaryDirectory() as folder:
    def run(command, what):
        global failed
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env)
        if done.returncode:
            failed += 1
            print(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr[-2000:]}")
        return done.stdout

    number, first = 0, ""
    for language, code in blocks:
        if language == "python":
            out = run([sys.executable, "-c", code], code.splitlines()[0] + " ...")
        else:
            name = f"docs_saving_{number}{'' if 'int main' in code else '_body'}"
            first = first or name
            number += 1
            out = run([programs / name], name)
    again = run([programs / first], first)
    if "step 100: " not in again:
        failed += 1
        print(f"{first}, started again behind TensorFlow, must go on at step 80: got {again!r}")
print(f"docs/saving.md: {len(blocks) + 1 - failed} of {len(blocks) + 1} programs pass")
sys.exit(bool(failed))
