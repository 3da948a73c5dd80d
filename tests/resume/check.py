#!/usr/bin/env python3
"""fit, killed at many moments and started again, ends with the bits of one that was never stopped.

    check.py KILLED_FIT [ROUNDS]

Weights, optimizer, states of random layers, the lines of the CSV file and the best model's file are compared byte for byte. Kills
come at random times: before training begins, in a step, between steps, while a backup or a model is written.
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import zipfile

program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2
failures = kills = in_training = 0
FILES = ["log.csv", "best.weights.h5"]


def contents(folder):
    found = {name: (folder / name).read_bytes() for name in FILES}
    with zipfile.ZipFile(folder / "result.npz") as z: found |= {name: z.read(name) for name in z.namelist()}
    found["models"] = sorted(p.name for p in folder.glob("at-*.keras"))
    found["left"] = sorted(p.name for p in folder.iterdir() if p.name == "backup" or ".tmp" in p.name or "temp" in p.name)
    return found


def run_to_the_end(kind, folder):
    begin = time.time()
    done = subprocess.run([program, kind, folder], capture_output=True, text=True)
    if done.returncode: sys.exit(f"killed_fit {kind}: exit code {done.returncode}\n{done.stderr}")
    return time.time() - begin


for kind in ["plain", "schedule", "dataset", "epochs", "double"]:
    with tempfile.TemporaryDirectory() as top:
        whole = pathlib.Path(top) / "whole"
        whole.mkdir()
        duration = run_to_the_end(kind, whole)
        want = contents(whole)
        for n in range(rounds):
            rng = random.Random(f"{kind} {n}")
            folder = pathlib.Path(top) / f"killed{n}"
            folder.mkdir()
            for attempt in range(200):
                # Later attempts live longer, so that each round ends.
                limit = rng.uniform(0, duration * (0.7 + attempt / 20))
                child = subprocess.Popen([program, kind, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                try:
                    out, err = child.communicate(timeout=limit)
                    if child.returncode == 0: break
                    sys.exit(f"killed_fit {kind}, round {n}, start {attempt}: exit code {child.returncode}\n{err}")
                except subprocess.TimeoutExpired:
                    child.kill()
                    out, err = child.communicate()
                    kills += 1
                    in_training += bool(out)
            else:
                sys.exit(f"killed_fit {kind}: 200 starts were not enough")
            got = contents(folder)
            bad = [name for name in want if got.get(name) != want[name]]
            if bad:
                failures += 1
                print(f"{kind}, round {n}: other bytes in {', '.join(bad)}")
                if "log.csv" in bad: print((folder / "log.csv").read_text(), (whole / "log.csv").read_text(), sep="\n-- expected --\n")
print(f"{kills} kills, {in_training} of them after the first step; {failures} of {5 * rounds} resumed trainings differ")
sys.exit(bool(failures) or in_training == 0)
