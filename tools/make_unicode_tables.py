#!/usr/bin/env python3
"""Writes rewind/kernel/cpu/unicode_tables.inc: scripts and cases of characters, as TensorFlow knows them.

    make_unicode_tables.py        with a Python that has TensorFlow
"""
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from character_tables import runs_of_distances, table  # noqa: E402

PATH = pathlib.Path(__file__).resolve().parent.parent / "rewind" / "kernel" / "cpu" / "unicode_tables.inc"
CODES = [c for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]


def lower(strings):
    return [s.decode() for s in tf.strings.lower(strings, encoding="utf-8").numpy()]


def upper(strings):
    return [s.decode() for s in tf.strings.upper(strings, encoding="utf-8").numpy()]


def case_runs(pairs):
    """(first, last, step, distance) of characters with one other case; the others with all of it."""
    simple = [(c, ord(x) - c) for c, x in pairs if len(x) == 1]
    return runs_of_distances(simple), [(c, [ord(k) for k in x]) for c, x in pairs if len(x) > 1]


def ranges(codes):
    out = []
    for c in codes:
        if out and out[-1][1] == c - 1: out[-1][1] = c
        else: out.append([c, c])
    return out


text = ("// Made by tools/make_unicode_tables.py. Scripts by the first characters of runs; characters (first, last,\n"
        "// step) whose other case lies at a distance; those whose other case is several characters; ranges of\n"
        "// characters that have case, and of those that stand in words beside them (which a final sigma asks for).\n")
scripts = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
starts = [0] + [c for c in range(1, 0x110000) if scripts[c] != scripts[c - 1]]
text += table("ScriptRun", "kScripts", [f"{{0x{c:x}, {scripts[c]}}}," for c in starts], 8)
characters = [chr(c) for c in CODES]
for name, change in (("Lower", lower), ("Upper", upper)):
    pairs = [(c, y) for c, x, y in zip(CODES, characters, change(characters)) if x != y]
    runs, several = case_runs(pairs)
    text += table("CaseRun", f"k{name}", [f"{{0x{a:x}, 0x{b:x}, {s}, {d}}}," for a, b, s, d in runs], 5)
    text += table("CaseText", f"k{name}Text",
                  [f"{{0x{c:x}, {{" + ", ".join(f"0x{k:x}" for k in x) + "}}," for c, x in several], 4)
behind = [y[-1] == "\u03c2" for y in lower([x + "\u03a3" for x in characters])]
between = [y[-1] == "\u03c2" for y in lower(["\u0391" + x + "\u03a3" for x in characters])]
cased = [c for c, is_cased in zip(CODES, behind) if is_cased]
ignorable = [c for c, is_cased, stays in zip(CODES, behind, between) if stays and not is_cased]
for name, codes in (("kCased", cased), ("kIgnorable", ignorable)):
    text += table("CodeRange", name, [f"{{0x{a:x}, 0x{b:x}}}," for a, b in ranges(codes)], 8)
PATH.write_text(text)
print(f"{PATH}: {len(starts)} scripts' runs, {len(text)} bytes")
