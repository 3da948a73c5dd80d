"""GraphDef, both ways, against real TensorFlow.

Graphs that Rewind wrote are read and run by TensorFlow; graphs of TensorFlow's own functions are read by Rewind, run
there, written again, and read and run by TensorFlow. All results must agree, variables' last values included.

    check_graph_def.py [WORD...]   the checks whose names contain a word, or all
    check_graph_def.py --golden    writes tests/golden/graph_def/, the files for the tests without TensorFlow

Graphs run in a session, where nothing but the edges of the graph gives an order: a missing control edge shows.
"""
import ctypes
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorflow.core.framework import graph_pb2  # noqa: E402

import rewind_side  # noqa: E402

RUNS = 5  # of each graph in a session: a race may need a few


class Library:
    def __init__(self):
        self.rewind = rewind_side.Rewind(rewind_side.find_library())

    def call(self, name, *args):
        fn = getattr(self.rewind.lib, name)
        status, data = self.rewind._reply(fn, *args)
        if status: raise RuntimeError(data.decode(errors="replace"))
        return data

    def examples(self):
        return self.call("rw_graph_example_names").decode().split()

    def example(self, index, what):
        return self.call("rw_graph_example", ctypes.c_int(index), what.encode())

    def convert(self, graph, inputs, outputs):
        data = graph.SerializeToString()
        return self.call("rw_graph_convert", data, ctypes.c_size_t(len(data)), "\n".join(inputs).encode(),
                         "\n".join(outputs).encode())

    def run(self, graph, inputs, outputs, feeds):
        data, fed = graph.SerializeToString(), tensors_bytes(feeds)
        return read_tensors(self.call("rw_graph_run", data, ctypes.c_size_t(len(data)), "\n".join(inputs).encode(),
                                      "\n".join(outputs).encode(), fed, ctypes.c_size_t(len(fed))))


def parse(data):
    graph = graph_pb2.GraphDef()
    graph.ParseFromString(data)
    return graph


def read_tensors(data):
    return [tf.make_ndarray(node.attr["value"].tensor) for node in parse(data).node]


def tensors_bytes(arrays):
    graph = graph_pb2.GraphDef()
    for k, x in enumerate(arrays):
        node = graph.node.add(name=f"tensor_{k}", op="Const")
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(x))
    return graph.SerializeToString()


def run_in_session(graph_def, feeds, outputs):
    """Results of one run that executes every node, then the variables' values. feeds: {placeholder: array}, in order."""
    graph = tf.Graph()
    with graph.as_default():
        resources = {n.name for n in graph_def.node
                     if n.op == "Placeholder" and n.attr["dtype"].type == tf.resource.as_datatype_enum}
        input_map, start, reads, feed_dict = {}, [], [], {}
        for name, value in feeds.items():
            t = tf.constant(value)
            if name in resources:
                handle = tf.raw_ops.VarHandleOp(dtype=t.dtype, shape=t.shape, shared_name="rw_" + name)
                start.append(tf.raw_ops.AssignVariableOp(resource=handle, value=t))
                reads.append(tf.raw_ops.ReadVariableOp(resource=handle, dtype=t.dtype))
                input_map[name + ":0"] = handle
            else:
                feed_dict["rw/" + name + ":0"] = value
        tf.graph_util.import_graph_def(graph_def, input_map=input_map, name="rw")
        ops = [op for op in graph.get_operations() if op.name.startswith("rw/") and op.type != "Placeholder"]
        results = [graph.get_tensor_by_name("rw/" + name) for name in outputs]
        results = [t for t in results if t.dtype not in (tf.resource, tf.variant)]
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=4)
    all_runs = []
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        for _ in range(RUNS):
            session.run(start)
            values, _ = session.run([results, ops], feed_dict)
            all_runs.append(values + session.run(reads))
    return all_runs


def difference(want, got):
    if len(want) != len(got): return f"{len(want)} results, got {len(got)}"
    for k, (a, b) in enumerate(zip(want, got)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape: return f"result {k}: shapes {a.shape} and {b.shape}"
        if a.dtype.kind in "OSU" or b.dtype.kind in "OSU":
            if [bytes(x) for x in a.reshape(-1)] != [bytes(x) for x in b.reshape(-1)]: return f"result {k}: {a} and {b}"
            continue
        if a.dtype != b.dtype: return f"result {k}: types {a.dtype} and {b.dtype}"
        if a.dtype.kind in "fV" or a.dtype.name in ("bfloat16", "float16"):
            if not np.allclose(a.astype("f8"), b.astype("f8"), rtol=2e-5, atol=1e-6, equal_nan=True):
                return f"result {k}:\n{a}\nand\n{b}"
        elif not np.array_equal(a, b):
            return f"result {k}: {a} and {b}"
    return None


def check_example(library, index):
    data = library.example(index, "graph")
    graph = parse(data)
    from_text = graph_pb2.GraphDef()
    text_format.Parse(library.example(index, "text").decode("utf-8", errors="surrogateescape"), from_text)
    # NaNs are unequal to themselves; their bytes are not.
    if from_text.SerializeToString(deterministic=True) != graph.SerializeToString(deterministic=True):
        return "the text says something else than the bytes"
    feeds = read_tensors(library.example(index, "feeds"))
    want = read_tensors(library.example(index, "results"))
    names = [n.name for n in graph.node if n.op == "Placeholder"]
    outputs = sorted((n.name for n in graph.node if n.name.startswith("out_")), key=lambda s: int(s[4:]))
    for got in run_in_session(graph, dict(zip(names, feeds)), [name + ":0" for name in outputs]):
        wrong = difference(want, got)
        if wrong: return wrong
    return None


# ---- TensorFlow's own functions: (name, function that makes (tf.function, arguments))

def functions():
    rng = np.random.default_rng(1)

    def array(*shape):
        return tf.constant(rng.standard_normal(shape).astype("float32"))

    def dense():
        w, b = tf.Variable(array(3, 4), name="w"), tf.Variable(array(4), name="b")
        return tf.function(lambda x: tf.nn.softmax(tf.nn.relu(x @ w + b))), [array(5, 3)]

    def train_step():
        w, b = tf.Variable(array(3, 2)), tf.Variable(tf.zeros([2]))

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ w + b))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)
            return loss, tf.reduce_sum(w)
        return step, [array(6, 3), tf.constant([0, 1, 1, 0, 1, 0])]

    def order():
        v = tf.Variable(1.0)

        @tf.function
        def f(x):
            a = v.read_value()
            v.assign(v * x)
            b = v.read_value()
            v.assign_add(3.0)
            return a, b, v.read_value()
        return f, [tf.constant(5.0)]

    def branches():
        v = tf.Variable([1.0, 2.0])

        @tf.function
        def f(x):
            if tf.reduce_sum(x) > 0:
                v.assign_add(x)
                y = x * 2
            else:
                v.assign(x)
                y = -x
            if y[0] > 100.0: y = y - 1.0
            return y, v.read_value()
        return f, [array(2)]

    def loops():
        v = tf.Variable(0)

        @tf.function
        def f(n, x):
            for i in tf.range(n):
                if i == 2: continue
                x = x * 1.5 + tf.cast(i, tf.float32)
                v.assign_add(i)
                if tf.reduce_sum(x) > 50: break
            return x, v.read_value()
        return f, [tf.constant(9), array(3)]

    def nested_loops():
        @tf.function
        def f(n):
            total = 0
            for i in tf.range(n):
                j = 0
                while j < i:
                    total += i * j
                    j += 1
            return total
        return f, [tf.constant(6)]

    def switch():
        return tf.function(lambda k, x: tf.switch_case(k, [lambda: x + 1, lambda: x * 2, lambda: x - 3])), \
            [tf.constant(1), array(2)]

    def calls():
        @tf.function
        def inner(x): return tf.sin(x), x + 1

        @tf.function
        def outer(x):
            a, b = inner(x)
            c, _ = inner(b)
            return a + c
        return outer, [array(2, 2)]

    def strings():
        @tf.function
        def f(words, n):
            return tf.strings.join([words, tf.strings.as_string(n), "\0\u00e9\"'\n"], separator="/"), tf.strings.length(words)
        return f, [tf.constant(["a", "bc"]), tf.constant(3)]

    def shapes():
        @tf.function(input_signature=[tf.TensorSpec([None, None, 4])])
        def f(x):
            n = tf.shape(x)[0]
            y = tf.reshape(x, [n, -1])
            a, b = tf.split(y, 2, axis=1)
            c = tf.concat([b, a, tf.zeros([n, 1])], 1)
            parts = tf.unstack(x, axis=2)
            return c, tf.stack(parts[::-1], 1), x[:, 0, ::2], x[..., tf.newaxis, 1:3], tf.transpose(x, [2, 0, 1]), tf.pad(y, [[0, 1], [2, 0]])
        return f, [array(2, 3, 4)]

    def reductions():
        @tf.function
        def f(x):
            return (tf.reduce_mean(x, 1), tf.reduce_logsumexp(x), tf.argmax(x, 1), tf.math.top_k(x, 2), tf.cumsum(x, 1),
                    tf.reduce_any(x > 1, 0), tf.norm(x))
        return f, [array(3, 4)]

    def convolution():
        k = tf.Variable(array(3, 3, 2, 4))

        @tf.function
        def f(x):
            y = tf.nn.conv2d(x, k, 1, "SAME")
            y = tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID")
            return tf.nn.avg_pool2d(y, 2, 1, "SAME"), tf.gradients(tf.reduce_sum(y * y), x)[0]
        return f, [array(2, 6, 6, 2)]

    def gather():
        table = tf.Variable(array(5, 3))

        @tf.function
        def f(i):
            with tf.GradientTape() as tape:
                rows = tf.nn.embedding_lookup(table, i)
                loss = tf.reduce_sum(rows * rows)
            g = tape.gradient(loss, table)
            return rows, g.values, tf.gather(table, i, axis=0), tf.one_hot(i, 5), tf.where(i > 2, 1, 0)
        return f, [tf.constant([0, 4, 4])]

    def loop_gradient():
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in tf.range(4): y = tf.sin(y) * x
                y = tf.reduce_sum(y)
            return tape.gradient(y, x)
        return f, [array(3)]

    def constants():
        values = [tf.constant([1, 2], t) for t in ("int8", "uint8", "int16", "uint16", "int64", "uint32", "uint64", "float16",
                                                   "bfloat16", "float64")]
        values += [tf.constant([1.5] * 7), tf.constant([True, False]), tf.constant([["x", ""], ["\xff", "z"]]), tf.zeros([0, 3]),
                   tf.constant([np.nan, np.inf, -0.0], tf.float32)]

        @tf.function
        def f():
            return [tf.identity(tf.constant(v.numpy())) for v in values]
        return f, []

    def keras_mlp():
        model = tf.keras.Sequential([tf.keras.layers.Input([5]), tf.keras.layers.Dense(7, "gelu"), tf.keras.layers.BatchNormalization(),
                                     tf.keras.layers.Dropout(0.5), tf.keras.layers.LayerNormalization(), tf.keras.layers.Dense(3)])
        return tf.function(lambda x: model(x, training=False)), [array(4, 5)]

    def keras_cnn():
        model = tf.keras.Sequential([tf.keras.layers.Input([8, 8, 3]), tf.keras.layers.Conv2D(4, 3, activation="relu"),
                                     tf.keras.layers.DepthwiseConv2D(3), tf.keras.layers.MaxPooling2D(), tf.keras.layers.Flatten(),
                                     tf.keras.layers.Dense(3, "softmax")])
        return tf.function(lambda x: model(x)), [array(2, 8, 8, 3)]

    def keras_lstm():
        layer = tf.keras.layers.LSTM(4, return_sequences=True)
        layer(tf.zeros([1, 2, 3]))
        return tf.function(lambda x: layer(x)), [array(2, 5, 3)]

    def keras_attention():
        layer = tf.keras.layers.MultiHeadAttention(2, 4)
        layer(tf.zeros([1, 3, 8]), tf.zeros([1, 3, 8]))
        return tf.function(lambda x: layer(x, x, use_causal_mask=True)), [array(2, 5, 8)]

    def map_and_scan():
        return tf.function(lambda x: (tf.map_fn(lambda r: tf.reduce_sum(r * r), x), tf.scan(lambda a, r: a * 0.5 + r, x))), [array(4, 3)]

    def einsum_linalg():
        @tf.function
        def f(a, b):
            s = tf.matmul(a, a, transpose_b=True) + 2.0 * tf.eye(3)
            return tf.einsum("ij,kj->ik", a, b), tf.linalg.cholesky(s), tf.linalg.inv(s), tf.linalg.band_part(s, 1, 0), tf.linalg.diag_part(s)
        return f, [array(3, 4), array(2, 4)]

    def dictionary_order():
        return tf.function(lambda x: {"b": x + 1, "a": x * 2}), [array(2)]

    def effects():
        @tf.function
        def f(x):
            tf.debugging.assert_greater(x, -100.0)
            tf.print("x is", x, output_stream="file:///dev/null")
            tf.debugging.assert_all_finite(x, "finite")
            return tf.exp(x)
        return f, [array(2)]

    return [(name, make) for name, make in locals().items() if callable(make) and name not in ("array", "rng")]


def check_function(library, make):
    function, args = make()
    concrete = function.get_concrete_function(*args)
    graph = concrete.graph.as_graph_def()
    inputs, feeds, variables = [], [], []
    for placeholder, value in zip(concrete.inputs, list(args) + concrete.captured_inputs):
        inputs.append(placeholder.op.name)
        if value.dtype == tf.resource:
            v = next(v for v in concrete.graph.variables if v.handle is value)
            variables.append(v)
            feeds.append(v.numpy())
        else:
            feeds.append(value.numpy())
    outputs = [t.name for t in concrete.outputs]
    want = [t.numpy() for t in tf.nest.flatten(concrete(*args)) if isinstance(t, tf.Tensor)]
    want += [v.numpy() for v in variables]

    wrong = difference(want, library.run(graph, inputs, outputs, feeds))
    if wrong: return "Rewind's run: " + wrong
    converted = parse(library.convert(graph, inputs, outputs))
    names = [n.name for n in converted.node if n.op == "Placeholder"]
    for got in run_in_session(converted, dict(zip(names, feeds)), [f"out_{k}:0" for k in range(len(outputs))]):
        wrong = difference(want, got)
        if wrong: return "TensorFlow's run of what Rewind wrote: " + wrong
    return None


def write_golden():
    v = tf.Variable([1.0, 2.0, 3.0], name="w")

    @tf.function
    def f(x, n):
        y = tf.matmul(x, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
        if tf.reduce_sum(y) > 3.0: y = y * tf.constant(0.1)
        else: y = y - 1e-5
        v.assign_add([1.0, 1.0, 1.0])
        for i in tf.range(n): y = y + tf.cast(i, tf.float32)
        tf.print("sum", tf.reduce_sum(y))
        a, b = tf.split(y, 2, axis=1)
        return tf.concat([a, b], 0), tf.strings.join(["a\n'\"\xe9", tf.strings.as_string(n)]), v + 1.0

    concrete = f.get_concrete_function(tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32))
    graph = concrete.graph.as_graph_def()
    folder = os.path.join(rewind_side.ROOT, "tests", "golden", "graph_def")
    with open(os.path.join(folder, "function.pb"), "wb") as file: file.write(graph.SerializeToString(deterministic=True))
    with open(os.path.join(folder, "function.pbtxt"), "w") as file: file.write(str(graph))


def main():
    if sys.argv[1:] == ["--golden"]: return write_golden()
    library = Library()
    passed = failed = 0
    checks = [("example " + name, lambda k=k: check_example(library, k)) for k, name in enumerate(library.examples())]
    checks += [("function " + name, lambda make=make: check_function(library, make)) for name, make in functions()]
    only = sys.argv[1:]
    for name, check in checks:
        if only and not any(word in name for word in only): continue
        try:
            wrong = check()
        except Exception as e:  # a failure of one graph must not hide the others
            wrong = f"{type(e).__name__}: {e}"
        passed += wrong is None
        failed += wrong is not None
        if wrong: print(f"{name}: {wrong}")
    print(f"graph_def: {passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
