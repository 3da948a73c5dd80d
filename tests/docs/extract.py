#!/usr/bin/env python3
"""Writes every C++ program of the README and docs/ (a ```cpp block with a main) to a file of its own, as it stands.

    extract.py FOLDER    prints the files' names
A block without a main becomes the body of one, in a file <page>_<number>_body.cc, behind the includes that README names.
A block below the line <!-- rewind_autograph --> has _autograph in its name. A ```text block that follows a program at once is what it prints (see
compare.py) and becomes a file beside it.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
names = []
for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
    blocks = re.findall(r"(<!-- rewind_autograph -->\n)?```cpp\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", page.read_text() + "\n", re.S)
    for number, (converted, code, printed) in enumerate(blocks):
        whole = "int main" in code
        if not whole:
            body = "\n".join("  " + line for line in code.splitlines())
            code = f'#include <rewind/rewind.h>\n\n#include <cstdio>\n#include <iostream>\n\nint main() {{\n{body}\n}}\n'
        path = out / f"{page.stem.lower()}_{number}{'' if whole else '_body'}{'_autograph' if converted else ''}.cc"
        if not path.exists() or path.read_text() != code:
            path.write_text(code)
        path.with_suffix(".out").write_text(printed)
        names.append(str(path))
print(";".join(names), end="")
