#!/usr/bin/env python3
"""Fails if a room of the library includes a room below it. Rooms, from the ground up:"""
import pathlib
import re
import sys

ROOMS = ["base", "format", "device", "op", "kernel", "graph", "runtime", "compiler", "tensor", "autodiff", "function",
         "report", "module", "data", "saved", "keras"]

root = pathlib.Path(__file__).resolve().parent.parent
bad = 0
for path in sorted((root / "rewind").rglob("*")):
    if path.suffix not in (".h", ".cc") or path.parent == root / "rewind":
        continue
    room = path.relative_to(root / "rewind").parts[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        m = re.match(r'\s*#\s*include\s+"rewind/(\w+)/', line)
        if not m:
            continue
        if room not in ROOMS or m[1] not in ROOMS or ROOMS.index(m[1]) > ROOMS.index(room):
            print(f"{path.relative_to(root)}:{number}: room {room}/ must not include {m[1]}/")
            bad += 1
print(f"rooms: {'ok' if not bad else str(bad) + ' forbidden edges'}")
sys.exit(bad != 0)
