"""numpy's files both ways, by the command line: what numpy wrote comes back from Rewind as it was.

    check_numpy.py BUILD_FOLDER    (with a Python that has numpy and ml_dtypes)
"""
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

rewind = pathlib.Path(sys.argv[1]) / "cli" / "rewind"
folder = pathlib.Path(tempfile.mkdtemp())


def convert(a, b):
    done = subprocess.run([rewind, "convert", a, b, "--overwrite"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip()[-300:]


def numbers(dtype, *shape):
    v = np.arange(int(np.prod(shape))).reshape(shape) % 5
    return (v % 2 if dtype == "?" else v - 1 if np.dtype(dtype).kind in "if" else v).astype(dtype)


arrays = {}
for dtype in ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]:
    for shape in [(), (0,), (3,), (2, 3), (2, 1, 4)]:
        name = f"{np.dtype(dtype).name}_{'x'.join(map(str, shape)) or 'scalar'}"
        arrays[name] = numbers(dtype, *shape)
        arrays[name + "_swapped"] = numbers(dtype, *shape).astype(np.dtype(dtype).newbyteorder(">"))
        arrays[name + "_fortran"] = np.asfortranarray(numbers(dtype, *shape))
arrays["special"] = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])
arrays["bfloat16"] = np.array([1, -2.5, 3e38]).astype(ml_dtypes.bfloat16)
arrays["bytes"] = np.array([b"a", b"", b"longer"])
arrays["characters"] = np.array([["a", "äöü"], ["", "\N{GRINNING FACE}"]])
for save, name in [(np.savez, "stored"), (np.savez_compressed, "deflated")]:
    save(folder / f"{name}.npz", **arrays)
    error = convert(folder / f"{name}.npz", folder / "again.npz")
    check(name, not error, error)
    if error: continue
    again = np.load(folder / "again.npz")
    check(f"{name}: names", set(again.files) == set(arrays), str(set(again.files) ^ set(arrays)))
    for key in again.files:
        got, want = again[key], arrays[key]
        if want.dtype.kind == "U": want = np.char.encode(want, "utf-8")  # strings come back as bytes
        if want.dtype == ml_dtypes.bfloat16: got, want = got.view("u2"), want.view("u2")
        kind = want.dtype.newbyteorder("=") if want.dtype.kind != "S" else got.dtype
        same = got.shape == want.shape and got.dtype == kind and np.array_equal(got, want, equal_nan=want.dtype.kind in "fc")
        check(f"{name}: {key}", same, f"{got.dtype}{got.shape} {got.ravel()[:4]} for {want.dtype}{want.shape} {want.ravel()[:4]}")
for key in ["float32_2x3_fortran", "int64_scalar", "bool_3", "characters"]:
    np.save(folder / "one.npy", arrays[key])
    error = convert(folder / "one.npy", folder / "back.npy")
    back = None if error else np.load(folder / "back.npy")
    want = np.char.encode(arrays[key], "utf-8") if key == "characters" else arrays[key]
    check(f".npy: {key}", not error and back.shape == want.shape and np.array_equal(back, want), error)
np.save(folder / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
error = convert(folder / "pickled.npy", folder / "x.npz")
check("pickled objects are refused", "pickled.npy" in error and not (folder / "x.npz").exists(), error)
np.save(folder / "cut.npy", arrays["float32_2x3"])
(folder / "cut.npy").write_bytes((folder / "cut.npy").read_bytes()[:-3])
error = convert(folder / "cut.npy", folder / "x.npz")
check("a cut file is refused", "cut.npy" in error, error)
print("\n".join(failed))
print(f"numpy: {tally.count - len(failed)} checks agree, {len(failed)} differ")
sys.exit(bool(failed))
