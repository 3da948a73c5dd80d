"""Checkpoints against TensorFlow, both ways.

    check_checkpoint.py BUILD_FOLDER [--full]    (with a Python that has TensorFlow)

TensorFlow writes a checkpoint of the objects of a case, with values of its own; checkpoints.cc restores it into
the same objects, checks that nothing is left, and writes it again. What it wrote must hold the same keys, types,
values and object graph, and TensorFlow must restore it whole.
"""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers as L  # noqa: E402
from tensorflow.core.protobuf import trackable_object_graph_pb2  # noqa: E402
from tensorflow.python.tools import inspect_checkpoint  # noqa: E402

program = pathlib.Path(sys.argv[1]) / "tests" / "checkpoints"
folder = pathlib.Path(tempfile.mkdtemp())
failed, checks = [], 0


def check(what, ok):
    global checks
    checks += 1
    if not ok:
        failed.append(what)
        print("FAILED", what)


def rewind(*arguments):
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    check(f"checkpoints {arguments[:2]} {out.stderr[-2000:]}", out.returncode == 0 and not out.stderr)
    return [float(line) for line in out.stdout.split()] if out.returncode == 0 else None


def wave(shape, number, scale=0.5):
    i = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (scale * np.sin(1.0 + 0.7 * i + 1.3 * number) + 0.01 * number).astype(np.float32).reshape(shape)


# ---- the objects of checkpoints.cc -------------------------------------------------------------------------

TYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
         "uint64", "bool", "complex64", "complex128"]


def variables():
    values = [tf.Variable(tf.zeros([2, 3], t), name=t) for t in TYPES]
    return tf.train.Checkpoint(step=tf.Variable(0, name="step"), text=tf.Variable("", name="text"), list=values), None


def tables():
    """With an entry each: TensorFlow's order of several is any."""
    table = tf.lookup.experimental.MutableHashTable
    counts, rows = table(tf.string, tf.int64, 0), table(tf.int64, tf.float32, [0.0, 0.0])
    counts.insert(tf.constant(["word"]), tf.constant([7], tf.int64))
    rows.insert(tf.constant([3], tf.int64), tf.constant([[0.5, -2.0]]))
    return tf.train.Checkpoint(counts=counts, rows=rows, step=tf.Variable(0, name="step")), None


class Inner(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.zeros([2, 3]), name="w")


class Outer(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.zeros([2]), name="ww")
        self.l = [tf.Variable(0.0), tf.Variable(0.0)]
        self.d = {"x/y": tf.Variable(0.0), "z.z": tf.Variable(0.0)}
        self.g = tf.random.Generator.from_seed(5)
        self.sub = [Inner(), Inner()]
        self.none = []
        self.nn = [[tf.Variable(0.0)]]
        self.z = self.w
        self.perhaps = Inner()


def modules():
    return tf.train.Checkpoint(Outer()), None


def attached():
    return tf.train.Checkpoint(Outer(), extra=tf.Variable(0.0),
                               nested=tf.train.Checkpoint(v=tf.Variable(0.0))), None


def chain():
    return keras.Sequential([L.Dense(3, activation="relu"), L.BatchNormalization(), L.Dropout(0.5), L.Dense(1)])


def sequence():
    m = chain()
    ckpt = tf.train.Checkpoint(model=m, step=tf.Variable(0, name="step", dtype=tf.int64))
    return ckpt, lambda: m(np.zeros((2, 4), np.float32))


def compiled():
    m = chain()
    m.compile("adam", "mse", metrics=["mae"])
    ckpt = tf.train.Checkpoint(model=m, step=tf.Variable(0, name="step", dtype=tf.int64))
    return ckpt, lambda: m.fit(np.zeros((4, 4)), np.zeros((4, 1)), verbose=0)


def built_then_compiled():
    m = chain()
    m(np.zeros((2, 4), np.float32))
    m.compile("adam", "mse")
    ckpt = tf.train.Checkpoint(model=m, step=tf.Variable(0, name="step", dtype=tf.int64))
    return ckpt, lambda: m.fit(np.zeros((4, 4)), np.zeros((4, 1)), verbose=0)


def functional():
    image, words = keras.Input((8, 8, 2), name="image"), keras.Input((6,), name="words", dtype="int32")
    y = L.Flatten()(L.BatchNormalization()(L.Conv2D(3, 3, padding="same")(image)))
    t = L.Embedding(9, 4)(words)
    t = L.Bidirectional(L.LSTM(3, return_sequences=True))(t)
    t = L.MultiHeadAttention(2, 4)(t, t)
    t = L.GRU(3)(L.TimeDistributed(L.Dense(2))(L.LayerNormalization()(t)))
    shared = L.Dense(5, name="shared")
    a, b = shared(y), shared(L.Dense(192)(t))
    joined = keras.Sequential([L.Dense(3), L.PReLU()], name="inner")(L.Concatenate()([a, b, t]))
    m = keras.Model([image, words], [joined, a * 2.0])
    optimizer = keras.optimizers.SGD(momentum=0.9)
    ckpt = tf.train.Checkpoint(model=m, optimizer=optimizer)
    return ckpt, lambda: optimizer.build(m.trainable_variables)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out, self.nest = L.Dense(3), L.Dense(1), keras.Sequential([L.Dense(2)])

    def build(self, shape):
        self.factor = self.add_weight(name="factor", shape=(1,), initializer="ones")

    def call(self, x):
        return self.out(self.nest(self.hidden(x))) * self.factor


def subclass():
    m, optimizer = Net(), keras.optimizers.Adam(0.05, amsgrad=True, use_ema=True)

    def build():
        m(np.zeros((2, 4), np.float32))
        optimizer.build(m.trainable_variables)

    return tf.train.Checkpoint(model=m, optimizer=optimizer), build


def layers():
    """The layers by themselves, each with the shape of its input."""
    all_layers = [(L.Dense(2), (1, 3)), (L.Dense(2, use_bias=False), (1, 3)), (L.Embedding(3, 2), (1, 3)),
                  (L.Conv1D(2, 1), (1, 3, 3)), (L.Conv2D(2, 1), (1, 3, 3, 3)),
                  (L.Conv2DTranspose(2, 1), (1, 3, 3, 3)), (L.SeparableConv2D(2, 1), (1, 3, 3, 3)),
                  (L.DepthwiseConv2D(1), (1, 3, 3, 3)), (L.BatchNormalization(), (2, 3)),
                  (L.BatchNormalization(scale=False), (2, 3)), (L.LayerNormalization(), (1, 3)),
                  (L.GroupNormalization(1), (1, 3, 3)), (L.PReLU(), (1, 3)), (L.LSTM(2), (1, 3, 3)),
                  (L.LSTM(2, dropout=0.5, stateful=True), (1, 3, 3)),
                  (L.GRU(2, use_bias=False, reset_after=False), (1, 3, 3)), (L.SimpleRNN(2), (1, 3, 3)),
                  (L.Bidirectional(L.GRU(2)), (1, 3, 3)), (L.TimeDistributed(L.Dense(2)), (1, 3, 3)),
                  (L.MultiHeadAttention(2, 2), (1, 3, 3)),
                  (L.MultiHeadAttention(2, 2, dropout=0.5, use_bias=False), (1, 3, 3)), (L.Dropout(0.5), (1, 3)),
                  (L.RandomFlip(), (1, 3, 3, 3)), (L.Normalization(), (1, 3)), (L.Rescaling(2.0), (1, 3)),
                  (L.Flatten(), (1, 3)), (L.MaxPooling2D(), (1, 4, 4, 3))]
    ckpt = tf.train.Checkpoint(**{f"l{10 + i}": layer for i, (layer, _) in enumerate(all_layers)})

    def build():
        for layer, shape in all_layers:
            x = np.zeros(shape, np.float32)
            layer(*([x, x] if isinstance(layer, L.MultiHeadAttention) else [x]))

    return ckpt, build


def optimizers():
    v = keras.Variable(np.zeros((2, 3), np.float32), name="kernel")
    o = keras.optimizers
    every = [o.SGD(momentum=0.9), o.SGD(), o.Adam(amsgrad=True, use_ema=True, gradient_accumulation_steps=2), o.AdamW(),
             o.RMSprop(momentum=0.1, centered=True), o.RMSprop(), o.Adagrad(), o.Adadelta(), o.Adamax(), o.Nadam(),
             o.Ftrl(), o.Lion(), o.LossScaleOptimizer(o.SGD(momentum=0.5)),
             o.SGD(o.schedules.ExponentialDecay(0.1, 1, 0.5))]

    def build():
        for optimizer in every: optimizer.build([v])

    return tf.train.Checkpoint(v=v, all=every), build


# ---- what is compared --------------------------------------------------------------------------------------

def read(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    values = {k: reader.get_tensor(k) for k in reader.get_variable_to_shape_map()}
    types = {k: t.name for k, t in reader.get_variable_to_dtype_map().items()}
    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    graph.ParseFromString(values.pop("_CHECKPOINTABLE_OBJECT_GRAPH"))
    return values, types, graph


def same_values(what, a, b):
    check(f"{what}: keys {sorted(a.keys() ^ b.keys())[:6]}", a.keys() == b.keys())
    for key in a.keys() & b.keys():
        x, y = np.asarray(a[key]), np.asarray(b[key])
        equal = x.tobytes() == y.tobytes() if x.dtype != object else bool(np.all(x == y))
        check(f"{what}: value {key}", x.dtype == y.dtype and x.shape == y.shape and equal)


def same_graph(what, a, b, with_names):
    check(f"{what}: {len(a.nodes)} and {len(b.nodes)} nodes", len(a.nodes) == len(b.nodes))
    for i, (x, y) in enumerate(zip(a.nodes, b.nodes)):
        for node in (x, y):
            for attribute in node.attributes:
                if not with_names: attribute.full_name = ""
        if x != y:
            check(f"{what}: node {i}:\n{x}\n-- ours --\n{y}", False)
            return


def randomised(ckpt):
    """Gives every variable below the checkpoint a value of its own."""
    rng = np.random.default_rng(1)
    for o in ckpt._saver._graph_view.breadth_first_traversal()[0]:
        if isinstance(o, (tf.Variable, keras.Variable)):
            if isinstance(o, keras.Variable): o = o.value
            if o.dtype == tf.string: o.assign("some text")
            elif o.dtype == tf.bool: o.assign(rng.integers(0, 2, o.shape).astype(bool))
            elif o.dtype.is_complex: o.assign(tf.cast(rng.normal(size=o.shape) + 1j * rng.normal(size=o.shape), o.dtype))
            else: o.assign(tf.cast(rng.integers(1, 100, o.shape), o.dtype))


def case(make, with_names=True):
    name = make.__name__
    trains_when_built = make in (compiled, built_then_compiled)
    keras.backend.clear_session()
    ckpt, build = make()
    if build: build()
    randomised(ckpt)
    theirs, ours = folder / f"{name}-theirs", folder / f"{name}-ours"
    ckpt.write(str(theirs))
    wanted, wanted_types, wanted_graph = read(theirs)
    for how in ["copy", "copy_late"]:
        out = f"{ours}-{how}"
        if rewind(how, name, theirs, out) is None: continue
        values, types, graph = read(out)
        if how == "copy" or not trains_when_built: same_values(f"{name} {how}", wanted, values)
        check(f"{name} {how}: types", types == wanted_types)
        same_graph(f"{name} {how}", wanted_graph, graph, with_names)
        check(f"{name} {how}: data files", sorted(p.name for p in folder.glob(f"{pathlib.Path(out).name}*")) == [
            f"{pathlib.Path(out).name}.data-00000-of-00001", f"{pathlib.Path(out).name}.index"])
    # TensorFlow restores what Rewind wrote, built before and behind.
    for late in [False, True]:
        keras.backend.clear_session()
        fresh, build = make()
        if build and not late: build()
        try:
            status = fresh.read(f"{ours}-copy")
            if build and late: build()
            status.assert_consumed()
        except Exception as e:  # noqa: BLE001
            check(f"{name}: TensorFlow restores ours: {e}", False)
            continue
        if trains_when_built: continue
        back = folder / f"{name}-back"
        fresh.write(str(back))
        if late:  # a call of a stateful layer has changed its states
            wanted = {k: v for k, v in wanted.items() if "/states/" not in k}
        values = {k: v for k, v in read(back)[0].items() if k in wanted or "/states/" not in k}
        same_values(f"{name} in TensorFlow", wanted, values)


def bytes_are_tensorflows():
    """Without a model there is no choice in how a checkpoint is laid out."""
    for suffix in [".index", ".data-00000-of-00001"]:
        a = (folder / f"variables-theirs{suffix}").read_bytes()
        b = (folder / f"variables-ours-copy{suffix}").read_bytes()
        check(f"bytes of {suffix}", a == b)


def tools():
    prefix = str(folder / "variables-ours-copy")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        inspect_checkpoint.print_tensors_in_checkpoint_file(prefix, None, True)
    check("inspect_checkpoint", all(f"list/{i}/" in out.getvalue() for i in range(len(TYPES))))
    check("list_variables", len(tf.train.list_variables(prefix)) == len(TYPES) + 3)


def shards():
    """Data files of a given size, which TensorFlow splits its tensors into."""
    keras.backend.clear_session()
    ckpt, _ = variables()
    randomised(ckpt)
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=100)
    ckpt.write(str(folder / "shards"), tf.train.CheckpointOptions(experimental_sharding_callback=policy))
    check("several shards", len(list(folder.glob("shards.data-*"))) > 3)
    rewind("copy", "variables", folder / "shards", folder / "shards-ours")
    same_values("shards", read(folder / "shards")[0], read(folder / "shards-ours")[0])


def names():
    """TensorFlow 1's checkpoints: variables by their names, one of them in parts."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with tf.compat.v1.variable_scope("scope"):
            w = tf.compat.v1.get_variable("w", initializer=tf.constant(wave((2, 3), 1)))
        b = tf.compat.v1.get_variable("b", [6], partitioner=tf.compat.v1.fixed_size_partitioner(3))
        session.run(tf.compat.v1.global_variables_initializer())
        whole = session.run(tf.convert_to_tensor(b))
        tf.compat.v1.train.Saver({"scope/w": w, "b": b}).save(session, str(folder / "v1"))
    if rewind("names", folder / "v1", folder / "v1-ours") is None: return
    values = read(folder / "v1-ours")[0]
    check("names w", np.array_equal(values["w/.ATTRIBUTES/VARIABLE_VALUE"], wave((2, 3), 1)))
    check("names b", np.array_equal(values["other/.ATTRIBUTES/VARIABLE_VALUE"], whole))


# ---- training that goes to and fro -------------------------------------------------------------------------

class Training:
    """A Keras model and optimizer."""

    OPTIMIZERS = dict(adam=lambda: keras.optimizers.Adam(0.02),
                      momentum=lambda: keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
                      rmsprop=lambda: keras.optimizers.RMSprop(0.005, momentum=0.5, centered=True),
                      adamw=lambda: keras.optimizers.AdamW(0.02, weight_decay=0.004),
                      adadelta=lambda: keras.optimizers.Adadelta(20.0), adamax=lambda: keras.optimizers.Adamax(0.02),
                      nadam=lambda: keras.optimizers.Nadam(0.02), ftrl=lambda: keras.optimizers.Ftrl(0.3), lion=lambda: keras.optimizers.Lion(0.005),
                      averaged=lambda: keras.optimizers.SGD(0.05, momentum=0.9, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=7),
                      accumulated=lambda: keras.optimizers.Adam(0.04, gradient_accumulation_steps=2),
                      clipped=lambda: keras.optimizers.RMSprop(0.01, clipnorm=0.1))

    def __init__(self, rule):
        keras.backend.clear_session()
        self.model = keras.Sequential([L.Dense(16, activation="tanh"), L.BatchNormalization(), L.Dense(1)])
        self.optimizer = self.OPTIMIZERS[rule]()
        self.step = tf.Variable(0, dtype=tf.int64, name="step", trainable=False)
        self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer, step=self.step)

    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        self.optimizer.apply(tape.gradient(loss, self.model.trainable_variables), self.model.trainable_variables)
        self.step.assign_add(1)
        return loss


class OwnTraining:
    """A module with a loop of its own."""

    def __init__(self, rule):
        self.rule, self.net, self.moments = rule, tf.Module(), tf.Module()
        self.net.w1, self.net.b1 = tf.Variable(tf.zeros([5, 8])), tf.Variable(tf.zeros([8]))
        self.net.w2, self.net.b2 = tf.Variable(tf.zeros([8, 1])), tf.Variable(tf.zeros([1]))
        self.all = [self.net.w1, self.net.b1, self.net.w2, self.net.b2]
        self.moments.m, self.moments.v = ([tf.Variable(tf.zeros_like(x)) for x in self.all] for _ in "mv")
        self.moments.t = tf.Variable(0, dtype=tf.int64)
        self.checkpoint = tf.train.Checkpoint(net=self.net, moments=self.moments)

    def train(self, x, y):
        with tf.GradientTape() as tape:
            h = tf.tanh(x @ self.net.w1 + self.net.b1)
            loss = tf.reduce_mean(tf.square(h @ self.net.w2 + self.net.b2 - y))
        self.moments.t.assign_add(1)
        t = tf.cast(self.moments.t, tf.float32)
        for w, m, v, g in zip(self.all, self.moments.m, self.moments.v, tape.gradient(loss, self.all)):
            if self.rule == "momentum":
                m.assign(m * 0.9 + g)
                w.assign_sub(m * 0.05)
                continue
            v.assign(v * 0.99 + tf.square(g) * 0.01)
            if self.rule == "adam":
                m.assign(m * 0.9 + g * 0.1)
                rate = 0.02 * tf.sqrt(1.0 - 0.99 ** t) / (1.0 - 0.9 ** t)
                w.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))
            else:
                w.assign_sub(0.01 * g / (tf.sqrt(v) + 1e-7))
        return loss


def to_and_fro(name, objects, most):
    """50 steps, now here and now there, in stretches of 1 to `most` steps: save, load in the other, go on."""
    run = folder / name
    x, y = wave((32, 5), 0, 2.0), wave((32, 1), 3, 1.0)
    whole = rewind("train", name, "-", run / "whole", 50)
    curve, saves = rewind("train", name, "-", run / "ckpt", 1), 1
    while len(curve) < 50:
        path, steps = str(run / f"ckpt-{saves}"), min(saves % most + 1, 50 - len(curve))
        if saves % 2:
            theirs = objects()
            status = theirs.checkpoint.restore(path)
            curve += [float(theirs.train(x, y)) for _ in range(steps)]
            status.assert_consumed()
            saved = theirs.checkpoint.save(str(run / "ckpt"))
        else:
            curve += rewind("train", name, path, run / "ckpt", steps)
            saved = tf.train.latest_checkpoint(str(run))
        saves += 1
        check(f"{name}: number of checkpoint {saves}", saved == str(run / f"ckpt-{saves}"))
    error = max(abs(a - b) for a, b in zip(whole, curve))
    check(f"{name}: 50 alternating steps: {len(curve)} losses, {error} from 50 on one side", len(curve) == 50 and error < 1e-5)
    check(f"{name}: the loss fell", whole[-1] < 0.7 * whole[0])


for make in [variables, tables, modules, attached, sequence, compiled, built_then_compiled, functional, subclass, layers,
             optimizers]:
    # Nadam's product, the states of recurrent layers and layers that are built behind compile() have other names of
    # their own here.
    case(make, with_names=make not in (layers, optimizers, compiled))
bytes_are_tensorflows()
tools()
shards()
names()
to_and_fro("training_adam", lambda: Training("adam"), 1)
for rule in list(Training.OPTIMIZERS)[1:] if "--full" in sys.argv else ["momentum", "rmsprop"]:
    to_and_fro("training_" + rule, lambda: Training(rule), 9)
for rule in "momentum", "adam", "rmsprop":
    to_and_fro("own_" + rule, lambda: OwnTraining(rule), 9)
print(f"checkpoints: {checks} checks, {len(failed)} failed")
sys.exit(bool(failed))
