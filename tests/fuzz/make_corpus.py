"""Writes the seeds of the fuzz targets to tests/fuzz/corpus/: small files of TensorFlow's, Keras', numpy's and h5py's,
and of this library, by its command line. Inputs with other names (found-...) stay.

    make_corpus.py build/release/cli/rewind          with a Python that has TensorFlow and Keras
"""
import gzip
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import h5py  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus"
GOLDEN = FOLDER.parent.parent / "golden"


def put(target, name, data):
    (FOLDER / target).mkdir(parents=True, exist_ok=True)
    (FOLDER / target / name).write_bytes(data)


def parts(*files):
    return b"".join(struct.pack("<I", len(f)) + f for f in files)


# ---- tables and checkpoints ---------------------------------------------------------------------------------------

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def table(entries, snappy):
    def block(pairs):
        plain = b"".join(bytes([0, len(k), len(v)]) + k + v for k, v in pairs) + struct.pack("<II", 0, 1)
        data = bytes([len(plain), (len(plain) - 1) << 2]) + plain if snappy else plain  # one literal
        kind = bytes([1 if snappy else 0])
        return data + kind + struct.pack("<I", masked(crc32c(data + kind))), len(data)

    out, index = b"", []
    for key, value in entries:
        data, size = block([(key, value)])
        index.append((key, bytes([len(out), size])))
        out += data
    meta_at = len(out)
    meta, meta_size = block([])
    out += meta
    index_at = len(out)
    data, size = block(index)
    handles = bytes([meta_at, meta_size, index_at, size])
    return out + data + handles.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def tables():
    put("table", "plain", table([(b"a", b"1"), (b"ab", b"22")], False))
    put("table", "snappy", table([(b"a", b"1" * 20)], True))
    put("table", "copies", b"\x08\x04ab\x12\x02\x00")  # Snappy: a literal and a copy


class Inner(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.zeros([300]))


def checkpoints(rewind, folder):
    step = tf.Variable(3, dtype=tf.int64)
    ckpt = tf.train.Checkpoint(a=tf.Variable(tf.ones([300])), text=tf.Variable(["x", "yy", ""]), inner=Inner(), step=step)
    path = pathlib.Path(ckpt.save(str(folder / "ckpt")))

    def bundle(prefix):
        return [pathlib.Path(f"{prefix}{end}").read_bytes() for end in (".index", ".data-00000-of-00001")]

    put("checkpoint", "tensorflow", parts(*bundle(path), (folder / "checkpoint").read_bytes()))
    put("checkpoint", "slices", parts(*bundle(GOLDEN / "bundle" / "slices")[:1], b"\0" * 2000, b""))
    np.savez(folder / "a.npz", a=np.ones(3, "f4"), b=np.array([b"x", b"yy"]))
    subprocess.run([rewind, "convert", folder / "a.npz", folder / "ours.index"], check=False, capture_output=True)
    if (folder / "ours.index").exists():
        put("checkpoint", "ours", parts(*bundle(folder / "ours"), b'model_checkpoint_path: "ckpt-1"\n'))
    np.savez(folder / "b.npz", a=np.ones((2, 3), "f4"), b=np.arange(3, dtype="i8"))
    for end, target in (("safetensors", "safetensors"), ("h5", "hdf5"), ("npz", "zip")):
        out = folder / f"converted.{end}"
        subprocess.run([rewind, "convert", folder / "b.npz", out], check=True, capture_output=True)
        put(target, f"ours.{end}", out.read_bytes())


# ---- SavedModels and graphs ---------------------------------------------------------------------------------------

class Simple(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones([2, 3]))
        self.scale = tf.constant([2.0, 3.0, 4.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w) * self.scale)


class Flow(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        self.count.assign_add(1)
        if tf.reduce_sum(x) > 0.0:
            x = tf.concat([x, x[:1]], 0)
        list = tf.TensorArray(tf.float32, size=2)
        list = list.write(0, x).write(1, tf.reverse(x, [0]))
        return {"stack": list.stack(), "sorted": tf.gather(x, tf.argsort(x))}


class Gradient(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x):
        @tf.custom_gradient
        def cube(v):
            return v * v * v, lambda g: 3.0 * g * v * v
        return cube(x)


def saved_models(folder):
    def write(name, module):
        path = folder / name
        tf.saved_model.save(module, str(path), options=tf.saved_model.SaveOptions(save_debug_info=False,
                            experimental_custom_gradients=True))
        model = saved_model_pb2.SavedModel.FromString((path / "saved_model.pb").read_bytes())
        graph = model.meta_graphs[0]
        graph.meta_info_def.ClearField("stripped_op_list")
        graph.graph_def.versions.Clear()
        for f in graph.graph_def.library.function:  # what people read, and the reader does not
            f.attr.clear()
            for node in f.node_def:
                node.ClearField("experimental_debug_info")
        variables = path / "variables" / "variables"
        bundle = [pathlib.Path(f"{variables}{end}").read_bytes() for end in (".index", ".data-00000-of-00001")]
        put("saved_model", name, parts(model.SerializeToString(deterministic=True), *bundle))

    write("simple", Simple())
    write("flow", Flow())
    write("gradient", Gradient())
    session = GOLDEN / "saved_model" / "session"
    model = saved_model_pb2.SavedModel.FromString((session / "saved_model.pb").read_bytes())
    model.meta_graphs[0].meta_info_def.ClearField("stripped_op_list")
    put("saved_model", "session", parts(model.SerializeToString(deterministic=True),
                                        (session / "variables/variables.index").read_bytes(),
                                        (session / "variables/variables.data-00000-of-00001").read_bytes()))


def graphs():
    put("graph_def", "frozen", b"b" + (GOLDEN / "saved_model/frozen.pb").read_bytes())

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        y = tf.cond(n > 1, lambda: tf.nn.softmax(x), lambda: x[:, ::-1])
        return tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf.tanh(v)), (0, y))[1], tf.strings.as_string(n)

    graph = f.get_concrete_function().graph.as_graph_def()
    graph.ClearField("versions")
    put("graph_def", "control", b"b" + graph.SerializeToString(deterministic=True))
    g = tf.Graph()
    with g.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2, 2], "x")
        tf.identity(tf.einsum("ij,jk->ik", x, x) + tf.constant([[1.5, float("nan")]]), "y")
    put("graph_def", "text", b"t" + str(g.as_graph_def()).encode())
    golden = GOLDEN / "saved_model"
    put("message", "structured_value", bytes([4]) + (golden / "structured_value.pb").read_bytes())
    put("message", "meta_graph", bytes([6]) + (golden / "meta_graph.pb").read_bytes())
    meta = tf.compat.v1.MetaGraphDef.FromString((golden / "meta_graph.pb").read_bytes())
    put("message", "meta_graph_text", bytes([7]) + str(meta).encode())


# ---- Keras --------------------------------------------------------------------------------------------------------

def keras_models(folder):
    def write(name, model):
        keras.models.save_model(model, folder / f"{name}.keras")
        with zipfile.ZipFile(folder / f"{name}.keras") as z:
            put("keras", name, parts(z.read("config.json"), z.read("model.weights.h5")))
            if name == "sequential":
                put("json", name, z.read("config.json"))

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, activation="relu", kernel_regularizer="l2"),
                              keras.layers.Dropout(0.5)])
    write("sequential", model)
    a, b = keras.Input((4, 3), name="a"), keras.Input((4, 3), name="b")
    shared = keras.layers.LSTM(2)
    both = keras.layers.Concatenate()([shared(a), shared(b)])
    write("functional", keras.Model([a, b], {"y": keras.layers.Dense(1)(both + 1.0)}))
    keras.models.save_model(model, folder / "old.h5")
    put("keras", "old", parts((folder / "old.h5").read_bytes()))
    put("json", "values", b'{"a": [1, -2.5e10, true, null, NaN, "\\u00e4\\ud83d\\ude00\\n"], "b": {"": {}}}')


# ---- arrays and data ----------------------------------------------------------------------------------------------

def arrays(folder):
    for libver, name in (("earliest", "old"), ("latest", "new")):
        path = folder / f"{name}.h5"
        with h5py.File(path, "w", libver=libver) as f:
            f.create_dataset("g/chunked", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2), compression="gzip", shuffle=True)
            f["text"] = ["a", "bc"]
            f["g"].attrs["names"] = [b"x", b"yy"]
            f.create_dataset("grows", (2,), maxshape=(None,), chunks=(2,), fletcher32=True, dtype="i2")
        put("hdf5", f"{name}.h5", path.read_bytes())
    put("npy", "fortran.npy", npy(folder, np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))))
    put("npy", "complex.npy", npy(folder, np.array([1 + 2j])))
    put("npy", "bytes.npy", npy(folder, np.array([b"a", b"bcd"])))
    put("npy", "text.npy", npy(folder, np.array(["a", "\u00e4\u20ac"])))
    with zipfile.ZipFile(folder / "a.npz", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("x.npy", npy(folder, np.zeros(40, "f4")))
        with z.open("dir/y", "w", force_zip64=True) as f:
            f.write(b"hello")
    put("zip", "deflated", (folder / "a.npz").read_bytes())


def npy(folder, array):
    np.save(folder / "x.npy", array)
    return (folder / "x.npy").read_bytes()


def data_files():
    idx = bytes([0, 0, 0x0B, 2]) + struct.pack(">II", 2, 3) + bytes(range(12))
    put("data", "idx", idx)
    put("data", "idx_gz", gzip.compress(idx, mtime=0))
    put("data", "csv", b'a,b,c\n1,2.5,"x, ""y"""\n,,\n3,1e5,z\n')
    image = tf.constant(np.arange(5 * 4 * 3, dtype="u1").reshape(5, 4, 3))
    put("data", "png", tf.io.encode_png(image).numpy())
    put("data", "png16", tf.io.encode_png(tf.cast(image[..., :1], tf.uint16) * 257).numpy())
    put("data", "jpeg", tf.io.encode_jpeg(image, quality=50).numpy())
    put("data", "jpeg_progressive", tf.io.encode_jpeg(image[..., :1], format="grayscale", progressive=True).numpy())


def texts():
    for k, seed in enumerate((b"(a|ab)(c|bcd)(d*)\nabcdabcd", "(?i)\\pL+\\b|\\d{2,3}?\nHello 123 W\u00f6rld".encode(),
                              b"^(?m:^$|x*)*[^\\n]?\n\nxx\nab", b"(?:a?){8}a{8}\naaaaaaaaaaaa",
                              b"[[:alpha:]_-]+@\\w+\\.(com|org)\nann@example.com, bob@x.org",
                              b"\\Qa.b*\\E+(?U)c+?\\C\na.b**ccc\xff", b"(|a)*(b|)+$\naaabbb")):
        put("regex", f"pattern{k}", seed)
    for name, lines in (("words", b"the\ncat\nsat\n"), ("columns", b"a\t1\nb\t2\n\nc\n"), ("numbers", b"1,2\r\n-3,4.5\n"), ("empty", b""),
                        ("twice", b"x\nx\n\xff\n")):
        put("vocabulary", name, lines)


if __name__ == "__main__":
    for old in FOLDER.glob("*/*"):
        if not old.name.startswith("found-"):
            old.unlink()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        tables()
        checkpoints(sys.argv[1], folder)
        saved_models(folder)
        graphs()
        keras_models(folder)
        arrays(folder)
        data_files()
        texts()
    finally:
        shutil.rmtree(folder)
    for path in sorted(FOLDER.glob("*/*")):
        print(f"{path.parent.name}/{path.name} {path.stat().st_size}")
