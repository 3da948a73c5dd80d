"""Writes tests/golden/<family>.bin: a few small cases of each op, with TensorFlow's results."""
import collections
import os
import struct

from rewind_side import ROOT

MAX_BYTES = 6000     # of one case, unless it says golden=True
MAX_PER_OP = {"plain": 5, "empty": 1, "error": 2}


def select(entries):
    """entries: (case, case bytes, result bytes, kind, key), in order. Keeps golden=True, and for each op the first
    cases of each kind, no two with the same key."""
    kept, seen, count = [], set(), collections.Counter()
    for e in entries:
        c, data, result, kind, key = e
        if c.golden is None:
            if "complex64" in key[0] or "complex128" in key[0]: continue  # compared live only
            if len(data) + len(result) > MAX_BYTES or (c.op, kind, key) in seen or count[c.op, kind] >= MAX_PER_OP[kind]: continue
        elif not c.golden: continue
        seen.add((c.op, kind, key))
        count[c.op, kind] += 1
        kept.append(e)
    return kept


def write(family, entries):
    """Returns (cases, bytes) written."""
    kept = select(entries)
    out = [b"RWG1", struct.pack("<I", len(kept))]
    for _, data, result, _, _ in kept:
        body = data + result
        out += [struct.pack("<I", len(body)), body]
    blob = b"".join(out)
    os.makedirs(f"{ROOT}/tests/golden", exist_ok=True)
    with open(f"{ROOT}/tests/golden/{family}.bin", "wb") as file: file.write(blob)
    return len(kept), len(blob)
