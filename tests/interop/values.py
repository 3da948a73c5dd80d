"""Seeded values for test inputs.

A Spec describes one tensor; `make(rng)` draws it. The same Spec with the same generator gives the same
bytes on every machine, so a golden file is reproducible. All draws happen in float64 or int64 and are
then rounded to the dtype.
"""
import numpy as np
import tensorflow as tf

FLOATS = ["float32", "float64", "float16", "bfloat16"]
COMPLEX = ["complex64", "complex128"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTS = SIGNED + UNSIGNED
NUMBERS = FLOATS + COMPLEX + INTS


def numpy_type(dtype):
    return tf.as_dtype(dtype).as_numpy_dtype


def is_float(dtype):
    return dtype in FLOATS


def is_differentiable(dtype):
    return dtype in FLOATS or dtype in COMPLEX


# Each domain maps (rng, n) to float64 draws, and (rng, n, signed) to int64 draws.
def _signs(rng, n):
    return rng.choice([-1.0, 1.0], n)


FLOAT_DOMAINS = {
    "normal": lambda r, n: 1.5 * r.standard_normal(n),
    "positive": lambda r, n: r.uniform(0.1, 4.0, n),
    "unit": lambda r, n: r.uniform(0.02, 0.98, n),          # (0, 1)
    "inside": lambda r, n: r.uniform(-0.95, 0.95, n),       # (-1, 1)
    "above_one": lambda r, n: r.uniform(1.05, 4.0, n),
    "nonzero": lambda r, n: _signs(r, n) * r.uniform(0.3, 3.0, n),
    "off_integer": lambda r, n: r.integers(-3, 3, n) + r.uniform(0.2, 0.8, n),  # poles and steps at integers
    "wide": lambda r, n: _signs(r, n) * 10.0 ** r.uniform(-6, 4, n),
    "wide_positive": lambda r, n: 10.0 ** r.uniform(-6, 4, n),
    "distinct": lambda r, n: r.permutation(np.linspace(-2.0, 2.0, max(n, 2))[:n]) + 0.03125,
}

INT_DOMAINS = {
    "normal": lambda r, n, s: r.integers(-9 if s else 0, 10, n),
    "positive": lambda r, n, s: r.integers(1, 10, n),
    "unit": lambda r, n, s: r.integers(0, 2, n),
    "inside": lambda r, n, s: r.integers(-1 if s else 0, 2, n),
    "above_one": lambda r, n, s: r.integers(2, 10, n),
    "nonzero": lambda r, n, s: r.integers(1, 10, n) * (r.choice([-1, 1], n) if s else 1),
    "off_integer": lambda r, n, s: r.integers(1, 10, n),
    "wide": lambda r, n, s: r.integers(-100 if s else 0, 100, n),
    "wide_positive": lambda r, n, s: r.integers(1, 100, n),
    "distinct": lambda r, n, s: r.permutation(n) - (n // 2 if s else 0),
}


class Spec:
    """A tensor to be drawn: shape, dtype, and a domain (a name above, or (lo, hi), both inclusive for integers)."""

    def __init__(self, shape, dtype, domain):
        self.shape, self.dtype, self.domain = tuple(shape), dtype, domain

    def make(self, rng):
        n = int(np.prod(self.shape, dtype=np.int64))
        if self.dtype == "bool":
            x = rng.integers(0, 2, n)
        elif self.dtype in INTS:
            if isinstance(self.domain, str):
                x = INT_DOMAINS[self.domain](rng, n, self.dtype in SIGNED)
            else:
                x = rng.integers(self.domain[0], self.domain[1], n, endpoint=True)
        else:
            draw = (FLOAT_DOMAINS[self.domain] if isinstance(self.domain, str)
                    else lambda r, k: r.uniform(self.domain[0], self.domain[1], k))
            x = draw(rng, n)
            if self.dtype in COMPLEX: x = x + 1j * draw(rng, n)
        return np.asarray(x).reshape(self.shape).astype(numpy_type(self.dtype))


class Literal:
    """A tensor given by its values."""

    def __init__(self, value, dtype):
        if dtype == "string":
            flat = [v.encode() if isinstance(v, str) else bytes(v) for v in np.array(value, dtype=object).reshape(-1)]
            self.value = np.array(flat + [b""], dtype=object)[:-1].reshape(np.array(value, dtype=object).shape)
        else:
            with np.errstate(all="ignore"): self.value = np.asarray(value).astype(numpy_type(dtype))
        self.shape, self.dtype = self.value.shape, dtype

    def make(self, rng):
        return self.value


def rnd(shape, dtype="float32", domain="normal"):
    """Random values of any dtype; the domain bends to it (integers for integer dtypes, coin flips for bool)."""
    return Spec(shape, dtype, domain)


def f(shape=(), dtype="float32", domain="normal"):
    return Spec(shape, dtype, domain)


def i(shape=(), lo=0, hi=9, dtype="int32"):
    """Integers in [lo, hi]."""
    return Spec(shape, dtype, (lo, hi))


def b(shape=()):
    return Spec(shape, "bool", "unit")


def distinct(shape, dtype="float32"):
    """No two values equal (max, sort, top_k: the winner is never a tie)."""
    return Spec(shape, dtype, "distinct")


def lit(value, dtype="int32"):
    """Exactly these values; int32 unless told, which suits axes and shapes."""
    return Literal(value, dtype)


def s(value):
    return Literal(value, "string")


def special(dtype="float32", largest=True):
    """Values that break arithmetic: NaN, infinities, both zeros, halves, where exp overflows, the largest numbers."""
    x = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-3, -7.25, 88.0, -88.0, 1e4]
    info = tf.as_dtype(dtype)
    if dtype in FLOATS and largest: x += [float(info.max), -float(info.max)]
    return Literal(np.array(x), dtype)
