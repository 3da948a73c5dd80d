"""Runs the programs of examples/seeds and examples/autograph in Python and in C++ and compares what they print.

    check_seeds.py BUILD_FOLDER    (with a Python that has TensorFlow)

Numbers may differ in their last digits; everything else must be equal.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
PLACEMENT = re.compile(r"\(_?\w+\): /job:")  # TensorFlow logs the insides of its eager kernels too
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def same_line(a, b):
    a, b = (re.sub(r" +(?=\])", "", re.sub(" +", " ", line)) for line in (a, b))  # arrays are aligned by their digits
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(abs(float(x) - float(y)) <= 1e-5 * max(1, abs(float(x))) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def same_lines(want, got, name):
    """Whether two outputs are the same; prints where they are not."""
    a = [line for line in want.splitlines() if not PLACEMENT.search(line)]
    b = got.splitlines()
    if len(a) == len(b) and all(map(same_line, a, b)): return True
    print(f"{name}: TensorFlow (-) and Rewind (+) differ")
    print("\n".join(difflib.unified_diff(a, b, lineterm="", n=0)))
    return False


def main():
    build = pathlib.Path(sys.argv[1])
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONUNBUFFERED="1")  # lines in the order of printing
    failed = passed = 0
    programs = [p for folder in ("seeds", "autograph") for p in sorted((EXAMPLES / folder).glob("*.py"))]
    for python in programs:
        program = build / "examples" / python.parent.name / python.stem
        if not python.with_suffix(".cc").exists():
            continue  # what the others share
        if not program.exists() and python.parent.name == "autograph":
            print(f"{python.stem}: skipped, built without rewind-autograph")
            continue
        want = subprocess.run([sys.executable, python], capture_output=True, text=True, env=env)
        got = subprocess.run([program], capture_output=True, text=True)
        if want.returncode or got.returncode:
            print(f"{python.stem}: exit codes {want.returncode} and {got.returncode}\n{want.stderr[-500:]}{got.stderr[-500:]}")
            failed += 1
            continue
        same = same_lines(want.stdout, got.stdout, python.stem)
        passed += same
        failed += not same
    print(f"seeds: {passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__": main()
