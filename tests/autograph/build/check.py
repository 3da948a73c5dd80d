#!/usr/bin/env python3
"""Builds the project of this folder against an installed Rewind and looks at what a user would see: results, what is
built again, lines in errors, gdb, coverage and sanitizers.

usage: check.py PREFIX WORK_FOLDER [COMPILER]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
failures = 0


def expect(condition, what, *details):
    global failures
    if condition:
        return
    failures += 1
    print(f"FAILED: {what}", *details, sep="\n", flush=True)


def run(*command, fails=False, **options):
    """What it prints; ends the test where the exit status is another one."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


def line_of(file, mark):
    return next(i for i, line in enumerate(file.read_text().splitlines(), 1) if mark in line)


class Project:
    def __init__(self, prefix, work, compiler):
        self.source, self.build, self.tool = work / "source", work / "build", prefix / "bin" / "rewind-autograph"
        self.include = prefix / "include"
        shutil.copytree(HERE, self.source)
        self.options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Debug", "-G", "Ninja"]
        self.compiler = compiler

    def configure(self, *more):
        run("cmake", "-S", self.source, "-B", self.build, *self.options, *more)

    def make(self):
        """The files that were rewritten."""
        output = run("cmake", "--build", self.build, "--parallel", "2")
        return set(re.findall(r"rewind-autograph (\S+\.cc)$", output, re.M)), output


def check_rebuilding(project):
    _, output = project.make()
    expect("no work to do" in output, "nothing changed, and nothing is built", output)
    (project.source / "plain.cc").touch()
    rewritten, _ = project.make()
    expect(rewritten == {"plain.cc"}, "a source changed", rewritten)
    (project.source / "local.h").touch()
    rewritten, output = project.make()
    expect(rewritten == {"plain.cc", "unity.cc", "unity_second.cc"}, "a header changed", rewritten)
    header = project.source / "local.h"
    header.write_text(header.read_text().replace("x = x * 2", "x = x * 3"))
    project.make()
    expect("plain(3): expected 6, got 9 eagerly and 9 as a function" in run(project.build / "user", fails=True), "a header's function changed")
    header.write_text(header.read_text().replace("x = x * 3", "x = x * 2"))
    rewritten, _ = project.make()
    project.configure("-DSTEP=2")
    rewritten, _ = project.make()
    expect(rewritten == {"plain.cc"}, "a definition changed", rewritten)
    expect("plain(-3): expected -7, got -11" in run(project.build / "user", fails=True), "another definition")
    project.configure("-DSTEP=1")


def check_errors(project, work):
    """The tool's and the compiler's, in the user's file and line."""
    source = work / "broken.cc"
    output = work / "rewritten.cc"
    flags = ["-std=c++20", f"-I{project.include}"]
    source.write_text("#include <rewind/rewind.h>\n\nrw::Tensor f(rw::Tensor x) {\n  if (x > 0) {\n    x = x.no_such_member;\n  }\n  return x;\n}\n")
    text = run(project.tool, source, "-o", output, "--", *flags, fails=True)
    expect(f"{source}:5:" in text and "no_such_member" in text, "a mistake in the source", text)
    # What only the compiler refuses.
    source.write_text("#include <rewind/rewind.h>\n\nrw::Tensor f(rw::Tensor x) {\n  if (x > 0) {\n    int unused = 3;\n    x = x * 2;\n  }\n  return x;\n}\n")
    run(project.tool, source, "-o", output, "--", *flags)
    text = run(project.compiler, "-fsyntax-only", "-Wall", "-Werror", *flags, output, fails=True)
    expect(f"{source}:5:9: error: unused variable" in text, "a warning of the compiler", text)
    # From a compile_commands.json.
    (work / "compile_commands.json").write_text(json.dumps([{"directory": str(work), "file": "broken.cc", "command": f"c++ {' '.join(flags)} -c broken.cc -o broken.o"}]))
    text = run(project.tool, "-p", work, source, "-o", output)
    expect("rw::autograph::If" in output.read_text(), "the command of compile_commands.json", text)
    text = run(project.tool, "--print", "-p", work, source, "--function", "f")
    expect(text.startswith("rw::Tensor f(rw::Tensor x) {\n") and "rw::autograph::If if1(x > 0" in text, "--print", text)


def check_debugger(project):
    if not shutil.which("gdb"):
        print("gdb: skipped, it is not installed")
        return
    source, line = project.source / "watched.cc", line_of(HERE / "watched.cc", "// stop")
    text = run("gdb", "-q", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", f"break watched.cc:{line}", "-ex", "run", "-ex", "info locals",
               "-ex", "print factor", "-ex", "print big", "-ex", "next", "-ex", "print sum", "-ex", "backtrace 1", project.build / "watched")
    expect(re.search(rf"Breakpoint 1, .*watched\.cc:{line}\n{line}\t", text), "a breakpoint in a staged if", text)
    expect("factor = 2" in text and "$1 = 2\n" in text and "$2 = 2147483647\n" in text and "$3 = -2147483647\n" in text, "locals in a staged if", text)
    expect(re.search(rf"^{line + 1}\t    x = x \* sum;$", text, re.M), "the next line", text)
    expect(re.search(rf"#0  watched .*watched\.cc:{line + 1}", text), "a stack trace", text)


def check_coverage_and_sanitizer(project):
    notes = next(project.build.glob("CMakeFiles/watched.dir/**/watched.cc.gcno"), None)
    if not notes:
        print("coverage and sanitizer: skipped, the compiler has no libraries for them")
        return
    text = run(project.build / "watched")
    source, stop = project.source / "watched.cc", line_of(HERE / "watched.cc", "// stop")
    expect(f"{source}:{stop}:19: runtime error: signed integer overflow" in text, "the line of a sanitizer", text)
    gcov = ["llvm-cov-19", "gcov"] if "clang" in project.compiler else ["gcov"]
    if not shutil.which(gcov[0]):
        print(f"coverage: skipped, there is no {gcov[0]}")
        return
    run(*gcov, notes.name, cwd=notes.parent)
    report = (notes.parent / "watched.cc.gcov").read_text()
    expect(f"0:Source:{source}" in report, "the file of a coverage report", report[:500])
    for mark, count in (("// stop", "[0-9]+"), ("// never", "#####"), ("// twice", "[0-9]+")):
        line = line_of(HERE / "watched.cc", mark)
        expect(re.search(rf"^ *{count}\*?: +{line}:.*{mark}", report, re.M), f"coverage of the line '{mark}'", report[-3000:])


def main():
    prefix, work = (pathlib.Path(a).absolute() for a in sys.argv[1:3])
    compiler = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("CXX", "g++")
    work.mkdir(parents=True)
    project = Project(prefix, work, compiler)
    project.configure("-DSTEP=1")
    rewritten, _ = project.make()
    expect(rewritten == {"plain.cc", "precompiled.cc", "reused.cc", "unity.cc", "unity_second.cc", "newer.cc", "generated.cc", "flags.cc", "watched.cc"},
           "what is rewritten", rewritten)
    print(run(project.build / "user"), end="")
    check_coverage_and_sanitizer(project)
    check_debugger(project)
    check_errors(project, work)
    check_rebuilding(project)
    print(f"{failures} failed" if failures else "rewind_autograph in a project: as expected")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
