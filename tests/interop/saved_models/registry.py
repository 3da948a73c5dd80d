"""The list of models, and the numbers that they are called with."""
import dataclasses
import typing

import numpy as np

MODELS = []


@dataclasses.dataclass
class Model:
    name: str
    make: typing.Callable
    short: bool
    tolerance: float


def model(short=False, tolerance=1e-4, name=None):
    def add(f):
        MODELS.append(Model(name or f.__name__, f, short, tolerance))
        return f
    return add


def floats(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def ints(*shape, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)
