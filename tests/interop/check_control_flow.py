"""Staged control flow against real TensorFlow: values, gradients of first and second order, classes of errors.

    check_control_flow.py BUILD_FOLDER [WORD...]    (with a Python that has TensorFlow)

The same programs as in control_programs.cc, by name.
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("FATAL")
tf.autograph.set_verbosity(0)
X = [0.5, -1.25, 2, 0.75]
PROGRAMS = {}


def program(name, at=X):
    def add(f):
        PROGRAMS[name] = (f, at)
        return f
    return add


def loop(cond, body, *state, **options):
    return tf.while_loop(cond, body, state, **options)


def branches():
    for sign, which in ((1, "_true"), (-1, "_false")):
        at = [sign * X[0]] + X[1:]
        program("cond" + which, at)(lambda x: tf.cond(x[0] > 0, lambda: x * x * x, lambda: tf.sin(x)))

        @program("cond_unused_input" + which, at)
        def unused(x):
            a, b = tf.exp(x), x * x
            return tf.cond(x[0] > 0, lambda: a * a, lambda: b * x)

        program("cond_nested" + which, at)(lambda x: tf.cond(
            x[0] > 0, lambda: tf.cond(x[1] > 0, lambda: x, lambda: x * tf.reduce_sum(x * x)),
            lambda: tf.cond(x[1] < 0, lambda: tf.exp(x * 0.5) * x, lambda: x)))
        program("case" + which, at)(lambda x: tf.case([(x[0] > 1, lambda: x), (x[0] > 0, lambda: x * x)],
                                                      default=lambda: tf.cos(x)))
    for k in range(-1, 4):
        program(f"switch_case_{k}", [k] + X[1:])(lambda x: tf.switch_case(
            tf.cast(x[0], tf.int32), [lambda: x * x, lambda: x * x * x], default=lambda: tf.tanh(x)))


def loops():
    program("while_count")(lambda x: loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * tf.sin(x) + x), 0, x)[1])
    program("while_data")(lambda x: loop(lambda y: tf.reduce_sum(y * y) < 1000, lambda y: (y * y + 1,), x)[0])
    program("while_no_iteration")(lambda x: loop(lambda y: tf.reduce_sum(y * y) < 0, lambda y: (y * y,), x)[0])
    program("while_maximum_iterations")(lambda x: loop(lambda y: tf.constant(True), lambda y: (y * y * 0.5 + y,), x,
                                                       maximum_iterations=3)[0])

    @program("while_swap")
    def swap(x):
        _, a, b = loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b * a, a + 1), 0, x, x * x)
        return a * b

    @program("while_invariant_argument")
    def invariant(x):
        _, a, b = loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b), 0, x, x * x)
        return a + b

    @program("while_nested")
    def nested(x):
        def step(i, y):
            return i + 1, loop(lambda j, z: j <= i, lambda j, z: (j + 1, z * 0.5 + tf.sin(z) * x), 0, y)[1]
        return loop(lambda i, y: i < 3, step, 0, x)[1]

    @program("while_if_while")
    def while_if_while(x):
        def step(i, y):
            def inner():
                return loop(lambda j, t: j < i, lambda j, t: (j + 1, t * 0.25 + tf.cos(t) * x), 0, y)[1]
            return i + 1, tf.cond(tf.reduce_sum(y) > 2, inner, lambda: y * y + x)
        return loop(lambda i, y: i < 4, step, 0, x)[1]

    @program("while_tensor_array")
    def array(x):
        rows = tf.TensorArray(tf.float32, 3, element_shape=[4])
        return loop(lambda i, r: i < 3, lambda i, r: (i + 1, r.write(i, x * x * tf.cast(i + 1, tf.float32))), 0,
                    rows)[1].stack()

    @program("while_matmul")
    def matmul(x):
        w = tf.reshape(x, [2, 2]) * 0.5
        return loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(y @ w) + y), 0, tf.reshape(x, [2, 2]))[1]


def functional():
    mix = lambda a, e: a * e + tf.sin(e)  # noqa: E731
    program("map_fn")(lambda x: tf.map_fn(lambda e: e * e * e, x))
    program("map_fn_pair")(lambda x: tf.add(*tf.map_fn(lambda p: (p[0] * p[1], p[0] + tf.sin(p[1])), (x, x * x))))
    program("map_fn_signature")(lambda x: tf.map_fn(lambda e: tf.cast(e, tf.int32), x, fn_output_signature=tf.int32))
    program("scan")(lambda x: tf.scan(mix, x))
    program("scan_initializer")(lambda x: tf.scan(mix, x, 2.0))
    program("scan_reverse")(lambda x: tf.scan(mix, x, reverse=True))
    program("scan_initializer_reverse")(lambda x: tf.scan(mix, x, 2.0, reverse=True))
    program("foldl")(lambda x: tf.foldl(mix, x))
    program("foldr")(lambda x: tf.foldr(mix, x))
    program("foldl_initializer")(lambda x: tf.foldl(mix, x, 2.0))


def state():
    v = tf.Variable([0.5, -0.25, 1.0, 2.0])
    program("variable_read_in_loop")(lambda x: loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v + tf.sin(y)), 0,
                                                    x)[1])

    @program("variable_updated_in_loop")
    def in_loop(x):
        v.assign([0.5, -0.25, 1.0, 2.0])

        def step(i, y):
            z = y * v + tf.sin(y)
            v.assign(v + 1)
            return i + 1, z
        return loop(lambda i, y: i < 3, step, 0, x)[1] + v

    @program("variable_updated_in_branch")
    def in_branch(x):
        v.assign([0.5, -0.25, 1.0, 2.0])

        def taken():
            before = v * x * x
            v.assign_add(x)
            return before * v
        y = tf.cond(x[0] > 0, taken, lambda: x)
        return y + v


def errors():
    program("error_branch_dtypes")(lambda x: tf.cond(x[0] > 0, lambda: x, lambda: tf.constant([1, 2, 3, 4])))
    program("error_branch_counts")(lambda x: tf.cond(x[0] > 0, lambda: [x], lambda: [x, x])[0])
    program("error_loop_shape")(lambda x: loop(lambda y: tf.reduce_sum(y) < 9, lambda y: (tf.concat([y, y], 0),), x)[0])
    program("error_loop_dtype")(lambda x: loop(lambda y: tf.reduce_sum(tf.cast(y, tf.float32)) < 9,
                                               lambda y: (tf.cast(y, tf.int32),), x)[0])
    program("error_invariant")(lambda x: loop(lambda y: tf.reduce_sum(y) < 9, lambda y: (y * 2,), x,
                                              shape_invariants=(tf.TensorShape([3]),))[0])
    program("error_case_without_default")(lambda x: tf.case([(x[0] > 5, lambda: x), (x[0] > 6, lambda: x)]))
    program("error_map_fn_scalar")(lambda x: tf.map_fn(lambda e: e, x[0]))
    program("error_map_fn_sizes")(lambda x: tf.map_fn(lambda e: e[0], (x, tf.constant([1.0, 2.0]))))


def in_tensorflow(f, at):
    @tf.function(autograph=False)
    def all_of(x):
        zero = tf.UnconnectedGradients.ZERO
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.cast(f(x), tf.float32)
            first = inner.gradient(y, x, unconnected_gradients=zero)
            weighted = tf.reduce_sum(first * [1.0, 2.0, 3.0, 4.0])
        return y, first, outer.gradient(weighted, x, unconnected_gradients=zero)
    try:
        values = all_of(tf.constant(at, tf.float32))
    except tf.errors.OpError as e:
        return {"error": e.error_code}
    except (ValueError, TypeError, AssertionError):
        return {"error": tf.errors.INVALID_ARGUMENT}
    return {k: t.numpy().ravel() for k, t in zip(("value", "gradient", "second"), values)}


def parse(line):
    name, *parts = line.split("|")
    result = {}
    for part in parts:
        key, *numbers = part.split()
        result[key] = int(numbers[0]) if key == "error" else np.array([float(n) for n in numbers])
    return name, result


def differs(want, got):
    if want.keys() != got.keys(): return f"TensorFlow gives {list(want)}, Rewind {list(got)}"
    for key, a in want.items():
        b = got[key]
        if key == "error":
            if a != b: return f"error codes {a} and {b}"
        elif a.shape != b.shape or not np.allclose(a, b, rtol=2e-5, atol=1e-5):
            return f"{key}: TensorFlow {a}, Rewind {b}"
    return None


def main():
    words = sys.argv[2:]
    for add in (branches, loops, functional, state, errors): add()
    out = subprocess.run([pathlib.Path(sys.argv[1]) / "tests" / "control_programs"], capture_output=True, text=True)
    if out.returncode: sys.exit(f"control_programs ended with {out.returncode}: {out.stderr[-500:]}")
    ours = dict(map(parse, out.stdout.splitlines()))
    failed = [f"{name}: only on one side" for name in ours.keys() ^ PROGRAMS.keys()]
    for name, (f, at) in PROGRAMS.items():
        if name not in ours or (words and not any(w in name for w in words)): continue
        diff = differs(in_tensorflow(f, at), ours[name])
        if diff: failed.append(f"{name}: {diff}")
    print("\n".join(failed))
    print(f"control flow: {len(PROGRAMS) - len(failed)} programs agree, {len(failed)} differ")
    sys.exit(bool(failed))


main()
