"""Layers of text and categories against Keras: what adapt() learns, results, configs both ways; models in .keras files.

    check_keras_text.py BUILD_FOLDER    (with a Python that has TensorFlow)

keras_text.cc makes each layer from Keras' config.
"""
import json
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
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

program = pathlib.Path(sys.argv[1]) / "tests" / "keras_text"
folder = pathlib.Path(tempfile.mkdtemp())


def plain(x):
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    if isinstance(x, np.generic): return x.item()
    return x


def tensor(x):
    x = np.asarray(x.numpy() if hasattr(x, "numpy") else x)
    text = x.dtype.kind in "OSU"
    values = [v.decode() if isinstance(v, bytes) else str(v) for v in x.ravel()] if text else x.ravel().tolist()
    return dict(dtype="string" if text else str(x.dtype), shape=list(x.shape), values=values)


def difference(got, want, exact):
    if got["dtype"] != want["dtype"] or got["shape"] != want["shape"]:
        return f"{got['dtype']} {got['shape']} for {want['dtype']} {want['shape']}"
    if want["dtype"] == "string" or exact:
        return "" if got["values"] == want["values"] else f"{got['values']} for {want['values']}"
    a, b = np.array(got["values"], float), np.array(want["values"], float)
    error = np.max(np.where(np.isnan(a) & np.isnan(b), 0, np.abs(a - b)), initial=0)
    return "" if error < 1e-6 else f"error {error}: {got['values']} for {want['values']}"


# ---- layers: (name, layer, data to adapt to or None, inputs, keywords)
TEXTS = ["the cat sat on the mat", "The DOG, sat!", "a cat & a dog; on a mat?", "", "h\u00e4user \u20ac caf\u00e9 na\u00efve", "dog dog DOG  dog\tdog"]
WORDS = ["cat", "dog", "cat", "mat", "the", "cat", "dog", "zebra", "owl", "owl", "a"]
ASKED = ["cat", "dog", "mouse", "the", "", "owl", "[UNK]"]
NUMBERS = [7, 3, 7, 7, 12, -4, 3, 100, 12, 12, 5]
CASES = []


def case(name, make, adapt, *inputs, **more): CASES.append((name, make(), adapt, inputs, more))


def grid(data, rows): return np.array(data[:len(data) // rows * rows]).reshape(rows, -1)


S, I, T = L.StringLookup, L.IntegerLookup, L.TextVectorization
for batch in (None, 3):
    case(f"string lookup {batch}", lambda: S(), np.array(WORDS), np.array(ASKED), batch=batch)
    case(f"string lookup tf_idf {batch}", lambda: S(output_mode="tf_idf"), grid(WORDS, 5), grid(ASKED, 2), batch=batch)
    case(f"integer lookup {batch}", lambda: I(), np.array(NUMBERS), np.array([7, 3, 99, 5, -4]), batch=batch)
    case(f"text {batch}", lambda: T(), np.array(TEXTS), np.array(TEXTS), batch=batch)
    case(f"text tf_idf {batch}", lambda: T(output_mode="tf_idf"), np.array(TEXTS), np.array(TEXTS), batch=batch)
    case(f"discretization {batch}", lambda: L.Discretization(num_bins=4), np.sin(np.arange(300, dtype="f4") * 1.7) * 10,
         np.linspace(-12, 12, 25, dtype="f4"), batch=batch)
case("mask, max", lambda: S(max_tokens=5, mask_token=""), np.array(WORDS + [""]), np.array(ASKED))
case("three oov", lambda: S(num_oov_indices=3), np.array(WORDS), np.array(ASKED + ["q", "r", "s", "t"]))
case("three oov, salt", lambda: S(num_oov_indices=3, salt=[7, 9], mask_token="owl"), np.array(WORDS), np.array(ASKED + ["q", "r", "s"]))
case("vocabulary", lambda: S(vocabulary=["a", "b", "c"]), None, np.array([["a", "c"], ["x", "b"]]))
case("vocabulary with special", lambda: S(vocabulary=["", "[UNK]", "a", "b"], mask_token=""), None, np.array(["", "a", "x"]))
case("no oov", lambda: S(vocabulary=["a", "b", "c"], num_oov_indices=0), None, np.array(["a", "c"]))
case("inverse", lambda: S(vocabulary=["a", "b", "c"], invert=True), None, np.array([0, 1, 2, 3, 9]))
case("inverse with mask", lambda: S(vocabulary=["a", "b"], invert=True, mask_token="", oov_token="?"), None, np.array([[0, 1], [2, 3]]))
for mode in ("one_hot", "multi_hot", "count"):
    for shape in ((7,), (7, 1), (1, 7)):
        x = np.array(ASKED).reshape(shape)
        case(f"{mode} {shape}", lambda: S(output_mode=mode), np.array(WORDS), x)
        case(f"{mode} {shape} padded", lambda: S(output_mode=mode, mask_token="", max_tokens=12, pad_to_max_tokens=True), np.array(WORDS), x)
        case(f"integers {mode} {shape}", lambda: I(output_mode=mode), np.array(NUMBERS), np.array([7, 3, 99, 5, -4, 0, 7]).reshape(shape))
case("tf_idf given", lambda: S(vocabulary=["a", "b"], idf_weights=[0.5, 0.25], output_mode="tf_idf"), None, np.array([["a", "a"], ["b", "x"]]))
case("tf_idf padded", lambda: S(output_mode="tf_idf", max_tokens=9, pad_to_max_tokens=True), grid(WORDS, 5), grid(ASKED, 2))
case("integers, three oov", lambda: I(num_oov_indices=3), np.array(NUMBERS), np.array([7, 3, 99, 98, 97, -1]))
case("integers, farmhash", lambda: I(num_oov_indices=3, oov_method="farmhash"), np.array(NUMBERS), np.array([7, 3, 99, 98, 97, -1]))
case("integers, salt", lambda: I(num_oov_indices=4, oov_method="farmhash", salt=5), np.array(NUMBERS), np.array([7, 3, 99, 98, 97, -1]))
case("integers, mask", lambda: I(mask_token=0, max_tokens=4), np.array(NUMBERS + [0]), np.array([0, 7, 3, 99]))
case("integers inverse", lambda: I(vocabulary=[5, 6], invert=True, mask_token=0), None, np.array([0, 1, 2, 3]))

for standardize in (None, "lower", "strip_punctuation", "lower_and_strip_punctuation"):
    for split in ("whitespace", "character"):
        case(f"text {standardize} {split}", lambda: T(standardize=standardize, split=split), np.array(TEXTS), np.array(TEXTS))
for length in (3, 20):
    case(f"text to {length}", lambda: T(output_sequence_length=length), np.array(TEXTS), np.array(TEXTS).reshape(-1, 1))
    case(f"tokens to {length}", lambda: T(split=None, output_sequence_length=length), np.array(WORDS), grid(WORDS, 5))
case("tokens", lambda: T(split=None), np.array(WORDS), grid(WORDS, 5))
for ngrams in (2, (2,), (3, 1)):
    case(f"text ngrams {ngrams}", lambda: T(ngrams=ngrams), np.array(TEXTS), np.array(TEXTS))
    case(f"text ngrams {ngrams} multi_hot", lambda: T(ngrams=ngrams, output_mode="multi_hot", max_tokens=12), np.array(TEXTS), np.array(TEXTS))
for mode in ("multi_hot", "count", "tf_idf"):
    case(f"text {mode}", lambda: T(output_mode=mode), np.array(TEXTS), np.array(TEXTS))
    case(f"text {mode} padded", lambda: T(output_mode=mode, max_tokens=30, pad_to_max_tokens=True), np.array(TEXTS), np.array(TEXTS))
case("text max", lambda: T(max_tokens=6), np.array(TEXTS), np.array(TEXTS))
case("text vocabulary", lambda: T(vocabulary=["cat", "dog"]), None, np.array(TEXTS))
case("text idf", lambda: T(vocabulary=["cat", "dog"], idf_weights=[0.3, 0.9], output_mode="tf_idf"), None, np.array(TEXTS))
case("text ragged", lambda: T(ragged=True), np.array(TEXTS), np.array(TEXTS), ragged=True)
case("one text", lambda: T(), np.array(TEXTS), np.array(TEXTS[2]))

for mode in ("one_hot", "multi_hot", "count"):
    for shape in ((4,), (4, 1), (2, 2), ()):
        x = np.array([3, 0, 3, 1]).reshape(shape) if shape else np.array(2)
        case(f"encoding {mode} {shape}", lambda: L.CategoryEncoding(5, output_mode=mode), None, x)
        if shape or mode != "one_hot":
            case(f"hashing {mode} {shape}", lambda: L.Hashing(6, output_mode=mode), None, np.array(["a", "b", "", "xyz"]).reshape(shape) if shape else np.array("q"))
    case(f"encoding {mode} 3", lambda: L.CategoryEncoding(5, output_mode=mode), None, np.arange(12).reshape(2, 3, 2) % 5)
    case(f"discretized {mode}", lambda: L.Discretization(bin_boundaries=[-1.0, 0.5, 2.0], output_mode=mode), None,
         np.array([[-3.0, 0.0], [0.5, 9.0]], "f4"))
case("encoding weighted", lambda: L.CategoryEncoding(5, output_mode="count"), None, np.array([[1, 2], [2, 2]]), np.array([[0.5, 1], [2, 3]], "f4"), weights=True)
case("hashing", lambda: L.Hashing(11), None, np.array([["a", "b"], ["c", "a longer one"]]))
case("hashing numbers", lambda: L.Hashing(11), None, np.array([1, 2, -3, 10**12]))
case("hashing salt", lambda: L.Hashing(11, salt=[133, 137]), None, np.array(["a", "b", "c"]))
case("hashing one salt", lambda: L.Hashing(11, salt=133, dtype="int32"), None, np.array(["a", "b", "c"]))
case("hashing mask", lambda: L.Hashing(11, mask_value=""), None, np.array(["a", "", "c"]))
case("hashing mask number", lambda: L.Hashing(11, mask_value=0), None, np.array([1, 0, 7]))
for mode in ("int", "one_hot"):
    for shape in ((4,), (4, 1)):
        a, b = np.array(["A", "B", "A", ""]).reshape(shape), np.array([101, 102, -103, 101]).reshape(shape)
        case(f"crossing {mode} {shape}", lambda: L.HashedCrossing(num_bins=5, output_mode=mode), None, a, b)
        case(f"crossing {mode} {shape} 3", lambda: L.HashedCrossing(num_bins=50, output_mode=mode), None, a, b, a)
case("crossing one", lambda: L.HashedCrossing(num_bins=7), None, np.array("x"), np.array(5))
case("discretized", lambda: L.Discretization(bin_boundaries=[0.0, 1.0, 2.0]), None, np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 2.0]], "f4"))
case("discretized integers", lambda: L.Discretization(bin_boundaries=[0.0, 10.0]), None, np.array([-1, 0, 9, 10, 11]))
case("discretization exact", lambda: L.Discretization(num_bins=3, epsilon=0.001), np.arange(50, dtype="f4") ** 2, np.arange(0, 2500, 99, dtype="f4"))
case("normalization", lambda: L.Normalization(), np.sin(np.arange(60, dtype="f4")).reshape(20, 3), np.sin(np.arange(6, dtype="f4")).reshape(2, 3))
case("normalization of all", lambda: L.Normalization(axis=None, invert=True), np.sin(np.arange(60, dtype="f4")).reshape(20, 3), np.sin(np.arange(6, dtype="f4")).reshape(2, 3))

rows, wanted = [], []
for name, layer, adapt, inputs, more in CASES:
    row = dict(layer=plain(keras.saving.serialize_keras_object(layer)), inputs=[tensor(x) for x in inputs])
    if adapt is not None:
        row["adapt"] = tensor(adapt)
        if more.get("batch"):
            row["batch"] = more["batch"]
            layer.adapt(tf.data.Dataset.from_tensor_slices(adapt).batch(more["batch"]))
        else:
            layer.adapt(adapt)
    given = [tf.constant(x) for x in inputs]
    if more.get("weights"): out = layer(given[0], count_weights=given[1])
    else: out = layer(given if len(given) > 1 else given[0])
    want = {}
    if more.get("ragged"):
        row["config_ragged"] = True
        want = dict(output=tensor(out.flat_values), splits=tensor(out.row_splits))
    else:
        want["output"] = tensor(out)
    if hasattr(layer, "get_vocabulary"):
        # Keras gives None for tokens that there are none of.
        want["vocabulary"] = tensor(np.array(layer.get_vocabulary()))
    want["config"] = plain(keras.saving.serialize_keras_object(layer))
    rows.append(row)
    wanted.append(want)
(folder / "cases.json").write_text(json.dumps(rows))
subprocess.run([program, "layers", folder / "cases.json", folder / "results.json"], check=True)
for (name, layer, *_), got, want in zip(CASES, json.loads((folder / "results.json").read_text()), wanted):
    check(name, "error" not in got, got.get("error"))
    for part in ("output", "splits", "vocabulary"):
        if part in want and part in got:
            d = difference(got[part], want[part], exact=want[part]["dtype"] != "float32")
            check(f"{name}: {part}", not d, d)
    if "config" in got:
        ours, theirs = got["config"], want["config"]
        ours["config"].pop("name"), theirs["config"].pop("name")
        for k in set(ours["config"]) | set(theirs["config"]):
            a, b = ours["config"].get(k), theirs["config"].get(k)
            check(f"{name}: config {k}", a == b and (k in ours["config"]) == (k in theirs["config"]), f"{a} for {b}")
        again = keras.saving.deserialize_keras_object(dict(ours, config=dict(ours["config"], name="again")))
        check(f"{name}: Keras takes the config", type(again) is type(layer))

# ---- models in files
MODELS = {}


def model(name, make, *inputs): MODELS[name] = (make(), inputs)


def adapted(layer, data):
    layer.adapt(data)
    return layer


def classifier(text, after):
    return keras.Sequential([keras.Input((1,), dtype="string"), text, *after])


model("text", lambda: classifier(adapted(T(max_tokens=20, output_sequence_length=7), TEXTS), [L.Embedding(20, 4, mask_zero=True), L.GlobalAveragePooling1D(), L.Dense(3)]),
      np.array(TEXTS).reshape(-1, 1))
for mode in ("multi_hot", "count", "tf_idf"):
    model(f"text {mode}", lambda: classifier(adapted(T(max_tokens=25, output_mode=mode, pad_to_max_tokens=True, ngrams=2), TEXTS), [L.Dense(3)]), np.array(TEXTS).reshape(-1, 1))


def tabular():
    a, b, c = keras.Input((1,), dtype="string"), keras.Input((1,), dtype="int64"), keras.Input((1,))
    parts = [adapted(S(output_mode="one_hot"), WORDS)(a), adapted(I(output_mode="multi_hot"), NUMBERS)(b), adapted(L.Normalization(), np.arange(9.0).reshape(-1, 1))(c),
             L.CategoryEncoding(4, output_mode="one_hot")(adapted(L.Discretization(num_bins=4), np.arange(100.0))(c)), L.Hashing(5, output_mode="one_hot")(a)]
    return keras.Model([a, b, c], L.Dense(2)(L.Concatenate()([L.Rescaling(1.0)(p) for p in parts])))


model("tabular", tabular, np.array([["cat"], ["cow"]]), np.array([[7], [8]]), np.array([[1.5], [70]], "f4"))
for name, (built, inputs) in MODELS.items():
    path, again = folder / "theirs.keras", folder / "ours.keras"
    built.save(path)
    want = built([tf.constant(x) for x in inputs] if len(inputs) > 1 else tf.constant(inputs[0]))
    (folder / "inputs.json").write_text(json.dumps([tensor(x) for x in inputs]))
    again.unlink(missing_ok=True)
    done = subprocess.run([program, "model", path, folder / "inputs.json", folder / "out.json", again], capture_output=True, text=True)
    check(f"model {name} is loaded", done.returncode == 0, done.stderr.strip()[-600:])
    if done.returncode: continue
    d = difference(json.loads((folder / "out.json").read_text()), tensor(want), False)
    check(f"model {name}", not d, d)
    try:
        loaded = keras.models.load_model(again)
        d = difference(tensor(loaded([tf.constant(x) for x in inputs] if len(inputs) > 1 else tf.constant(inputs[0]))), tensor(want), False)
        check(f"model {name}, saved by Rewind", not d, d)
    except Exception as e:  # noqa: BLE001: Keras' own
        check(f"model {name}, saved by Rewind", False, repr(e)[-600:])

for text in failed[:40]: print("failed:", text)
print(f"{tally.count} checks of layers of text and categories, {len(failed)} failed")
sys.exit(1 if failed else 0)
