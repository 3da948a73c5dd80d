"""Test cases of ops, written once: run live against TensorFlow, and kept as goldens for the C++ tests.

    case("MatMul", inputs=[f((3, 4)), f((4, 5))], attrs=dict(transpose_a=False))

is one call of the raw op. Inputs stand in the order of TensorFlow's OpDef, attributes carry its names
(`schema("MatMul")` prints them; T, N and the like are inferred from the inputs and never written).

Inputs (values.py): f(shape) float32, rnd(shape, dtype, domain), i(shape, lo, hi), b(shape), s([...]) strings,
  lit([0, 1]) the very values (int32), distinct(shape), special(dtype) NaN and friends. Domains: "normal",
  "positive", "unit", "inside" (-1, 1), "above_one", "nonzero", "off_integer", "wide", or (lo, hi).
  A Python list is a list input (`N * T`): case("AddN", inputs=[[f((2,)), f((2,))]]).
  var(spec) is a fresh resource variable with that value; its value after the op is compared too.
  call(op, inputs, attrs, output=0) feeds one output of another op: resources, variants, short chains.
Everything random is seeded by op, label and position. The label is made from dtypes, shapes and attrs; give
one where that would not tell two cases apart.

Keywords of case():
  grad     None: gradients of all float leaves if TensorFlow has a gradient for the op; (): none; (0, 2): these
           leaves (tensors and variables in order, depth first).
  smooth   True if numeric derivatives make sense at these values (default: True unless grad=() or a special
           value is in the inputs). False for steps, kinks and ties.
  tol      Tol(ulp=..., abs_ulp=..., scaled=..., rtol=..., atol=..., grad=...): allowed error is
           (ulp*eps + rtol)*|want| + abs_ulp*eps*scale + atol, eps by dtype, scale = max|want|, not above 1
           unless scaled (sums, products: the error follows the largest term). grad multiplies it for gradients.
  golden   True: always in the golden file; False: live only; None: the harness keeps a few small ones an op.
  error    True: TensorFlow must raise, and so must Rewind.
  check    "values", "shape" (random: dtype and shape only), "abs" (sign is free); or a list, one per output.

Sweeps: `for t in dtypes("Abs"): case("Abs", inputs=[rnd((2, 3), t)])` takes every dtype of the OpDef; narrow it
with dtypes("Abs", among=FLOATS) and another attribute with dtypes("Sum", attr="Tidx"). A dtype for which
TensorFlow has no CPU kernel is skipped by itself. RANKS has one shape per rank 0..5, EMPTY shapes without
elements. elementwise.py has elementwise_unary and elementwise_binary, which sweep all of this.
"""
import dataclasses
import functools
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry, ops

from values import (COMPLEX, FLOATS, INTS, NUMBERS, SIGNED, UNSIGNED, Literal, Spec, b, distinct, f, i,
                    is_differentiable, is_float, lit, numpy_type, rnd, s, special)

RANKS = [(), (5,), (2, 3), (2, 3, 2), (2, 1, 3, 2), (1, 2, 2, 1, 3)]
EMPTY = [(0,), (0, 3), (2, 0, 3)]

CASES = []  # every registered case, in order
_labels = {}
_family = [None]


@dataclasses.dataclass(frozen=True)
class Tol:
    ulp: float = 16
    abs_ulp: float = 1
    scaled: bool = False
    rtol: float = 0
    atol: float = 0
    grad: float = 4


SUMS = Tol(ulp=16, abs_ulp=16, scaled=True)  # reductions, matrix products, convolutions


@dataclasses.dataclass
class Var:
    spec: object
    dtype = "resource"


@dataclasses.dataclass
class Call:
    op: str
    inputs: list
    attrs: dict
    output: int = 0


def var(spec):
    return Var(spec)


def call(op, inputs=(), attrs=None, output=0):
    return Call(op, list(inputs), dict(attrs or {}), output)


@dataclasses.dataclass
class Case:
    op: str
    label: str
    inputs: list
    attrs: dict
    grad: object
    smooth: bool
    tol: Tol
    golden: object
    error: bool
    check: object
    family: str

    @property
    def name(self):
        return f"{self.op} [{self.label}]"

    def rng(self, where):
        return np.random.default_rng(zlib.crc32(f"{self.op}/{self.label}/{where}".encode()))


@functools.cache
def opdef(op):
    d = op_def_registry.get(op)
    if d is None: raise ValueError(f"TensorFlow has no op {op}")
    return d


def schema(op):
    from schema import row_of
    return row_of(opdef(op))


@functools.cache
def has_gradient(op):
    """True also for ops marked as not differentiable: their gradient is known to be none."""
    try:
        ops.gradient_registry.lookup(op)
        return True
    except LookupError:
        return False


def dtype_name(enum):
    return tf.as_dtype(enum).name


def dtypes(op, attr="T", among=NUMBERS):
    """The dtypes that the op's type attribute allows, in the order of `among`."""
    for a in opdef(op).attr:
        if a.name == attr:
            allowed = {types_pb2.DataType.Name(t) for t in a.allowed_values.list.type}
            if not a.HasField("allowed_values"): return list(among)
            return [t for t in among if types_pb2.DataType.Name(tf.as_dtype(t).as_datatype_enum) in allowed]
    raise ValueError(f"{op} has no attribute {attr}")


def _brief(x):
    if isinstance(x, list): return "[" + ",".join(map(_brief, x)) + "]"
    if isinstance(x, Var): return "var " + _brief(x.spec)
    if isinstance(x, Call): return f"{x.op}({','.join(map(_brief, x.inputs))})"
    if isinstance(x, Literal) and x.value.size <= 6: return str(x.value.tolist()).replace(" ", "")
    return f"{x.dtype}{list(x.shape)}".replace(" ", "")


def _has_special(x):
    if isinstance(x, list): return any(map(_has_special, x))
    if isinstance(x, Var): return _has_special(x.spec)
    if isinstance(x, Call): return any(map(_has_special, x.inputs))
    return isinstance(x, Literal) and is_differentiable(x.dtype) and not np.isfinite(x.value).all()


def case(op, inputs=(), attrs=None, *, label=None, grad=None, smooth=None, tol=None, golden=None, error=False,
         check="values"):
    attrs = dict(attrs or {})
    inputs = list(inputs)
    for k in attrs:
        if k not in {a.name for a in opdef(op).attr}: raise ValueError(f"{op} has no attribute {k}")
    if len(inputs) != len(opdef(op).input_arg):
        raise ValueError(f"{op} takes {len(opdef(op).input_arg)} inputs, the case has {len(inputs)}")
    if label is None:
        label = " ".join([",".join(map(_brief, inputs))] + [f"{k}={v}" for k, v in attrs.items()]).strip()
    count = _labels.setdefault((op, label), 0)
    _labels[(op, label)] += 1
    if count: label += f" #{count + 1}"
    if smooth is None: smooth = grad != () and not any(map(_has_special, inputs))
    CASES.append(Case(op, label, inputs, attrs, grad, smooth and not error, tol or Tol(), golden, error, check,
                      _family[0]))


def load_family(name):
    """Imports cases/<name>.py and returns its cases."""
    import importlib
    start = len(CASES)
    _family[0] = name
    importlib.import_module(f"cases.{name}")
    return CASES[start:]
