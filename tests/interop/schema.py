"""Op rows as text, and their comparison with TensorFlow's OpDefs.

    Sum(input: T, reduction_indices: Tidx) -> (output: T); keep_dims: bool = false; T: {float, int32}; stateful

Attribute: kind or {allowed values}, list(...) around it, then `>= minimum`, then `= default`.
"""
import re

from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

FLAGS = {"stateful", "commutative", "aggregate"}


def _type(n):
    return types_pb2.DataType.Name(n).replace("DT_", "").lower()


def _arg(a):
    t = a.type_attr or a.type_list_attr or _type(a.type)
    if a.number_attr: t = f"{a.number_attr} * {t}"
    return f"{a.name}: {'Ref ' if a.is_ref else ''}{t}"


def _one(field, v):
    if field == "s": return "'" + v.decode().replace("\n", "\\n").replace("\t", "\\x09") + "'"
    if field == "b": return "true" if v else "false"
    if field == "type": return _type(v)
    if field == "shape": return "unknown" if v.unknown_rank else "[" + ",".join(str(d.size) for d in v.dim) + "]"
    if field == "f": return repr(float(f"{v:.9g}"))
    return str(v) if field == "i" else "other"


def _default(v):
    field = v.WhichOneof("value")
    if field != "list": return _one(field, getattr(v, field))
    for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(v.list, name)
        if len(items): return "[" + ", ".join(_one(name, x) for x in items) + "]"
    return "[]"


def row_of(d):
    row = f"{d.name}({', '.join(map(_arg, d.input_arg))}) -> ({', '.join(map(_arg, d.output_arg))})"
    for a in d.attr:
        t = a.type
        if a.HasField("allowed_values"):
            values = a.allowed_values.list
            t = "{" + ", ".join([_type(x) for x in values.type] + ["'" + x.decode() + "'" for x in values.s]) + "}"
            if a.type.startswith("list"): t = f"list({t})"
        if a.has_minimum: t += f" >= {a.minimum}"
        if a.HasField("default_value"): t += " = " + _default(a.default_value)
        row += f"; {a.name}: {t}"
    for name in ("stateful", "commutative", "aggregate"):
        if getattr(d, "is_" + name): row += "; " + name
    return row


def _split(text, sep):
    """Splits outside quotes, braces and brackets."""
    parts, depth, quoted, start = [], 0, False, 0
    for k, ch in enumerate(text):
        if ch == "'": quoted = not quoted
        elif quoted: continue
        elif ch in "({[": depth += 1
        elif ch in ")}]": depth -= 1
        elif ch == sep and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    return [p for p in parts + [text[start:].strip()] if p]


def _value(text):
    try:
        return float(text)
    except ValueError:
        if text.startswith("'"): return text
        if text.startswith("("): text = f"[{text[1:-1].rstrip(',')}]"  # a shape
        return "".join(text.split())


def parse(row):
    """A row as a dict: inputs, outputs, attributes {name: (kind, allowed, minimum, default)}, flags."""
    signature, *rest = _split(row, ";")
    m = re.match(r"(\w+)\((.*)\) -> \((.*)\)$", signature)
    if not m: raise ValueError(f"not an op row: {row[:80]}")
    args = lambda text: [re.sub(r"\s+", " ", a) for a in _split(text, ",")]
    attrs, flags = {}, set()
    for part in rest:
        if part in FLAGS:
            flags.add(part)
            continue
        name, kind = part.split(":", 1)
        kind, default = (re.split(r"\s=\s", kind, maxsplit=1) + [None])[:2] if " = " in kind else (kind, None)
        kind, minimum = ([x.strip() for x in kind.split(">=")] + [None])[:2]
        as_list = kind.startswith("list({")
        inner = kind[5:-1] if as_list else kind
        allowed = frozenset(_split(inner[1:-1], ",")) if inner.startswith("{") else None
        base = inner if allowed is None else "string" if any(v[0] == "'" for v in allowed) else "type"
        attrs[name.strip()] = (f"list({base})" if as_list else base, allowed, minimum and int(minimum),
                               None if default is None else _value(default.strip()))
    return dict(op=m.group(1), inputs=args(m.group(2)), outputs=args(m.group(3)), attrs=attrs, flags=flags)


def compare_rows(rows):
    """[(op, [differences])] of Rewind's rows against TensorFlow's; ops that TensorFlow lacks give None."""
    found = []
    for text in rows:
        ours = parse(text)
        d = op_def_registry.get(ours["op"])
        if d is None:
            found.append((ours["op"], None))
            continue
        theirs, diff = parse(row_of(d)), []
        for part in ("inputs", "outputs"):
            if ours[part] != theirs[part]: diff.append(f"{part} {ours[part]}, want {theirs[part]}")
        for name in {**theirs["attrs"], **ours["attrs"]}:
            a, b = ours["attrs"].get(name), theirs["attrs"].get(name)
            if a is None or b is None:
                diff.append(f"attribute {name} {'is missing' if a is None else 'is not in TensorFlow'}")
                continue
            for what, x, y in zip(("kind", "allowed values", "minimum", "default"), a, b):
                if x == y: continue
                if what == "allowed values" and x is not None and y is not None:
                    diff.append(f"{name}: allows too much {sorted(x - y)}, lacks {sorted(y - x)}")
                else: diff.append(f"{name}: {what} {x}, want {y}")
        if ("stateful" in ours["flags"]) != ("stateful" in theirs["flags"]):
            diff.append("stateful" if "stateful" in ours["flags"] else "not stateful")
        found.append((ours["op"], diff))
    return found
