#!/usr/bin/env python3
"""Writes rewind/data/unicode_classes.inc: the ranges of Unicode's letters (L*) and numbers (N*), from Python's tables."""
import pathlib
import sys
import unicodedata

out = pathlib.Path(__file__).resolve().parent.parent / "rewind" / "data" / "unicode_classes.inc"


def ranges(letter):
    found, start = [], None
    for c in range(sys.maxunicode + 2):
        inside = c <= sys.maxunicode and unicodedata.category(chr(c))[0] == letter
        if inside and start is None:
            start = c
        if not inside and start is not None:
            found.append((start, c - 1))
            start = None
    return found


lines = [f"// Made by tools/make_unicode_classes.py from Unicode {unicodedata.unidata_version}: first and last of each range."]
for name, letter in [("kLetters", "L"), ("kNumbers", "N")]:
    lines.append(f"constexpr Range {name}[] = {{")
    row = ""
    for a, b in ranges(letter):
        item = f"{{0x{a:x}, 0x{b:x}}}, "
        if len(row) + len(item) > 108:
            lines.append("    " + row.rstrip())
            row = ""
        row += item
    lines += ["    " + row.rstrip(), "};"]
out.write_text("\n".join(lines) + "\n")
