#!/usr/bin/env python3
"""The command line on a SavedModel that TensorFlow wrote: results, JSON, exit codes.

    check.py REWIND GOLDEN_FOLDER
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

rewind, golden = sys.argv[1], pathlib.Path(sys.argv[2])
kinds = golden / "saved_model" / "kinds"
folder = pathlib.Path(tempfile.mkdtemp(prefix="rewind-cli-"))
failures = 0


def run(*args, status=0):
    global failures
    done = subprocess.run([rewind, *map(str, args)], capture_output=True, text=True)
    if done.returncode != status:
        failures += 1
        print(f"rewind {' '.join(map(str, args))}: exit code {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout if "--json" in args else done.stdout + done.stderr


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w") as z:
        for name, bytes_ in arrays.items():
            z.writestr(name + ".npy", bytes_)


def read_floats(path, name):
    with zipfile.ZipFile(path) as z:
        data = z.read(name + ".npy")
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{(len(data) - end) // 4}f", data[end:]))


# usage, and what is not there
expect("Usage" in run("--help"), "help")
run(status=2)
run("no_such_command", status=2)
run("saved_model", "show", status=2)
expect("no_such_folder" in run("saved_model", "show", "no_such_folder", status=1), "the folder is named")
expect(json.loads(run("version", "--json"))["version"], "version")

# saved_model
expect("serving_default" in run("saved_model", "show", kinds), "the signature is shown")
shown = json.loads(run("saved_model", "show", kinds, "--json"))
expect(shown["signatures"]["serving_default"]["inputs"]["x"]["shape"] == [None, 2], "the input's shape")
expect(len(shown["variables"]) == 7, "variables")
checked = run("saved_model", "check", kinds, status=1)
expect("runs          signature serving_default" in checked and "needs LookupTableFindV2" in checked, "check")
for descr, code in [("<f4", "f"), ("<f8", "d")]:  # numpy's own floats are converted
    write_npz(folder / "in.npz", {"x": npy(descr, (2, 2), struct.pack("<4" + code, 1, 0, 0, 1))})
    run("saved_model", "run", kinds, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
    expect(read_floats(folder / "out.npz", "output_0") == [10.5, 199.5, 30.5, 399.5], "results of a call")
expect("available: " in run("saved_model", "run", kinds, "--signature", "no", "--inputs", folder / "in.npz", "--outputs", folder / "o.npz", status=1), "signatures")
expect(not (folder / "o.npz").exists(), "nothing is written for a failed call")

# checkpoint
listed = json.loads(run("checkpoint", "list", kinds, "--json"))
name = "w/.ATTRIBUTES/VARIABLE_VALUE"
expect(listed[name] == {"dtype": "float32", "shape": [2, 2]}, "list")
expect(json.loads(run("checkpoint", "show", kinds, name, "--json"))["elements"] == [1, 2, 3, 4], "show")
expect(name in run("checkpoint", "show", kinds, "w/", status=1), "similar names are listed")
expect("none differing" in run("checkpoint", "diff", kinds, kinds), "diff of equals")

# convert: arrays come through every format
last = kinds
for ending in [".npz", ".safetensors", "_ckpt"]:
    to = folder / ("arrays" + ending)
    run("convert", last, to)
    run("convert", last, to, status=1)  # it is there
    run("convert", last, to, "--overwrite")
    last = to
expect(json.loads(run("checkpoint", "show", last, name, "--json"))["elements"] == [1, 2, 3, 4], "arrays after three formats")
expect(run("checkpoint", "diff", folder / "arrays.npz", folder / "arrays_ckpt", status=0) is not None, "diff across formats")
run("convert", kinds, folder / "model.keras", status=1)

# graph
expect("MatMul" in run("graph", "show", kinds, "--function", "serving_default"), "graph show")
expect(run("graph", "dot", kinds).startswith("digraph"), "graph dot")
(folder / "bad.pb").write_bytes(b"\x0a\xff\xff\xff\xff\x0f")
expect("bad.pb" in run("graph", "show", folder / "bad.pb", status=1), "a damaged graph is named")

# bench
measured = json.loads(run("bench", kinds, "--seconds", "0.05", "--json"))
expect(measured["calls"] >= 10 and measured["median_ms"] > 0, "bench")

print("cli: " + ("ok" if failures == 0 else f"{failures} failures"))
sys.exit(failures != 0)
