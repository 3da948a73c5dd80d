"""Writes tests/golden/hdf5/: small files of h5py's, in the oldest and the newest form, for tests that run without it.

    make_hdf5.py          with a Python that has h5py and ml_dtypes

Element i of an array of numbers is (7 i + 3) mod 97, of booleans that mod 2.
"""
import pathlib

import h5py
import ml_dtypes
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden" / "hdf5"
DTYPES = ["bool", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4",
          "<f8", ">f8", "<c8", ">c8", "<c16", "bfloat16"]


def values(shape, dtype="<f4"):
    v = (7 * np.arange(int(np.prod(shape))) + 3) % 97
    if dtype == "bool": return (v % 2).astype(bool).reshape(shape)
    return v.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype).reshape(shape)


def types(f):
    for dtype in DTYPES: f[f"types/{dtype}"] = values((2, 3), dtype)
    f["types/scalar"] = np.float32(3)
    f["types/empty"] = np.zeros((0, 3), "f4")
    f.create_dataset("types/null", data=h5py.Empty("f4"))
    f["named"] = np.dtype("<i4")
    f.create_dataset("types/committed", data=values((5,), "<i4"), dtype=f["named"])
    f.create_dataset("types/compound", data=np.zeros(2, [("a", "i4"), ("b", "f8")]))
    f["strings/fixed"] = np.array([b"ab", b"c", b""])
    f["strings/variable"] = ["é", "x", "", "long" * 50]
    f["soft"] = h5py.SoftLink("/types/scalar")
    f["external"] = h5py.ExternalLink("other.h5", "/x")


def attributes(f):
    f.attrs.update({"text": "ü", "bytes": b"bytes", "empty": [], "list": [b"a", b"bcd"], "integer": np.int32(-7)})
    f.attrs["fixed"] = np.array([b"a", b"bcd"])
    f.attrs["array"] = values((10,), ">i2")
    f.attrs["é"] = 2.5
    g = f.create_group("attributes")
    for i in range(20): g.attrs[f"a{i}"] = np.arange(i)


def chunks(f):
    c = f.create_group("chunks")

    def add(name, shape, size, dtype="<f4", **options):
        c.create_dataset(name, data=values(shape, dtype), chunks=size, **options)
    add("plain", (10, 7), (4, 3))
    add("one", (10, 7), (10, 7))
    add("one_deflated", (10, 7), (10, 7), compression="gzip")
    add("deflated", (20, 13), (8, 5), compression="gzip", shuffle=True, fletcher32=True)
    add("big_endian", (20, 13), (8, 5), ">i4", compression="gzip", shuffle=True)
    add("summed", (21, 3), (7, 3), "u1", fletcher32=True)
    add("growing", (40, 5), (7, 2), maxshape=(None, 5))
    add("growing_second", (5, 40), (2, 1), maxshape=(5, None), compression="gzip")
    add("growing_both", (20, 30), (3, 2), maxshape=(None, None))
    add("growing_both_deflated", (20, 30), (5, 7), maxshape=(None, None), compression="gzip")
    add("limited", (10, 5), (3, 2), maxshape=(20, 30))
    add("paged", (1100,), (1,), "u1")
    d = c.create_dataset("sparse", (30, 30), chunks=(10, 10), dtype="f4", fillvalue=2.5)
    d[15:25, 15:25] = 1
    d = c.create_dataset("far", (2_000_000,), chunks=(10,), maxshape=(None,), dtype="i1", fillvalue=-1)
    d[1_999_995:] = 7
    d = c.create_dataset("shrunk", data=values((40,)), chunks=(10,), maxshape=(None,))
    d.resize((17,))
    c.create_dataset("unwritten", (5, 5), dtype="f8", fillvalue=4.0)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    raw(c, "compact", properties, values((5,), "<i4"))
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((3,))
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    raw(c, "implicit", properties, values((20,), "<i4"))
    c.create_dataset("lzf", data=values((20,)), chunks=(10,), compression="lzf")


def raw(group, name, properties, data):
    space = h5py.h5s.create_simple(data.shape)
    array = h5py.h5d.create(group.id, name.encode(), h5py.h5t.NATIVE_INT32, space, properties)
    array.write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def many(f):
    for i in range(120): f[f"many/v{i}"] = np.int16(i)


for version in ["earliest", "latest"]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with h5py.File(FOLDER / f"{version}.h5", "w", libver=version) as f:
        for part in (types, attributes, chunks, many): part(f)
        if version == "latest": f["attributes"].attrs["huge"] = values((70_000,), "u1")
with h5py.File(FOLDER / "user_block.h5", "w", userblock_size=512) as f: f["a"] = values((4,), "<i4")
print("\n".join(f"{p.name} {p.stat().st_size}" for p in sorted(FOLDER.iterdir())))
