#!/usr/bin/env python3
"""clang-tidy over the library, two files at a time; needs build/release. usage: tools/tidy.py [files...]

A file that passed is not read again while it, what it includes and the settings stay as they are (build/tidy)."""
import concurrent.futures
import hashlib
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PASSED = ROOT / "build/tidy"
COMMAND = ["clang-tidy-19", "--quiet", "--extra-arg=-Wno-ignored-gch", "-p", str(BUILD), "--warnings-as-errors=*"]


def included():
    """The project's files that each object was made of, by the object's source; those behind a precompiled header too."""
    made_of = {}
    for line in subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("    "):
            files.append((BUILD / line.strip()).resolve())
        elif line:
            files = made_of[(BUILD / line.split(":")[0]).resolve()] = []
    result = {}
    for files in made_of.values():
        known = list(files)
        for file in files:
            known += made_of.get(file, [])
        result[files[0]] = {file for file in known if file.is_relative_to(ROOT) and not file.is_relative_to(ROOT / "build")}
    return result


def digest(files):
    result = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + " ".join(COMMAND[:3]).encode())
    for file in sorted(files):
        result.update(file.read_bytes())
    return result.hexdigest()


def main():
    wanted = sys.argv[1:] or subprocess.run(["git", "ls-files", "rewind/*.cc"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sources = [ROOT / name for name in wanted if sys.argv[1:] or "kernel/cpu/isa/" not in name]
    deps = included()
    PASSED.mkdir(parents=True, exist_ok=True)

    def check(source):
        mark = PASSED / digest(deps.get(source, [source]))
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
