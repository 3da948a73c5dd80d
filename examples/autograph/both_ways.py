"""The Python side of both_ways.h: runs a function as a graph, or eagerly where AutoGraph refuses its form, and prints the results."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf


def show(name, value):
    if isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            show(f"{name}[{i}]", v)
        return
    numbers = np.asarray(value, np.float64).reshape(-1)
    print(f"{name}:" + "".join(f" {v:.7g}" for v in numbers))


def run(name, f, *args, eager=False):
    show(name, (f if eager else tf.function(f))(*args))


def differentiate(name, f, *args, eager=False):
    run(name, f, *args, eager=eager)
    with tf.GradientTape() as tape:
        for a in args:
            tape.watch(a)
        y = (f if eager else tf.function(f))(*args)
    gradients = tape.gradient(y, list(args), unconnected_gradients=tf.UnconnectedGradients.ZERO)
    show(name + ", gradient", [tf.convert_to_tensor(g) for g in gradients])
