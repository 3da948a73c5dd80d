"""Sweeps for elementwise ops: every dtype, ranks 0 to 5, empty tensors, broadcasting, vector body and tail, special values.

    elementwise_unary(["Sin", "Cos"], domain="normal")
    elementwise_binary(["Sub"], domains=("normal", "nonzero"))

attrs go to every case; `variants` are further attribute sets, run on float32 only. `small` is the domain for
half and bfloat16 where the wide one overflows, `wide` the domain of a long live-only run that fills vector
registers and leaves a tail, `ints` the domain for integer dtypes. `special` lists the dtypes that are tried with NaN
and friends; largest=False leaves the largest numbers out there.
"""
from case import (EMPTY, FLOATS, INTS, RANKS, Tol, case, dtypes, opdef, rnd, special as special_values)

LONG = (1037,)  # 64 full vectors of 16 and a tail of 13


def first_type_attr(op):
    return opdef(op).input_arg[0].type_attr


def elementwise_unary(names, domain="normal", attrs=None, variants=(), wide=None, ints=None, special=FLOATS, largest=True, smooth=True, tol=None,
                      among=None, special_grad=()):
    for op in names:
        attr = first_type_attr(op)
        types = dtypes(op, attr, among) if among else dtypes(op, attr)
        pick = lambda t: (ints or domain) if t in INTS else domain
        options = dict(attrs=attrs, smooth=smooth, tol=tol)
        for t in types: case(op, [rnd((2, 3), t, pick(t))], **options)
        t = types[0]
        for v in variants: case(op, [rnd((2, 3), t, pick(t))], **{**options, "attrs": {**(attrs or {}), **v}})
        for shape in RANKS: case(op, [rnd(shape, t, pick(t))], **options)
        for shape in EMPTY: case(op, [rnd(shape, t, pick(t))], **options)
        for t in types:
            case(op, [rnd(LONG, t, pick(t))], golden=False, **options)
            if wide and t in FLOATS[:2]: case(op, [rnd((3, 345), t, wide)], label=f"{t} wide", golden=False, **options)
            if t in special: case(op, [special_values(t, largest)], label=f"{t} special", grad=special_grad, tol=tol, attrs=attrs)


BROADCAST = [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), ()), ((3, 1, 2), (4, 1)), ((1,), (2, 2, 2)),
             ((2, 1, 3, 1), (3, 1, 4)), ((2, 1, 2, 1, 2), (1, 3, 1, 2, 1)), ((0, 3), (1, 3)), ((2, 0), (1,)), ((1, 1), (5,)),
             ((7, 1), (7, 33)), ((33, 7), (33, 1)), ((1, 33), (7, 33))]
NO_BROADCAST = [((2, 3), (2,)), ((4,), (3,)), ((2, 3, 4), (2, 4))]


def elementwise_binary(names, domains=("normal", "normal"), attrs=None, ints=None, special=FLOATS, largest=True, smooth=True, tol=None, among=None,
                       broadcast=True):
    for op in names:
        attr = first_type_attr(op)
        types = (dtypes(op, attr, among) if among else dtypes(op, attr)) if attr else ["bool"]
        options = dict(attrs=attrs, smooth=smooth, tol=tol)

        def pair(a, b, t):
            da, db = (ints or domains) if t in INTS else domains
            return [rnd(a, t, da), rnd(b, t, db)]

        for t in types: case(op, pair((2, 3), (2, 3), t), **options)
        t = types[0]
        if broadcast:
            for k, (a, b) in enumerate(BROADCAST): case(op, pair(a, b, t), golden=True if k in (0, 1) else None, **options)
            for a, b in NO_BROADCAST: case(op, pair(a, b, t), error=True, attrs=attrs)
        for shape in RANKS: case(op, pair(shape, shape, t), **options)
        for shape in EMPTY: case(op, pair(shape, shape, t), **options)
        for t in types:
            case(op, pair(LONG, LONG, t), golden=False, **options)
            if broadcast:
                case(op, pair((5, 67), (67,), t), golden=False, **options)
                case(op, pair((5, 1), (5, 67), t), golden=False, **options)
                case(op, pair((67,), (), t), golden=False, **options)
            if t in special and broadcast:
                x = special_values(t, largest)
                column = special_values(t, largest)
                column.value = column.value.reshape(-1, 1)
                column.shape = column.value.shape
                case(op, [column, x], label=f"{t} special", grad=(), attrs=attrs, tol=tol, golden=True if t == "float32" else False)
