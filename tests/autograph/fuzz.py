#!/usr/bin/env python3
"""Random programs, rewritten by rewind-autograph, against what they do as plain C++: values and gradients.

usage: fuzz.py --build FOLDER [--tool rewind-autograph] [--link LIBRARIES] [--programs N] [--seed S] [--first I] [--keep FOLDER]

One program alone: --seed S --first I --programs 1 --keep FOLDER, which holds its source and what was made of it."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import random_programs

PER_FILE = 40


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--link", nargs="+", type=pathlib.Path)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build
    arguments.tool = str((arguments.tool or build / "autograph/rewind-autograph").absolute())
    arguments.link = [str(library.absolute()) for library in
                      arguments.link or [build / "tests/autograph/libautograph_fuzz.a", build / "tests/docs/librewind_shared.so"]]
    if arguments.keep:
        arguments.keep = arguments.keep.absolute()
    return arguments


def compiler_command(build):
    """Of fuzz_main.cc, with its precompiled header: the compiler and its flags, and the folder that they are for."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("tests/autograph/fuzz_main.cc"):
            words = shlex.split(entry["command"])
            start = next(i for i, w in enumerate(words) if re.search(r"(g\+\+|c\+\+|clang\+\+)[-0-9.]*$", w))
            words = words[start:words.index("-o")] + ["-w"]
            return words, entry["directory"]
    sys.exit("fuzz.py: no command of fuzz_main.cc in compile_commands.json")


class Batch:
    """One file of programs."""

    def __init__(self, arguments, command, directory, folder, first, count):
        self.arguments, self.command, self.directory = arguments, command, directory
        self.first, self.count = first, count
        self.source = folder / f"programs_{first}.cc"
        self.report = ""

    def run(self, command, what, limit=600):
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=limit)
        if done.returncode:
            self.report += f"{what} of {self.source.name}: exit status {done.returncode}\n{done.stdout[-6000:]}"
            if what != "run" or done.returncode < 0:
                self.report += done.stderr[-3000:]
        return done.returncode == 0

    def check(self):
        source, rewritten, program = str(self.source), str(self.source.with_suffix(".out.cc")), str(self.source.with_suffix(""))
        random_programs.write(self.source, self.arguments.seed, self.first, self.count)
        flags = self.command[1:] + ["-DAUTOGRAPH_CONVERTED"]
        steps = [
            ("rewind-autograph", [self.arguments.tool, source, "-o", rewritten, "--"] + flags),
            ("compiler", self.command + ["-c", source, "-o", program + ".plain.o"]),
            ("compiler behind rewind-autograph", self.command + ["-DAUTOGRAPH_CONVERTED", "-c", rewritten, "-o", program + ".converted.o"]),
            ("linker", [self.command[0], program + ".plain.o", program + ".converted.o", "-o", program] + self.arguments.link +
             [f"-Wl,-rpath,{pathlib.Path(self.arguments.link[-1]).parent}"]),
            ("run", [program]),
        ]
        for what, command in steps:
            if not self.run(command, what):
                break
        for made in (".plain.o", ".converted.o") + (() if self.arguments.keep else ("",)):
            pathlib.Path(program + made).unlink(missing_ok=True)
        return self.report


def main():
    arguments = parse_arguments()
    command, directory = compiler_command(arguments.build)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        end = arguments.first + arguments.programs
        batches = [Batch(arguments, command, directory, folder, i, min(PER_FILE, end - i)) for i in range(arguments.first, end, PER_FILE)]
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for report in pool.map(Batch.check, batches):
                failed += bool(report)
                if report:
                    print(report, flush=True)
    print(f"{arguments.programs} programs of seed {arguments.seed}: " + (f"{failed} of {len(batches)} files differ" if failed else "none differs"))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
