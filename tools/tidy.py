#!/usr/bin/env python3
"""clang-tidy over the library, two files at a time. usage: tools/tidy.py [files...]

A file that passed is not read again while it, what it includes and the settings stay as they are (build/tidy/passed)."""
import concurrent.futures
import functools
import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/tidy"
PASSED = BUILD / "passed"
# The standard library of GCC 12 sorts with a function of its own that it calls deprecated; some options are for GCC alone.
COMMAND = ["clang-tidy-19", "--quiet", "--extra-arg=-Wno-deprecated-declarations", "--extra-arg=-Wno-unused-command-line-argument",
           "-p", str(BUILD), "--warnings-as-errors=*"]


def configure():
    """Commands for each file by itself, without a precompiled header."""
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DREWIND_UNITY=OFF", "-DREWIND_PCH=OFF", "-DREWIND_TESTS=OFF", "-DREWIND_EXAMPLES=OFF", "-DREWIND_BENCH=OFF"],
                   check=True, stdout=subprocess.DEVNULL)


@functools.cache
def named_in(file):
    """The project's files that a file includes by name."""
    return [ROOT / name for name in re.findall(r'^#include "(rewind/[^"]+)"', file.read_text(), re.M)]


def included(source):
    """The source and the project's files behind it."""
    found, todo = {source}, [source]
    while todo:
        for file in named_in(todo.pop()):
            if file not in found and file.exists():
                found.add(file)
                todo.append(file)
    return found


def digest(files):
    result = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + " ".join(COMMAND[:4]).encode())
    for file in sorted(files):
        result.update(file.read_bytes())
    return result.hexdigest()


def main():
    wanted = sys.argv[1:] or subprocess.run(["git", "ls-files", "rewind/*.cc"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sources = [ROOT / name for name in wanted if sys.argv[1:] or "kernel/cpu/isa/" not in name]
    configure()
    PASSED.mkdir(parents=True, exist_ok=True)

    def check(source):
        mark = PASSED / digest(included(source))
        if mark.exists():
            return "", True
        run = subprocess.run([*COMMAND, str(source)], capture_output=True, text=True)
        if run.returncode == 0:
            mark.touch()
        return run.stdout, run.returncode == 0

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done, (text, ok) in enumerate(pool.map(check, sources), 1):
            failed += not ok
            print(text, end="")
            if done % 50 == 0:
                print(f"clang-tidy: {done} of {len(sources)} files", flush=True)
    print(f"clang-tidy: {failed} of {len(sources)} files with findings" if failed else "clang-tidy: ok")
    return 1 if failed else 0


sys.exit(main())
