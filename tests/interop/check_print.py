"""Compares Tensor::to_string and Tensor::repr with TensorFlow's print(t) and repr(t), on many arrays."""
import ctypes
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import rewind_side  # noqa: E402

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def text_of(rewind, t, as_repr):
    flat = list(t.numpy().reshape(-1)) if t.dtype == tf.string and t.shape.rank else [t.numpy()]
    dims = (ctypes.c_int64 * max(1, t.shape.rank))(*t.shape)
    lengths = None
    if t.dtype == tf.string:
        lengths = (ctypes.c_int64 * max(1, len(flat)))(*map(len, flat))
        data = b"".join(flat)
    else:
        data = np.ascontiguousarray(t.numpy()).tobytes()
    fn = rewind.lib.rw_tensor_text
    fn.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int,
                   ctypes.POINTER(rewind.out), ctypes.POINTER(ctypes.c_size_t)]
    return rewind._reply(fn, t.dtype.as_datatype_enum, dims, t.shape.rank, data, lengths, as_repr)[1].decode()


def arrays():
    rng = np.random.default_rng(7)
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e-3, 1e-4, 9.9e-5, 1e5, 999999.0, 1e6, 1e7, 1e8, 1e16, 1e-10, 123456.789, 1 / 3, 2 / 3, 1e22, 1e-5, 65504.0, 100.0, 1000.0,
               0.1, 0.30000001192092896, 1e15, 9999999.0, 5e-324, 1.7976931348623157e308, 3.4028235e38, 1.1754944e-38, 6e-8, 1e100, 12345678.9]
    shapes = [(), (1,), (3,), (0,), (0, 3), (2, 0), (7,), (2, 3), (3, 2, 2), (2, 1, 2, 2), (1, 1, 1), (30,), (5, 30), (1001,), (40, 40), (3, 400), (11, 10, 10), (1000,), (4, 300), (8, 8, 20), (2, 2, 2, 2, 80)]
    for t in FLOATS:
        for x in special:
            with np.errstate(all="ignore"): yield tf.constant(x, t)
            for y in special[:14]:
                with np.errstate(all="ignore"): yield tf.cast(tf.constant(np.array([x, y])), t)
        for shape in shapes:
            for scale in [1, 1e-3, 1e3, 1e5, 1e-7, 3e8]:
                yield tf.cast(tf.constant(rng.standard_normal(shape) * scale), t)
            yield tf.cast(tf.constant(np.round(rng.standard_normal(shape) * 4)), t)
            yield tf.cast(tf.constant(rng.choice(np.array(special), shape)), t)
            yield tf.cast(tf.constant(rng.choice([1.0, 2.5, np.nan, -np.inf], shape)), t)
            yield tf.cast(tf.constant(10.0 ** rng.uniform(-3, 3, shape)), t)
            yield tf.zeros(shape, t)
    for x in [np.nan, np.inf, -np.inf]:
        yield tf.constant([x, x])
    yield tf.constant([np.nan, -np.inf])
    yield tf.constant([np.inf, np.nan, 1.0])
    for t in INTS:
        for shape in shapes:
            info = np.iinfo(t)
            yield tf.constant(rng.integers(max(info.min, -9), 10, shape), t)
            yield tf.constant(rng.integers(info.min, info.max, shape, dtype=t, endpoint=True))
    for shape in shapes:
        yield tf.constant(rng.integers(0, 2, shape).astype(bool))
        words = [b"", b"a", b"it's", b'say "x"', b"both ' and \"", b"\x00\xff\n\t\r\\", b"longer words here", "\u00e9".encode()]
        n = int(np.prod(shape))
        yield tf.constant(np.array([words[k] for k in rng.integers(0, len(words), n)] + [b""], dtype=object)[:-1].reshape(shape) if n else np.zeros(shape, "S1"))
    for v in range(0, 65536, 3):
        yield tf.constant(np.array([v], np.uint16).view(np.float16)[0])
    for _ in range(3000):
        yield tf.constant(rng.integers(0, 2**32, 1, dtype=np.uint32).view(np.float32))
        yield tf.constant(rng.integers(0, 2**64 - 1, 2, dtype=np.uint64).view(np.float64))
        yield tf.constant(rng.integers(0, 2**32, 1, dtype=np.uint32).view(np.float32)[0])


def main():
    rewind = rewind_side.Rewind(rewind_side.find_library())
    checked = failed = 0
    for t in arrays():
        for as_repr in (0, 1):
            want, got = (repr(t) if as_repr else str(t)), text_of(rewind, t, as_repr)
            checked += 1
            if want == got: continue
            failed += 1
            if failed <= int(os.environ.get("SHOW", 8)): print(f"--- want\n{want}\n--- got\n{got}")
    print(f"{checked} texts compared, {failed} differ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
