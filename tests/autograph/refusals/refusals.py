#!/usr/bin/env python3
"""What rewind-autograph refuses: each line of a file with a comment `refused:` has an error with these words, and no other
line has any.

usage: refusals.py --build FOLDER --tool rewind-autograph FILE"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys


def flags_of(build, source):
    """The compiler's flags for a source, without its output."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith(source):
            words = shlex.split(entry["command"])
            start = next(i for i, w in enumerate(words) if re.search(r"(g\+\+|c\+\+|clang\+\+)[-0-9.]*$", w))
            return words[start + 1:words.index("-o")], entry["directory"]
    sys.exit(f"refusals.py: no command of {source} in compile_commands.json")


def expected_in(path):
    """Pieces of messages, by line."""
    expected = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := re.search(r"// refused: (.*)", line):
            text = re.sub(r"\{([-+]\d+)\}", lambda m: str(number + int(m.group(1))), found.group(1))
            expected[number] = text.split(" ... ")
    return expected


def holds(message, pieces):
    at = 0
    for piece in pieces:
        at = message.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--tool", required=True)
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    flags, directory = flags_of(arguments.build, "tests/autograph/fuzz_main.cc")
    path = arguments.file.absolute()
    tool = str(pathlib.Path(arguments.tool).absolute())
    done = subprocess.run([tool, str(path), "-o", "/dev/null", "--", *flags, "-ferror-limit=0"], cwd=directory, capture_output=True, text=True)
    got = {}
    for file, line, message in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)$", done.stderr, re.M):
        got.setdefault(int(line) if file == str(path) else 0, []).append(message)
    expected = expected_in(path)
    wrong = []
    for line, pieces in expected.items():
        if not any(holds(m, pieces) for m in got.get(line, [])):
            wrong.append(f"{path}:{line}: expected: {' ... '.join(pieces)}\n  got: " + ("\n       ".join(got.get(line, [])) or "nothing"))
    for line, messages in got.items():
        if line not in expected:
            wrong += [f"{path}:{line}: unexpected: {m}" for m in messages]
    if done.returncode != 1:
        wrong.append(f"exit status {done.returncode}, not 1\n{done.stderr[-2000:]}")
    print("\n".join(wrong) if wrong else f"{len(expected)} refusals as expected")
    sys.exit(bool(wrong))


main()
