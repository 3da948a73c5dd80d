"""Weights in Keras' files against Keras itself, both ways: .weights.h5, older .h5 files, weights and whole models.

    check_keras_files.py BUILD_FOLDER    (with a Python that has TensorFlow and h5py)

keras_files.cc has the same models. Files of Keras are read by Rewind, files of Rewind by Keras: values are equal bit
for bit, and so are the objects that the files have.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import h5py  # noqa: E402
import keras  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from absl import logging  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import optimizers as O  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

warnings.simplefilter("ignore")
logging.set_verbosity(logging.ERROR)
program = pathlib.Path(sys.argv[1]) / "tests" / "keras_files"
folder = pathlib.Path(tempfile.mkdtemp())


# ---- models, as keras_files.cc has them
class Scale(L.Layer):
    def build(self, shape):
        self.offset = self.add_weight(name="offset", shape=shape[-1:], trainable=False)
        self.factor = self.add_weight(name="factor", shape=shape[-1:])

    def call(self, x): return x * self.factor + self.offset


class Block(L.Layer):
    def __init__(self):
        super().__init__()
        self.zoom, self.narrow, self.scale = L.Dense(4), L.Dense(3), Scale()

    def build(self, shape):
        self.zoom.build(shape)
        self.narrow.build((None, 4))
        self.scale.build((None, 3))

    def call(self, x): return self.scale(self.narrow(self.zoom(x)))


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.stem, self.tail, self.hidden = L.Dense(3), L.Dense(2), L.Dense(3)
        self.blocks = [L.Dense(3), L.Dense(3)]
        self.by_name = {"a": L.Dense(3), "b": L.Dense(3)}
        self.grid = [[L.Dense(3)], [L.Dense(3), L.Dense(3)]]
        self.block = Block()
        self._private = L.Dense(3)

    def call(self, x):
        y = self.hidden(self.stem(x))
        for d in self.blocks: y = d(y)
        for d in self.by_name.values(): y = d(y)
        for row in self.grid:
            for d in row: y = d(y)
        return self.tail(self._private(self.block(y)))


def dense(optimizer):
    m = keras.Sequential([keras.Input((4,)), L.Dense(3), L.Dropout(0.5), L.Dense(2)])
    m.compile(optimizer, "mse")
    m.optimizer.build(m.trainable_variables)
    return m


def shared():
    a, b = keras.Input((4,)), keras.Input((4,))
    same = L.Dense(3)
    return keras.Model([a, b], [L.Dense(2)(same(a) + same(b) * 2.0), L.Dense(1)(same(b))])


def nested():
    inner = keras.Sequential([L.Dense(3), L.Dense(3)])
    i = keras.Input((3,))
    middle = keras.Model(i, L.Dense(3)(inner(i)))
    x = keras.Input((3,))
    return keras.Model(x, middle(inner(middle(x))))


def attention():
    x = keras.Input((5, 6))
    y = L.MultiHeadAttention(2, 3, dropout=0.1)(x, x)
    return keras.Model(x, L.MultiHeadAttention(2, 4, value_dim=5, use_bias=False)(y, x, x))


def merges():
    a, b = keras.Input((3,)), keras.Input((3,))
    every = [L.Add()([a, b]), L.Subtract()([a, b]), L.Multiply()([a, b]), L.Average()([a, b]), a * b]
    every.append(L.Add()([L.Maximum()([a, b]), L.Minimum()([a, b])]))
    every.append(L.Dot(1)([a, b]))
    return keras.Model([a, b], L.Dense(2)(L.Concatenate()(every)))


def frozen():
    d = L.Dense(3)
    d.trainable = False
    return chain((4,), d, L.BatchNormalization(trainable=False), Scale(), L.Dense(2))


def subclass():
    net = Net()
    net(np.ones((1, 4), np.float32))
    return net


def chain(shape, *layers): return keras.Sequential([keras.Input(shape), *layers])


MODELS = {
    "convolutions": lambda: chain((8, 8, 2), L.Conv2D(4, 3, groups=2), L.DepthwiseConv2D(2, depth_multiplier=2),
                                  L.SeparableConv2D(3, 2), L.Conv2DTranspose(2, 2, use_bias=False), L.PReLU()),
    "lines": lambda: chain((12, 2), L.Conv1D(3, 3), L.DepthwiseConv1D(2), L.SeparableConv1D(3, 2),
                           L.Conv1DTranspose(2, 2)),
    "volumes": lambda: chain((4, 4, 4, 1), L.Conv3D(2, 2), L.Conv3DTranspose(1, 2)),
    "normalizations": lambda: chain((3, 4), L.BatchNormalization(), L.BatchNormalization(scale=False),
                                    L.LayerNormalization(), L.GroupNormalization(2), L.Normalization()),
    "recurrent": lambda: chain((5, 3), L.LSTM(4, return_sequences=True), L.GRU(3, return_sequences=True),
                               L.GRU(3, reset_after=False, return_sequences=True),
                               L.SimpleRNN(2, use_bias=False, recurrent_dropout=0.1)),
    "wrappers": lambda: chain((5, 3), L.Bidirectional(L.LSTM(4, return_sequences=True)), L.TimeDistributed(L.Dense(2)),
                              L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode="sum"),
                              L.TimeDistributed(L.BatchNormalization()), L.SimpleRNN(2)),
    "embedding": lambda: chain((5,), L.Embedding(10, 4), L.Flatten(), L.Dense(3, use_bias=False), L.Activation("relu"),
                               L.GaussianNoise(0.1)),
    "images": lambda: chain((8, 8, 2), L.Rescaling(0.5), L.RandomFlip(), L.RandomRotation(0.1), L.ZeroPadding2D(1),
                            L.Conv2D(2, 3), L.Cropping2D(1), L.UpSampling2D(2), L.MaxPooling2D(2),
                            L.AveragePooling2D(2), L.SpatialDropout2D(0.1), L.GaussianDropout(0.1), L.LeakyReLU(),
                            L.ELU(), L.ReLU(), L.Softmax(), L.Conv2D(2, 1), L.GlobalAveragePooling2D(), L.Dense(2)),
    "sequences": lambda: chain((12, 2), L.Masking(), L.Dense(3), L.ZeroPadding1D(1), L.Cropping1D(1), L.UpSampling1D(2),
                               L.MaxPooling1D(2), L.AveragePooling1D(2), L.Permute((2, 1)), L.Reshape((9, 2)),
                               L.GlobalMaxPooling1D(), L.RepeatVector(3), L.SpatialDropout1D(0.1), L.Dense(3),
                               L.Flatten(), L.Dense(1)),
    "merges": merges, "attention": attention, "shared": shared, "nested": nested, "frozen": frozen, "subclass": subclass,
    "bfloat16": lambda: chain((4,), L.Dense(3, dtype="bfloat16"), L.Dense(2)),
}
OPTIMIZERS = {
    "sgd": lambda: O.SGD(), "momentum": lambda: O.SGD(momentum=0.9, nesterov=True), "adam": lambda: O.Adam(amsgrad=True),
    "adamw": lambda: O.AdamW(), "adamax": lambda: O.Adamax(), "nadam": lambda: O.Nadam(),
    "rmsprop": lambda: O.RMSprop(momentum=0.5, centered=True), "adagrad": lambda: O.Adagrad(),
    "adadelta": lambda: O.Adadelta(), "ftrl": lambda: O.Ftrl(), "lion": lambda: O.Lion(),
    "average": lambda: O.Adam(use_ema=True), "accumulate": lambda: O.Adam(gradient_accumulation_steps=2),
    "schedule": lambda: O.SGD(O.schedules.ExponentialDecay(0.1, 10, 0.5)),
    "loss_scale": lambda: O.LossScaleOptimizer(O.SGD(momentum=0.9)),
}
TYPED = {name: (lambda make=make: dense(make())) for name, make in OPTIMIZERS.items()}


# ---- values
def variables(model, training):
    own = model.optimizer.variables if training else []
    return ({f"w{i}": v for i, v in enumerate(model.weights)} | {f"o{i}": v for i, v in enumerate(own)})


def numbers(seed, v):
    rng = np.random.default_rng(seed)
    dtype = ml_dtypes.bfloat16 if v.dtype == "bfloat16" else v.dtype
    return (rng.integers(1, 99, v.shape) if "int" in str(v.dtype) else rng.random(v.shape)).astype(dtype)


def randomize(model, training, seed):
    for i, v in enumerate(variables(model, training).values()): v.assign(numbers(1000 * seed + i, v))


def same(arrays, model, training):
    own = variables(model, training)
    if arrays.keys() != own.keys(): return False
    return all(np.array_equal(np.asarray(arrays[k]).view(np.uint8) if arrays[k].dtype.kind == "V" else arrays[k],
                              v.numpy().view(np.uint8) if v.dtype == "bfloat16" else v.numpy())
               for k, v in own.items())


def rewind(*arguments, fails=False):
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if bool(out.returncode) != fails:
        failed.append(f"keras_files {' '.join(map(str, arguments))}: {out.stderr[-600:]}")
    return out.stderr if fails else out.stdout


def load(name, path, *options):
    rewind("load", name, path, folder / "out.npz", *options)
    return dict(np.load(folder / "out.npz")) if (folder / "out.npz").exists() else {}


def objects(path):
    """The arrays, and the objects among a model's layers."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset): found[name] = (item.shape, str(item.dtype))
    with h5py.File(path) as f:
        f.visititems(visit)
        found["layers"] = sorted(f.get("layers", {}))
    return found


def both_ways(name, make, training):
    flag = ["training"] if training else []
    for extension in [".weights.h5", ".h5", ".keras"]:
        keras.backend.clear_session()
        model = make()
        randomize(model, training, 1)
        theirs, ours = folder / f"theirs{extension}", folder / f"ours{extension}"
        (folder / "out.npz").unlink(missing_ok=True)
        if extension == ".weights.h5": model.save_weights(theirs)
        elif name == "subclass" or name == "frozen": continue  # classes of the user's: no configuration
        else: model.save(theirs)
        check(f"{name}{extension}: read", same(load(name, theirs, *flag), model, training))
        if extension == ".keras": continue
        if extension == ".h5" and name == "bfloat16": continue  # Keras does not read its own
        randomize(model, training, 2)
        np.savez(folder / "in.npz", **{k: v.numpy() for k, v in variables(model, training).items()})
        want = {k: v.numpy() for k, v in variables(model, training).items()}
        if extension == ".weights.h5": model.save_weights(theirs)
        randomize(model, training, 3)
        ours.unlink(missing_ok=True)
        rewind("save", name, folder / "in.npz", ours, *flag)
        if not ours.exists(): continue
        model.load_weights(ours)
        if extension == ".h5" and training: continue  # load_weights leaves the optimizer alone
        check(f"{name}{extension}: written", same(want, model, training))
        if extension == ".weights.h5":
            check(f"{name}: objects", objects(theirs) == objects(ours))


def by_name():
    keras.backend.clear_session()
    model = chain((4,), L.Dense(3, name="first"), L.Dense(2, name="other"), L.Dense(7))
    randomize(model, False, 4)
    model.save(folder / "named.h5")
    before = load("named", folder / "named.h5", "by_name", "skip")
    w = model.weights
    check("by_name: found", np.array_equal(before["w0"], w[0].numpy()) and np.array_equal(before["w1"], w[1].numpy()))
    check("by_name: others", not np.array_equal(before["w2"], w[2].numpy()))


def skip_mismatch():
    keras.backend.clear_session()
    small, wide = TYPED["sgd"](), chain((4,), L.Dense(5), L.Dropout(0.5), L.Dense(2))
    randomize(small, False, 5)
    small.save_weights(folder / "small.weights.h5")
    error = rewind("load", "wider", folder / "small.weights.h5", folder / "out.npz", fails=True)
    check("mismatch: " + error, "2 objects could not be loaded: " in error and "is (4, 5), in the file (4, 3)" in error)
    randomize(wide, False, 6)
    wide.load_weights(folder / "small.weights.h5", skip_mismatch=True)
    ours = load("wider", folder / "small.weights.h5", "skip")
    for i, v in enumerate(wide.weights):
        fits = any(v.shape == u.shape and np.array_equal(v.numpy(), u.numpy()) for u in small.weights)
        mine = any(v.shape == u.shape and np.array_equal(ours[f"w{i}"], u.numpy()) for u in small.weights)
        check(f"skip_mismatch: {v.path}", fits == mine)


def long_names():
    """Lists of names that do not fit one attribute."""
    keras.backend.clear_session()
    with h5py.File(folder / "long.h5", "w") as f:
        from keras.src.legacy.saving.legacy_h5_format import save_attributes_to_hdf5_group
        save_attributes_to_hdf5_group(f, "layer_names", [b"first", b"second", b"dense"])
        for name, shapes in [("first", [(4, 3), (3,)]), ("second", [(3, 2), (2,)]), ("dense", [(2, 7), (7,)])]:
            names = [(name + "/" + "x" * 40000 + str(i)).encode() for i in range(len(shapes))]
            g = f.create_group(name)
            save_attributes_to_hdf5_group(g, "weight_names", names)
            for n, s in zip(names, shapes): g[n] = np.full(s, len(s), "f4")
        check("long names are cut", "weight_names0" in f["first"].attrs)
    out = load("named", folder / "long.h5")
    check("long names", all((v == v.ndim).all() for v in out.values()) and len(out) == 6)


for name, make in MODELS.items(): both_ways(name, make, False)
for name, make in TYPED.items(): both_ways("optimizer_" + name, make, True)
by_name()
skip_mismatch()
long_names()
print("\n".join(failed))
print(f"keras files: {tally.count - len(failed)} checks agree, {len(failed)} differ")
sys.exit(bool(failed))
