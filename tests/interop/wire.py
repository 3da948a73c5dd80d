"""Bytes of cases and results, as drawn at the top of tests/support/case_io.h (little endian)."""
import struct

import numpy as np
import tensorflow as tf

KINDS = {"int": 0, "float": 1, "bool": 2, "string": 3, "type": 4, "shape": 5, "tensor": 6}
CHECKS = {"values": 0, "shape": 1, "abs": 2}
SMOOTH, EXPECT_ERROR, DIFFERENTIABLE, SCALED, TWICE = 1, 2, 4, 8, 16


class Writer:
    def __init__(self):
        self.parts = []

    def put(self, fmt, *v):
        self.parts.append(struct.pack("<" + fmt, *v))

    def text(self, v):
        v = v.encode() if isinstance(v, str) else v
        self.put("I", len(v))
        self.parts.append(v)

    def tensor(self, x, dtype):
        self.put("II", tf.as_dtype(dtype).as_datatype_enum, x.ndim)
        self.put(f"{x.ndim}q", *x.shape)
        if dtype == "string":
            for v in x.reshape(-1): self.text(v)
        else:
            self.parts.append(np.ascontiguousarray(x).tobytes())

    def maybe(self, x):
        self.put("B", x is not None)
        if x is not None: self.tensor(x, name_of(x))

    def bytes(self):
        return b"".join(self.parts)


def name_of(x):
    return "string" if x.dtype == object else tf.as_dtype(x.dtype).name


def put_scalar(w, kind, v):
    if kind == "int": w.put("q", v)
    elif kind == "float": w.put("d", v)
    elif kind == "bool": w.put("B", v)
    elif kind == "string": w.text(v)
    elif kind == "type": w.put("I", v)
    elif kind == "shape":
        w.put("i", -1 if v is None else len(v))
        if v is not None: w.put(f"{len(v)}q", *[-1 if d is None else d for d in v])
    elif kind == "tensor": w.tensor(v, name_of(v))
    else: raise ValueError(f"attribute kind {kind} has no wire form")


def put_attr(w, name, inferred, kind, v):
    w.text(name)
    w.put("B", inferred)
    if kind.startswith("list("):
        inner = kind[5:-1]
        w.put("BI", 16 + KINDS[inner], len(v))
        for x in v: put_scalar(w, inner, x)
    else:
        w.put("B", KINDS[kind])
        put_scalar(w, kind, v)


def put_call(w, node):
    w.text(node.op)
    w.put("I", len(node.wire_attrs))
    for a in node.wire_attrs: put_attr(w, *a)
    w.put("I", len(node.flat))
    for x in node.flat:
        if x.kind == "tensor": w.put("B", 0); w.tensor(x.value, x.dtype)
        elif x.kind == "variable": w.put("B", 1); w.tensor(x.value, x.dtype)
        else: w.put("B", 2); put_call(w, x.node); w.put("I", x.output)


def case_bytes(c, node, dys, wanted, differentiable, twice=False):
    w = Writer()
    flags = (SMOOTH * bool(c.smooth) | EXPECT_ERROR * bool(c.error) | DIFFERENTIABLE * bool(differentiable) |
             SCALED * bool(c.tol.scaled) | TWICE * bool(twice))
    w.text(c.label)
    w.put("I", flags)
    w.put("5d", c.tol.ulp, c.tol.abs_ulp, c.tol.rtol, c.tol.atol, c.tol.grad)
    checks = [c.check] if isinstance(c.check, str) else list(c.check)
    w.put("I", len(checks))
    for k in checks: w.put("B", CHECKS[k])
    put_call(w, node)
    w.put("I", len(dys))
    for d in dys: w.maybe(d)
    w.put("I", len(wanted))
    for k in wanted: w.put("I", k)
    return w.bytes()


class Result:
    """Outputs and gradients (numpy arrays or None), or an error class and its message."""

    def __init__(self, outputs=(), grads=(), error=None, message=""):
        self.outputs, self.grads, self.error, self.message = list(outputs), list(grads), error, message


def result_bytes(r):
    w = Writer()
    w.put("B", r.error is not None)
    if r.error is not None:
        w.text(r.error)
        w.text(r.message)
        return w.bytes()
    for part in (r.outputs, r.grads):
        w.put("I", len(part))
        for x in part: w.maybe(x)
    return w.bytes()


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def get(self, fmt):
        v = struct.unpack_from("<" + fmt, self.data, self.at)
        self.at += struct.calcsize("<" + fmt)
        return v

    def text(self):
        (n,) = self.get("I")
        v = self.data[self.at:self.at + n]
        self.at += n
        return v

    def tensor(self):
        dtype, rank = self.get("II")
        shape = self.get(f"{rank}q")
        n = int(np.prod(shape, dtype=np.int64))
        if dtype == tf.string.as_datatype_enum:
            x = np.empty(n, dtype=object)
            for k in range(n): x[k] = self.text()
            return x.reshape(shape)
        t = np.dtype(tf.as_dtype(dtype).as_numpy_dtype)
        x = np.frombuffer(self.data, t, n, self.at).reshape(shape)
        self.at += n * t.itemsize
        return x

    def maybe(self):
        return self.tensor() if self.get("B")[0] else None

    def result(self):
        if self.get("B")[0]:
            error = self.text().decode()
            return Result(error=error, message=self.text().decode(errors="replace"))
        outputs = [self.maybe() for _ in range(self.get("I")[0])]
        return Result(outputs, [self.maybe() for _ in range(self.get("I")[0])])
