"""Runs a case in TensorFlow, eagerly and by raw op name, with its gradient from GradientTape.

A case becomes a tree of Nodes with concrete arrays and complete attributes first: the wire form and
TensorFlow's call are both read from that tree.
"""
import dataclasses

import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import tensor_util

from case import Call, Var, dtype_name, has_gradient, is_differentiable, opdef
from wire import Result


class NoKernel(Exception):
    """TensorFlow has no CPU kernel for these dtypes: nothing to compare with."""


@dataclasses.dataclass
class Leaf:
    kind: str  # tensor, variable or call
    dtype: str
    value: object = None
    node: object = None
    output: int = 0


@dataclasses.dataclass
class Node:
    op: str
    flat: list        # Leafs, list inputs flattened
    wire_attrs: list  # (name, inferred, kind, value): those given or inferred
    tf_attrs: tuple   # all attributes, flat (name, value, ...), as TFE_Py_Execute takes them
    out_dtypes: list

    @property
    def value_attr(self):
        return next(v for name, _, _, v in self.wire_attrs if name == "value")


def _attr_python(kind, v):
    """A case's attribute value in the form both sides share: types are enum numbers, strings bytes."""
    if kind.startswith("list("): return [_attr_python(kind[5:-1], x) for x in v]
    if kind == "type": return tf.as_dtype(v).as_datatype_enum
    if kind == "string": return v.encode() if isinstance(v, str) else v
    if kind == "shape": return None if v is None else [None if d in (-1, None) else int(d) for d in v]
    if kind == "tensor": return np.asarray(v)
    return {"int": int, "float": float, "bool": bool}[kind](v)


def _attr_default(kind, v):
    if kind.startswith("list("):
        field = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "type", "shape": "shape"}[kind[5:-1]]
        return [_proto_shape(x) if field == "shape" else x for x in getattr(v.list, field)]
    field = v.WhichOneof("value")
    if field == "shape": return _proto_shape(v.shape)
    return getattr(v, field)


def _proto_shape(p):
    return None if p.unknown_rank else [None if d.size < 0 else d.size for d in p.dim]


def build(c):
    """The Node tree of a case, with its random values drawn."""
    counter = [0]

    def leaf(x):
        if isinstance(x, Call):
            node = make(x.op, x.inputs, x.attrs)
            return Leaf("call", node.out_dtypes[x.output], node=node, output=x.output)
        counter[0] += 1
        spec = x.spec if isinstance(x, Var) else x
        value = spec.make(c.rng(counter[0]))
        return Leaf("variable" if isinstance(x, Var) else "tensor", spec.dtype, value)

    def make(op, inputs, attrs):
        d = opdef(op)
        inferred, flat = {}, []
        for arg, x in zip(d.input_arg, inputs):
            leaves = [leaf(y) for y in x] if isinstance(x, list) else [leaf(x)]
            flat += leaves
            if arg.number_attr: inferred[arg.number_attr] = len(leaves)
            types = [tf.as_dtype("resource" if y.kind == "variable" else y.dtype).as_datatype_enum for y in leaves]
            if arg.type_list_attr: inferred[arg.type_list_attr] = types
            elif arg.type_attr and types: inferred[arg.type_attr] = types[0]
        given = {a.name: _attr_python(a.type, attrs[a.name]) for a in d.attr if a.name in attrs}
        wire_attrs, full = [], {}
        for a in d.attr:
            if a.name in given: full[a.name] = given[a.name]
            elif a.name in inferred: full[a.name] = inferred[a.name]
            elif a.HasField("default_value"): full[a.name] = _attr_default(a.type, a.default_value); continue
            else: continue
            wire_attrs.append((a.name, a.name not in given, a.type, full[a.name]))
        outs = []
        for arg in d.output_arg:
            if arg.type_list_attr: outs += full[arg.type_list_attr]
            else: outs += [full[arg.type_attr] if arg.type_attr else arg.type] * (
                full[arg.number_attr] if arg.number_attr else 1)
        tf_attrs = []
        for a in d.attr:
            if a.name not in full: continue
            v = full[a.name]
            if a.type == "tensor" and isinstance(v, np.ndarray): v = tensor_util.make_tensor_proto(v)
            tf_attrs += [a.name, v]
        return Node(op, flat, wire_attrs, tuple(tf_attrs), [dtype_name(t) for t in outs])

    return make(c.op, c.inputs, c.attrs)


def leaves_of(node):
    """Tensors and variables in order, depth first."""
    for x in node.flat:
        if x.kind == "call": yield from leaves_of(x.node)
        else: yield x


def ops_of(node):
    yield node.op
    for x in node.flat:
        if x.kind == "call": yield from ops_of(x.node)


def ops_between(node):
    """Ops that a differentiable leaf feeds, directly or not."""
    if any(is_differentiable(x.dtype) for x in leaves_of(node)): yield node.op
    for x in node.flat:
        if x.kind == "call": yield from ops_between(x.node)


def wanted_leaves(c, node):
    if c.error or c.grad == (): return []
    if c.grad is not None: return list(c.grad)
    if not all(has_gradient(op) for op in ops_between(node)): return []
    if not any(is_differentiable(t) for t in node.out_dtypes): return []
    return [k for k, x in enumerate(leaves_of(node)) if is_differentiable(x.dtype)]


def output_gradients(c, outputs):
    dys = []
    for k, y in enumerate(outputs):
        if y.dtype.name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
            r = c.rng(f"dy{k}")
            v = r.standard_normal(y.shape)
            if y.dtype.is_complex: v = v + 1j * r.standard_normal(y.shape)
            dys.append(np.asarray(v).astype(y.dtype.as_numpy_dtype))
        else:
            dys.append(None)
    return dys


def execute_node(node, values):
    ins = []
    for x in node.flat:
        if x.kind == "call": ins.append(execute_node(x.node, values)[x.output])
        else:
            v = next(values)
            ins.append(v.handle if isinstance(v, tf.Variable) else v)
    if node.op == "AccumulateNV2": return [tf.add_n(ins)]  # a graph rewrite in TensorFlow: it has no kernel
    if node.op == "Const": return [tf.constant(node.value_attr)]  # TensorFlow does not execute it eagerly
    ctx = context.context()
    ctx.ensure_initialized()
    out = pywrap_tfe.TFE_Py_Execute(ctx._handle, None, node.op, ins, node.tf_attrs, len(node.out_dtypes))
    execute.record_gradient(node.op, ins, node.tf_attrs, out)
    return out


def _host(y):
    return None if y.dtype.name in ("resource", "variant") else np.asarray(y.numpy(), object if y.dtype == tf.string else None)


def run(c, node):
    """(Result, output gradients, wanted leaves, whether TensorFlow has a gradient for it)."""
    wanted = wanted_leaves(c, node)
    leaves = list(leaves_of(node))
    values = [tf.Variable(x.value) if x.kind == "variable" else tf.constant(x.value, x.dtype) for x in leaves]
    try:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            for k in wanted: tape.watch(values[k])
            outputs = execute_node(node, iter(values))
    except Exception as e:  # TensorFlow raises OpErrors, ValueError and TypeError for a bad call
        text = str(e)
        if isinstance(e, (tf.errors.NotFoundError, tf.errors.UnimplementedError)) and not c.error:
            raise NoKernel(text.splitlines()[0]) from None
        return Result(error=type(e).__name__, message=text.splitlines()[0] if text else ""), [], [], False
    host = [_host(y) for y in outputs] + [_host(v.value()) for v in values if isinstance(v, tf.Variable)]
    dys, grads, known = [], [], False
    if wanted:
        dys = output_gradients(c, outputs)
        use = [k for k, d in enumerate(dys) if d is not None]
        try:
            got = tape.gradient([outputs[k] for k in use], [values[k] for k in wanted],
                                output_gradients=[tf.constant(dys[k]) for k in use])
            grads = [None if g is None else _host(tf.convert_to_tensor(g)) for g in got]
            known = any(g is not None for g in grads)
        except Exception as e:
            if c.grad is not None: raise
            dys, wanted = [], []  # no gradient for this variant of the op in TensorFlow
            del e
    return Result(host, grads), dys, wanted, known


def differentiable_twice(c, node, dys, wanted):
    """Whether TensorFlow can differentiate the gradient of the case once more."""
    if not wanted: return False
    values = [tf.Variable(x.value) if x.kind == "variable" else tf.constant(x.value, x.dtype) for x in leaves_of(node)]
    sources = [values[k] for k in wanted]
    use = [k for k, d in enumerate(dys) if d is not None]
    try:
        with tf.GradientTape(watch_accessed_variables=False) as outer:
            outer.watch(sources)
            with tf.GradientTape(watch_accessed_variables=False) as inner:
                inner.watch(sources)
                outputs = execute_node(node, iter(values))
            first = inner.gradient([outputs[k] for k in use], sources, output_gradients=[tf.constant(dys[k]) for k in use])
        outer.gradient([tf.convert_to_tensor(g) for g in first if g is not None], sources)
        return True
    except Exception:  # an op of the gradient has none itself: LookupError, or what its rule raises
        return False
