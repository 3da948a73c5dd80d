#!/usr/bin/env python3
"""rewind-autograph over C++ that was not written for it: sources and headers of Debian packages, fetched into a temporary folder and not kept,
and all of Rewind's own. It must not crash, and what has no tensors in its control flow comes out byte for byte.

usage: foreign.py --build FOLDER [--tool rewind-autograph] [--packages NAME...] [--own] [--limit N] [--first I] [--count N] [--jobs N] [--keep FOLDER]

Every file sees Rewind's tensors (by -include), so that none of them is left alone for not knowing them, and the packages' headers are read as a
user's own."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIRROR = "deb http://deb.debian.org/debian bookworm main\ndeb-src http://deb.debian.org/debian bookworm main\n"


class Package:
    """Headers come from the binary package `headers`, files from the source package `source`."""

    def __init__(self, headers, includes, source=None, files=(), flags=(), folders=()):
        self.headers, self.includes, self.source = headers, includes, source
        self.files, self.flags, self.folders = files, list(flags), folders


PACKAGES = {
    "eigen": Package(["libeigen3-dev"], ["Eigen/Dense", "Eigen/Sparse", "unsupported/Eigen/FFT", "unsupported/Eigen/CXX11/Tensor",
                                         "unsupported/Eigen/NonLinearOptimization", "unsupported/Eigen/AutoDiff"],
                     "eigen3", ["doc/examples/*.cpp", "doc/snippets/no*.cpp"], folders=["eigen3"]),
    "fmt": Package(["libfmt-dev"], ["fmt/chrono.h", "fmt/ranges.h", "fmt/compile.h", "fmt/color.h", "fmt/os.h"], "fmtlib", ["src/*.cc", "test/*-test.cc"], ["-Iinclude", "-Itest"]),
    "json": Package(["nlohmann-json3-dev"], ["nlohmann/json.hpp"], "nlohmann-json3", ["docs/examples/*.cpp", "doc/examples/*.cpp"], ["-Iinclude", "-Isingle_include"]),
    "cli11": Package(["libcli11-dev"], ["CLI/CLI.hpp"], "cli11", ["examples/*.cpp"], ["-Iinclude"]),
    "range-v3": Package(["librange-v3-dev"], ["range/v3/all.hpp"], "range-v3", ["example/*.cpp", "test/algorithm/*.cpp", "test/view/*.cpp"], ["-Iinclude", "-Itest"]),
    "abseil": Package(["libabsl-dev"], ["absl/container/flat_hash_map.h", "absl/container/btree_map.h", "absl/strings/str_format.h", "absl/time/time.h",
                                        "absl/synchronization/mutex.h", "absl/types/variant.h"],
                      "abseil", ["absl/strings/*.cc", "absl/container/internal/*.cc", "absl/time/internal/*.cc", "absl/base/internal/*.cc"], ["-I."]),
    "boost": Package(["libboost1.81-dev"], ["boost/spirit/include/qi.hpp", "boost/graph/adjacency_list.hpp", "boost/asio.hpp", "boost/multiprecision/cpp_int.hpp",
                                            "boost/math/special_functions.hpp", "boost/hana.hpp", "boost/regex.hpp", "boost/lambda2.hpp", "boost/mp11.hpp",
                                            "boost/program_options.hpp", "boost/intrusive/list.hpp", "boost/coroutine2/all.hpp", "boost/preprocessor.hpp"]),
    "leveldb": Package([], [], "leveldb", ["db/*.cc", "table/*.cc", "util/*.cc"], ["-I.", "-Iinclude", "-DLEVELDB_PLATFORM_POSIX", "-include", "cstdint"]),
    "re2": Package([], [], "re2", ["re2/*.cc", "util/*.cc"], ["-I."]),
    "tinyxml2": Package([], [], "tinyxml2", ["*.cpp"]),
    "snappy": Package([], [], "snappy", ["snappy.cc", "snappy-sinksource.cc", "snappy-stubs-internal.cc"], ["-I."]),
    "catch2": Package(["catch2"], ["catch2/catch_test_macros.hpp", "catch2/catch_template_test_macros.hpp"], "catch2", ["examples/*.cpp"]),
    "glm": Package(["libglm-dev"], ["glm/glm.hpp", "glm/ext.hpp"], "glm", ["test/core/*.cpp", "test/gtc/*.cpp"], ["-I."]),
}


class Fetcher:
    """apt with lists of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "apt/lists/partial").mkdir(parents=True)
        (folder / "apt/archives/partial").mkdir(parents=True)
        (folder / "apt/sources.list").write_text(MIRROR)
        self.options = [f"-oDir::Etc::SourceList={folder}/apt/sources.list", "-oDir::Etc::SourceParts=-", f"-oDir::State::Lists={folder}/apt/lists",
                        f"-oDir::Cache={folder}/apt", "-oAPT::Sandbox::User=", "-oAcquire::Languages=none", "-qq"]
        subprocess.run(["apt-get"] + self.options + ["update"], check=True)

    def get(self, action, name, into):
        into.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get"] + self.options + action + [name], cwd=into, check=True, stdout=subprocess.DEVNULL)

    def headers(self, package, into):
        self.get(["download"], package, into)
        for file in into.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", file, into], check=True)
            file.unlink()

    def source(self, package, into):
        self.get(["source", "--download-only"], package, into)
        for file in into.glob("*.orig.tar.*"):
            if file.suffix != ".asc":
                with tarfile.open(file) as archive:
                    archive.extractall(into / "source")
        tops = [p for p in (into / "source").iterdir()]
        return tops[0] if len(tops) == 1 else into / "source"


class File:
    def __init__(self, name, path, flags, folder, foreign):
        self.name, self.path, self.flags, self.folder, self.foreign = name, path, flags, folder, foreign


def files_of_package(name, package, fetcher, folder, limit):
    files, base = [], ["-std=c++20", f"-I{ROOT}", "-include", "rewind/rewind.h"]
    include = []
    for p in package.headers:
        fetcher.headers(p, folder / "headers")
        usr = folder / "headers/usr/include"
        include += [f"-I{usr}", f"-I{usr}/x86_64-linux-gnu"] + [f"-I{usr / f}" for f in package.folders]
    small = folder / "small"
    small.mkdir(parents=True, exist_ok=True)
    for i, header in enumerate(package.includes):
        path = small / f"{i}.cc"
        path.write_text(f"#include <{header}>\n")
        files.append(File(f"{name}: <{header}>", path, base + include, folder, True))
    if package.source:
        source = fetcher.source(package.source, folder)
        found = sorted(p for pattern in package.files for p in source.glob(pattern))
        for path in found[:limit]:
            flags = [f"-I{source / f[2:]}" if f.startswith("-I") else f for f in package.flags]
            files.append(File(f"{name}: {path.relative_to(source)}", path, base + flags + include, source, True))
    return files


def files_of_rewind(build):
    """The commands of files that are compiled several at a time are those of the file that includes them."""
    files, seen = [], set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        start = next(i for i, w in enumerate(words) if re.search(r"(g\+\+|c\+\+|clang\+\+)[-0-9.]*$", w))
        flags = words[start + 1:words.index("-o")]
        path = pathlib.Path(entry["file"])
        paths = re.findall(r'^#include "(.*)"', path.read_text(), re.M) if "/Unity/" in str(path) else [str(path)]
        for p in map(pathlib.Path, paths):
            if p in seen or not p.is_relative_to(ROOT) or p.is_relative_to(build) or p.suffix != ".cc":
                continue
            seen.add(p)
            files.append(File(str(p.relative_to(ROOT)), p, flags, entry["directory"], False))
    return files


class Outcome:
    def __init__(self, file, state, text=""):
        self.file, self.state, self.text = file, state, text


# Exit statuses of the tool.
REFUSED, UNREADABLE = 1, 3
# Flags of GCC's that Clang stops at. The tool drops them by itself.
OF_GCC = re.compile(r"-fno-semantic-interposition|-fconcepts.*|-Winvalid-pch|-f(no-)?(tree|ipa|var-tracking|graphite|gnu).*|--param.*|-mno-avx256.*|-include-pch")


def clang_reads(file):
    """Whether Clang by itself finds no error in the file."""
    flags = [f for before, f in zip([""] + file.flags, file.flags) if before != "--param" and not OF_GCC.fullmatch(f)]
    done = subprocess.run(["clang++-19", "-fsyntax-only", "-w", "-Wno-error"] + flags + [str(file.path)], cwd=file.folder, capture_output=True, timeout=600)
    return done.returncode == 0


def check(tool, file, folder, number):
    output = folder / f"out_{number}.cc"
    try:
        done = subprocess.run([tool, str(file.path), "-o", str(output), "--"] + file.flags, cwd=file.folder, capture_output=True, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return Outcome(file, "crash", "no end after 300 s")
    headers = pathlib.Path(str(output) + ".headers")
    try:
        errors = "\n".join(line for line in done.stderr.splitlines() if "error:" in line) or done.stderr[:300]
        if done.returncode == REFUSED:
            return Outcome(file, "refused", errors)
        if done.returncode == UNREADABLE:
            return Outcome(file, "unreadable to the tool alone" if clang_reads(file) else "unreadable", errors)
        if done.returncode != 0:
            return Outcome(file, "crash", f"exit status {done.returncode}\n{done.stderr[-3000:]}")
        if headers.exists():
            return Outcome(file, "changed", "headers: " + ", ".join(p.name for p in headers.rglob("*") if p.is_file()))
        if output.read_bytes() != file.path.read_bytes():
            return Outcome(file, "changed")
        return Outcome(file, "same")
    finally:
        output.unlink(missing_ok=True)
        shutil.rmtree(headers, ignore_errors=True)


def is_wrong(outcome):
    """A file of a package has no tensors: it stays as it is, or Clang itself cannot read it, for want of a header or a definition. One of
    Rewind's own that no target of its own converts may have tensors in its conditions, if it is meant for that."""
    if outcome.file.foreign:
        return outcome.state not in ("same", "unreadable")
    meant = re.match(r"(tests|examples|benchmarks)/", outcome.file.name)
    return outcome.state not in (("same", "changed", "refused") if meant else ("same",))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--packages", nargs="*", default=list(PACKAGES))
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--limit", type=int, default=40, help="files of a source package")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="of all files, and ...")
    parser.add_argument("--count", type=int, help="how many from there on")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.absolute()
    tool = (arguments.tool or build / "autograph/rewind-autograph").absolute()
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or pathlib.Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        files = files_of_rewind(build) if arguments.own else []
        if arguments.packages:
            fetcher = Fetcher(folder)
            for name in arguments.packages:
                files += files_of_package(name, PACKAGES[name], fetcher, folder / name, arguments.limit)
        files = files[arguments.first:arguments.first + (arguments.count or len(files))]
        counts = {}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for outcome in pool.map(lambda i: check(tool, files[i], folder, i), range(len(files))):
                key = (outcome.file.name.split(":")[0] if outcome.file.foreign else "Rewind's own", outcome.state)
                counts[key] = counts.get(key, 0) + 1
                wrong = is_wrong(outcome)
                failed |= wrong
                if wrong or arguments.verbose and outcome.state != "same":
                    print(f"{outcome.file.name}: {outcome.state} {outcome.text}", flush=True)
    for (name, state), n in sorted(counts.items()):
        print(f"{name}: {n} {state}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
