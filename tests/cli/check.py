#!/usr/bin/env python3
"""The command line on a SavedModel that TensorFlow wrote: results, JSON, exit codes.

    check.py REWIND GOLDEN_FOLDER
"""
import json
import pathlib
import shutil
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
expect('unknown command "rewind no_such_command"' in run("no_such_command", status=2), "an unknown command is named")
expect("there are: show, run, check" in run("saved_model", "no_such_command", status=2), "those there are")
expect("rewind 0" in run("--version"), "--version")
run("saved_model", "show", status=2)
expect("no_such_folder" in run("saved_model", "show", "no_such_folder", status=1), "the folder is named")
expect(json.loads(run("version", "--json"))["version"], "version")

# saved_model
expect("serving_default" in run("saved_model", "show", kinds), "the signature is shown")
shown = json.loads(run("saved_model", "show", kinds, "--json"))
expect(shown["signatures"]["serving_default"]["inputs"]["x"]["shape"] == [None, 2], "the input's shape")
expect(len(shown["variables"]) == 7, "variables")
expect(shown["tags"] == ["serve"] and shown["signatures"]["serving_default"]["method"] == "tensorflow/serving/predict", "tags, method")
expect(shown["signatures"]["serving_default"]["inputs"]["x"]["tensor"] == "serving_default_x:0", "the tensor behind an input")
expect("StatefulPartitionedCall" in shown["ops"], "ops")
for command in [["saved_model"], ["checkpoint"], ["graph"], ["convert"], ["bench"], ["saved_model", "run"], ["checkpoint", "diff"]]:
    expect("--help" in run(*command, "--help") or "-h" in run(*command, "--help"), f"help of {command}")
run("checkpoint", status=2)
run("convert", "a", status=2)
expect("above 0" in run("bench", kinds, "--batch", "-1", status=2), "options are checked")
expect("available: serving_default" in run("bench", kinds, "--signature", "no", status=1), "signatures are listed")
(folder / "junk.txt").write_text("hello")
expect("no file of arrays" in run("checkpoint", "list", folder / "junk.txt", status=1), "another kind of file")
run("convert", kinds, folder / "model.onnx", status=2)
run("saved_model", "run", kinds, status=2)
expect("runs  signature serving_default" in run("saved_model", "check", kinds), "check")
unknown = folder / "unknown"
shutil.copytree(kinds, unknown)
graph = (unknown / "saved_model.pb").read_bytes()
(unknown / "saved_model.pb").write_bytes(graph.replace(b"LookupTableFindV2", b"LookupTableFindV9"))
checked = run("saved_model", "check", unknown, status=1)
expect("runs          signature serving_default" in checked and "needs LookupTableFindV9" in checked, "check of an unknown op")
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
expect("no model" in run("convert", kinds, folder / "model.keras", status=1), "arrays become no model")
expect("no model" in run("convert", kinds, f"{folder}/exported_arrays/", status=1), "nor a SavedModel")
run("checkpoint", "diff", folder / "arrays.npz", folder / "no_such_file", status=1)

# whole models of Keras: x @ [[1, 2], [3, 4]] + [10, 20]
keras = golden / "keras"


def served(at, status=0):
    write_npz(folder / "in.npz", {"x": npy("<f4", (1, 2), struct.pack("<2f", 1, 1))})
    run("saved_model", "run", at, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--json", status=status)
    return read_floats(folder / "out.npz", "output_0")


for name in ["lines.keras", "lines.h5", "keras2.h5"]:
    at = folder / name
    wrote = json.loads(run("convert", keras / name, f"{at}.model/", "--json"))
    expect(wrote["weights"] == 2, f"{name}: weights")
    if name != "keras2.h5": expect(served(f"{at}.model") == [14.0, 26.0], f"{name}: served")
    for to in [f"{at}.keras", f"{at}.h5", f"{at}.weights.h5", f"{at}.npz", f"{at}.safetensors", folder / name.replace(".", "_")]:
        run("convert", keras / name, to)
        listed = json.loads(run("checkpoint", "list", to, "--json"))
        expect(any(v == {"dtype": "float32", "shape": [2, 2]} for v in listed.values()), f"{name} as {to}: {listed}")
        run("convert", keras / name, to, status=1)
    run("convert", f"{at}.keras", f"{at}.again.h5")
    run("convert", f"{at}.again.h5", f"{at}.again/")
    if name != "keras2.h5": expect(served(f"{at}.again") == [14.0, 26.0], f"{name}: through .keras and .h5")
listed = json.loads(run("checkpoint", "list", folder / "lines_keras", "--json"))
expect("optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE" in listed, f"a checkpoint of a model, not of arrays: {sorted(listed)}")
listed = json.loads(run("checkpoint", "list", folder / "lines.keras.npz", "--json"))
expect(set(listed) == {"lines/line/kernel", "lines/line/bias"}, f"weights by their paths: {sorted(listed)}")
run("convert", keras / "lines.keras", folder / "by_path.npz", "--arrays")
expect("layers/dense/vars/0" in run("checkpoint", "list", folder / "by_path.npz"), "arrays by their paths in the file")
run("convert", keras / "lines.weights.h5", folder / "w.npz")
expect("no model" in run("convert", keras / "lines.weights.h5", folder / "w.keras", status=1), "weights are no model")
damaged = (keras / "lines.keras").read_bytes()
(folder / "damaged.keras").write_bytes(damaged[: len(damaged) // 2])
expect("damaged.keras" in run("convert", folder / "damaged.keras", folder / "x.h5", status=1), "a damaged archive is named")
(folder / "picture.keras").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
expect("picture.keras" in run("convert", folder / "picture.keras", folder / "x.h5", status=1), "a file of another kind is named")
expect("no_such" in run("convert", folder / "no_such.keras", folder / "x.h5", status=1), "a file that is not there is named")
expect(not (folder / "x.h5").exists(), "nothing is written")

# one array; SavedModels as text
(folder / "one.npy").write_bytes(npy("<f4", (3,), struct.pack("<3f", 1, 2, 3)))
expect(json.loads(run("checkpoint", "show", folder / "one.npy", "one", "--json"))["elements"] == [1, 2, 3], ".npy")
run("convert", folder / "one.npy", folder / "one.npz")
run("convert", folder / "one.npz", folder / "two.npy")
expect((folder / "two.npy").read_bytes()[-12:] == struct.pack("<3f", 1, 2, 3), ".npy, written")
expect("one array" in run("convert", folder / "arrays.npz", folder / "many.npy", status=1), "an .npy file holds one array")
(folder / "text").mkdir()
run("convert", kinds / "saved_model.pb", folder / "text" / "saved_model.pbtxt")
run("convert", folder / "text" / "saved_model.pbtxt", folder / "text" / "saved_model.pb")
expect("serving_default" in (folder / "text" / "saved_model.pbtxt").read_text(), "a SavedModel as text")
run("convert", golden / "graph_def" / "function.pb", folder / "graph.pbtxt")
run("convert", folder / "graph.pbtxt", folder / "graph.pb")
run("convert", golden / "graph_def" / "function.pb", folder / "graph.npz", status=1)

# convert: a signature of a SavedModel as a frozen graph
froze = json.loads(run("convert", kinds, folder / "frozen.pb", "--json"))
expect(froze["inputs"] == {"x": "x:0"} and froze["outputs"] == {"output_0": "output_0:0"}, f"names of the frozen graph: {froze}")
shown = run("graph", "show", folder / "frozen.pb")
expect("MatMul" in shown and "VarHandleOp" not in shown and "ReadVariableOp" not in shown, "a frozen graph has no variables")
expect("x is x:0" in run("convert", kinds, folder / "frozen.pbtxt", "--signature", "serving_default"), "as text")
expect("available: serving_default, words" in run("convert", kinds, folder / "f.pb", "--signature", "other", status=1), "signatures")
expect("words" in (said := run("convert", kinds, folder / "f.pb", "--signature", "words", status=1)) and "table" in said,
       "what cannot be frozen is named")
expect(not (folder / "f.pb").exists(), "nothing is written then")
expect("B ends in /" in run("convert", keras / "lines.keras", folder / "f.pb", status=1), "a Keras model is exported first")

# graph
expect("MatMul" in run("graph", "show", kinds, "--function", "serving_default"), "graph show")
expect(run("graph", "dot", kinds).startswith("digraph"), "graph dot")
expect("MatMul" in run("graph", "show", kinds / "saved_model.pb"), "the folder by its file")
node = b"\x0a\x01n\x12\x08NoSuchOp"
(folder / "unknown.pb").write_bytes(b"\x0a" + bytes([len(node)]) + node)
expect("= NoSuchOp()" in run("graph", "show", folder / "unknown.pb"), "ops that the library lacks are shown")
expect(json.loads(run("graph", "show", folder / "unknown.pb", "--json"))["ops"] == {"NoSuchOp": 1}, "and counted")
expect('label="NoSuchOp' in run("graph", "dot", folder / "unknown.pb"), "and drawn")
(folder / "bad.pb").write_bytes(b"\x0a\xff\xff\xff\xff\x0f")
expect("bad.pb" in run("graph", "show", folder / "bad.pb", status=1), "a damaged graph is named")

# bench
measured = json.loads(run("bench", kinds, "--seconds", "0.05", "--json"))
expect(measured["calls"] >= 10 and measured["median_ms"] > 0, "bench")
plan = measured["memory_plan"]
expect(plan["predicted_peak_bytes"] == plan["held_bytes"] + plan["arena_bytes"] + plan["results_bytes"] > 0, f"memory plan: {plan}")
expect("planned: peak" in run("bench", kinds, "--seconds", "0.01"), "bench as text")

print("cli: " + ("ok" if failures == 0 else f"{failures} failures"))
sys.exit(failures != 0)
