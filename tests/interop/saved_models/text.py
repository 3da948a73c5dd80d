"""Text: strings, lookup tables, rows of different lengths."""
import keras
import numpy as np
import tensorflow as tf

from saved_models.registry import MODELS, Model, floats, model

L = keras.layers
LINES = np.array(["the cat sat on the mat", "A dog, barked!", "", "the dog sat; cats AND dogs   too", "unseen w\u00f6rds here",
                  "a a a a a a a a a a"], object)


def text_classifier(short=False, **options):
    def make(folder):
        vectorize = L.TextVectorization(**options)
        vectorize.adapt(LINES[:4])
        embed = [L.Embedding(vectorize.vocabulary_size(), 4), L.GlobalAveragePooling1D()]
        is_int = options["output_mode"] == "int"
        m = keras.Sequential([keras.Input((), dtype="string"), vectorize] + (embed if is_int else []) + [L.Dense(3)])
        m.export(folder, verbose=False)
        return [dict(signature="serving_default", inputs={m.inputs[0].name: LINES}), dict(function="serve", args=[LINES], gradients=1),
                dict(function="serve", args=[LINES[2:3]])]
    name = "text_" + "_".join(str(v) for v in options.values()).replace(" ", "")
    MODELS.append(Model(name, make, short, 1e-4))


text_classifier(short=True, output_mode="int", output_sequence_length=6)
text_classifier(short=True, output_mode="multi_hot")
text_classifier(output_mode="int")
text_classifier(output_mode="count", max_tokens=8)
text_classifier(output_mode="tf_idf")
text_classifier(output_mode="int", ngrams=2, output_sequence_length=9)
text_classifier(output_mode="int", split="character", output_sequence_length=12)
text_classifier(output_mode="multi_hot", standardize="lower")
text_classifier(output_mode="int", standardize="strip_punctuation", output_sequence_length=5)


@model(short=True)
def string_lookup(folder):
    a, b = keras.Input((1,), dtype="string", name="a"), keras.Input((1,), dtype="int64", name="b")
    x = L.StringLookup(vocabulary=["red", "green", "blue"], num_oov_indices=2)(a)
    y = L.IntegerLookup(vocabulary=[10, 20, 30], output_mode="one_hot")(b)
    z = L.Hashing(num_bins=7, output_mode="one_hot")(a)
    x = L.Flatten()(L.Embedding(6, 3)(x))
    m = keras.Model({"a": a, "b": b}, L.Dense(2)(L.Concatenate()([x, y, L.Flatten()(z)])))
    m.export(folder, verbose=False)
    words = np.array([["red"], ["blue"], ["pink"], ["cyan"]], object)
    return [dict(signature="serving_default", inputs={"a": words, "b": np.array([[10], [30], [7], [20]])})]


@model()
def inverse_lookup(folder):
    ids = keras.Input((None,), dtype="int64")
    m = keras.Model(ids, L.StringLookup(vocabulary=["red", "green", "blue"], invert=True)(ids))
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={m.inputs[0].name: np.array([[1, 2, 3, 0, 9]])})]


@model()
def discretized(folder):
    x = keras.Input((3,))
    y = L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5])(x)
    z = L.CategoryEncoding(num_tokens=4, output_mode="count")(y)
    m = keras.Model(x, L.Dense(2)(z))
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={m.inputs[0].name: floats(5, 3)})]


class Tables(tf.Module):
    """Tables of every kind, from files and tensors, with what changes them."""

    def __init__(self, folder):
        super().__init__()
        path = folder + "-vocabulary.txt"
        with open(path, "w") as file: file.write("x\ny\nz\n")
        columns = folder + "-columns.tsv"
        with open(columns, "w") as file: file.write("x\t1.5\ny\t-2.5\r\n")
        index = tf.lookup.TextFileIndex
        self.vocabulary = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER), 2)
        self.reverse = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(path, tf.int64, index.LINE_NUMBER, tf.string, index.WHOLE_LINE, value_index_offset=5), "none")
        self.columns = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(columns, tf.string, 0, tf.float32, 1), 0.0)
        self.pairs = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([3, 1, 2], ["c", "a", "b"], tf.int64), "?")
        self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
        self.counts.insert(tf.constant(["kept", "also"]), tf.constant([7, 8], tf.int64))
        self.rows = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
        self.rows.insert(tf.constant([4], tf.int64), tf.constant([[1.0, 2.0]]))
        self.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -10, -11, initial_num_buckets=8)
        self.dense.insert(tf.constant([5, 6], tf.int64), tf.constant([50, 60], tf.int64))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(self, words):
        return (self.vocabulary.lookup(words), self.columns.lookup(words), self.counts.lookup(words), self.vocabulary.size(),
                self.counts.lookup(words, tf.range(tf.size(words, tf.int64))))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int64)])
    def numbers(self, numbers):
        return self.reverse.lookup(numbers), self.pairs.lookup(numbers), self.rows.lookup(numbers), self.pairs.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def in_dense(self, numbers):
        return self.dense.lookup(numbers), self.dense.size()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
    def count(self, words, by):
        self.counts.insert(words, self.counts.lookup(words) + by)
        self.dense.insert(by, by * 2)
        keys, values = self.counts.export()
        order = tf.argsort(tf.strings.to_hash_bucket_fast(keys, 1 << 40))
        return self.counts.size(), tf.gather(keys, order), tf.gather(values, order)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
    def forget(self, words, numbers):
        self.counts.remove(words)
        self.dense.erase(numbers)
        return self.counts.size(), self.dense.size()


@model(short=True)
def tables(folder):
    tf.saved_model.save(Tables(folder), folder)
    words = np.array(["x", "y", "new", "kept", "z", ""], object)
    numbers = np.array([5, 6, 7, 1, 3, 4, 0, 9])
    return [dict(function="words", args=[words]), dict(function="numbers", args=[numbers]),
            dict(function="numbers", args=[np.array([[1, 4], [6, 2]])]), dict(function="in_dense", args=[numbers]),
            dict(function="count", args=[words, np.arange(6) + 1]), dict(function="words", args=[words]),
            dict(function="in_dense", args=[numbers]), dict(function="forget", args=[words[:3], np.array([5, 100, 2])]),
            dict(function="count", args=[words[2:], np.arange(4) + 20]), dict(function="in_dense", args=[numbers])]


# With tables, which Rewind does not write yet.
WITH_TABLES = {m.name for m in MODELS if m.name.startswith("text_")} | {"string_lookup", "inverse_lookup", "tables"}
