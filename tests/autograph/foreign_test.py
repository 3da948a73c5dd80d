#!/usr/bin/env python3
"""foreign.py tells what a tool does to a file: tools of a few lines that crash, change a byte, refuse or cannot read."""
import pathlib
import shutil
import sys
import tempfile

import foreign

TOOLS = {  # "$1" is the source, "$3" the output
    "same": 'cp "$1" "$3"',
    "changed": 'cp "$1" "$3"; echo >>"$3"',
    "changed headers": 'cp "$1" "$3"; mkdir "$3.headers"; cp "$1" "$3.headers/a.h"',
    "refused": 'echo "$1:1:1: error: unreadable nonsense" >&2; exit 1',
    "not read": 'echo "$1:1:1: error: a tensor condition" >&2; exit 3',
    "crash": "kill -SEGV $$",
    "abort": "exit 134",
    "silent": "exit 2",
}
WRONG = {("changed", False), ("changed headers", False), ("refused", False), ("crash", False), ("abort", False), ("silent", False),
         ("crash", True), ("abort", True), ("silent", True), ("changed", True), ("changed headers", True), ("refused", True)}


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        sources = {"good": "int f() { return 1; }\n", "bad": "#include <no/such/header.h>\n"}
        wrong = []
        for name, script in TOOLS.items():
            tool = folder / "tool"
            tool.write_text(f"#!/bin/sh\n{script}\n")
            tool.chmod(0o755)
            for kind, text in sources.items():
                if name == "not read" and not shutil.which("clang++-19"):
                    continue
                source = folder / f"{kind}.cc"
                source.write_text(text)
                outcome = foreign.check(str(tool), foreign.File("package: a.cc", source, [], folder, True), folder, 0)
                expected = (name, kind == "bad") in WRONG or (name == "not read" and kind == "good")
                if foreign.is_wrong(outcome) != expected:
                    wrong.append(f"{name} on a {kind} file of a package: {outcome.state}, which counts as {'wrong' if not expected else 'right'}")
        for path, state, expected in (("rewind/op/op.cc", "changed", True), ("tests/a.cc", "changed", False), ("tests/a.cc", "crash", True),
                                      ("tests/a.cc", "unreadable", True), ("rewind/op/op.cc", "same", False)):
            outcome = foreign.Outcome(foreign.File(path, folder, [], folder, False), state)
            if foreign.is_wrong(outcome) != expected:
                wrong.append(f"{path}: {state}")
    print("\n".join(wrong) or "foreign.py: as expected")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
