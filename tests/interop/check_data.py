"""Datasets against tf.data: order and values of every deterministic transformation, cardinality and element specs;
readers against tf.io and Keras; GPT-2's tokenizer against the package `tokenizers`, where it is installed.

    check_data.py BUILD_FOLDER [WORD...]    (with a Python that has TensorFlow)

The same pipelines as in data_programs.cc, by name.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

D = tf.data.Dataset
PIPELINES = {}


def flat(value):
    return tf.nest.flatten(value)


def tensor_text(t):
    shape = str(tuple(t.shape))
    if t.dtype == tf.string:
        values = "".join("'" + v.hex() for v in t.numpy().ravel().tolist()) if t.shape.rank else "'" + t.numpy().hex()
    else:
        values = "".join(f" {float(v):.9g}" for v in np.ravel(t.numpy()))
    return f"{t.dtype.name}{shape}:{values};"


def spec_text(spec):
    shape = "<unknown>" if spec.shape.rank is None else str(tuple(spec.shape.as_list()))
    return f"{spec.dtype.name}{shape};"


def show(name, ds, passes=1):
    text = [str(int(ds.cardinality())), "".join(map(spec_text, flat(ds.element_spec)))]
    for _ in range(passes):
        text += ["".join(map(tensor_text, flat(e))) for e in ds]
    PIPELINES[name] = text


def order():
    n = D.range(10)
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    rows = D.from_tensor_slices((x, np.arange(10, dtype=np.int32)))
    show("range", D.range(3, 20, 4))
    show("range_down", D.range(5, -5, -3))
    show("from_tensors", D.from_tensors((x, "a")))
    show("slices", rows)
    show("take", rows.take(3))
    show("take_more", n.take(20))
    show("take_all", n.take(-1))
    show("skip", rows.skip(7))
    show("skip_more", n.skip(20))
    show("skip_all", n.skip(-1))
    show("repeat", n.take(3).repeat(3))
    show("repeat_none", n.repeat(0))
    show("shard", n.shard(3, 1))
    show("concatenate", n.take(2).concatenate(n.skip(8)))
    show("zip", D.zip(n, rows.take(4)))
    show("enumerate", rows.take(3).enumerate(5))


def shuffles():
    n = D.range(20)
    rows = D.from_tensor_slices(np.arange(20, dtype=np.int32))
    show("shuffle", n.shuffle(5, seed=11), 3)
    show("shuffle_rows", rows.shuffle(5, seed=11), 3)
    show("shuffle_all", rows.shuffle(100, seed=2), 2)
    show("shuffle_one", n.shuffle(1, seed=2))
    show("shuffle_same", rows.shuffle(7, seed=3, reshuffle_each_iteration=False), 2)
    show("shuffle_repeat", rows.shuffle(20, seed=4).repeat(3), 2)
    show("repeat_shuffle", rows.repeat(2).shuffle(9, seed=4))
    show("shuffle_twice", n.shuffle(4, seed=4).shuffle(6, seed=5), 2)
    show("shuffle_batch", rows.shuffle(20, seed=6).batch(6).repeat(2))
    tf.random.set_seed(123)
    show("shuffle_global", n.shuffle(8), 2)
    show("shuffle_both", n.shuffle(8, seed=9), 2)


def batches():
    n = D.range(7)
    show("batch", n.batch(3))
    show("batch_drop", n.batch(3, drop_remainder=True))
    show("batch_batch", n.take(6).batch(2).batch(2, drop_remainder=True))
    show("unbatch", n.batch(3).unbatch())
    show("unbatch_known", n.batch(3, drop_remainder=True).unbatch())
    typed = D.from_generator(lambda: (np.full(k, k, np.int64) for k in range(1, 6)),
                             output_signature=tf.TensorSpec([None], tf.int64))
    show("generator", typed)
    show("padded", typed.padded_batch(2))
    show("padded_values", typed.padded_batch(2, padded_shapes=[6], padding_values=np.int64(-1), drop_remainder=True))
    join = lambda w: w.batch(3)
    show("window", n.window(3).flat_map(join))
    show("window_shift", n.window(3, shift=1).flat_map(join))
    show("window_gap", n.window(2, shift=3).flat_map(join))
    show("window_stride", n.window(3, shift=1, stride=2, drop_remainder=True).flat_map(join))
    pairs = D.zip(n, n.map(lambda x: x * x))
    show("window_pairs", pairs.window(2, drop_remainder=True).flat_map(lambda a, b: D.zip(a.batch(2), b.batch(2))))


def functions():
    n = D.range(8)
    square = lambda x: (x, x * x)
    show("map", n.map(square))
    show("map_parallel", n.map(square, num_parallel_calls=3, deterministic=True))
    show("filter", n.filter(lambda x: x % 3 == 1))
    some = lambda x: D.range(4).map(lambda y: x * 10 + y)
    show("flat_map", n.flat_map(some))
    show("interleave", n.interleave(some, cycle_length=3))
    show("interleave_blocks", n.interleave(some, cycle_length=3, block_length=3))
    show("interleave_wide", n.interleave(some, cycle_length=20, block_length=2))
    show("cache_shuffle", n.cache().shuffle(4, seed=1), 2)
    show("shuffle_cache", n.shuffle(4, seed=1).cache(), 2)
    show("prefetch", n.prefetch(2))
    show("reduce", D.from_tensors(n.reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * (x + 1)))))


CORPUS = ["Hello world, it's 3.14!", "  two  spaces   and\ttabs ", "Grüße 一二三 ½ €5 naïve", "I'll've don't 'quoted' 's",
          "numbers 12345 a1b2 x_y-z", "... !!! ???", "low lower lowest newer wider"]


# Bytes, and the most frequent pairs of a small corpus, in the form of GPT-2's files.
def vocabulary(folder):
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in seen}
    for b in range(256):
        if b not in letters: letters[b] = chr(256 + len(letters) - len(seen))
    tokens = [letters[b] for b in range(256)]
    words = [[letters[b] for b in w.encode()] for line in CORPUS for w in line.replace(" ", " \0").split("\0")]
    merges = []
    for _ in range(60):
        counts = {}
        for w in words:
            for pair in zip(w, w[1:]): counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=lambda p: (counts[p], p), default=None)
        if best is None or counts[best] < 2: break
        merges.append(best)
        tokens.append(best[0] + best[1])
        for w in words:
            i = 0
            while i + 1 < len(w):
                if (w[i], w[i + 1]) == best: w[i:i + 2] = [best[0] + best[1]]
                i += 1
    ids = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
    (folder / "vocab.json").write_text(json.dumps(ids))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(f"{a} {b}" for a, b in merges) + "\n")


def files(folder):
    (folder / "a.txt").write_bytes(b"one\r\ntwo\n\n  three")
    (folder / "b.txt.gz").write_bytes(gzip.compress(b"four\n"))
    (folder / "a.csv").write_bytes(b'i,f,s,l\n1,2.5,"a ""q"", b",7\n,,,8\n-3,1e-3,x,9\r\n4, 5,"two\nlines",10\n')
    columns = [np.int32(0), 1.5, "none", tf.int64]
    show("lines", tf.data.TextLineDataset([str(folder / "a.txt")]).concatenate(
        tf.data.TextLineDataset([str(folder / "b.txt.gz")], compression_type="GZIP")))
    csv = tf.data.experimental.CsvDataset
    show("csv", csv(str(folder / "a.csv"), [tf.constant(0), tf.constant(1.5), "none", tf.int64], header=True))
    show("csv_picked", csv(str(folder / "a.csv"), [tf.constant(1.5), "none"], header=True, select_cols=[1, 2], na_value="x"))
    rng = np.random.default_rng(1)
    rgb = rng.integers(0, 256, (6, 9, 3), np.uint8)
    smooth = np.stack([np.add.outer(np.arange(16) * 9, np.arange(24) * 4)] * 3, -1).astype(np.uint8)
    write = lambda name, data: (folder / name).write_bytes(data.numpy())
    write("rgb.png", tf.io.encode_png(rgb))
    write("gray.png", tf.io.encode_png(rgb[:, :, :1]))
    write("rgba.png", tf.io.encode_png(rng.integers(0, 256, (4, 5, 4), np.uint8)))
    write("rgb16.png", tf.io.encode_png(rng.integers(0, 65536, (4, 5, 3)).astype(np.uint16)))
    write("rgb.jpg", tf.io.encode_jpeg(smooth))
    write("gray.jpg", tf.io.encode_jpeg(smooth[:, :, :1]))
    for name in ["rgb.png", "gray.png", "rgba.png", "rgb16.png", "rgb.jpg", "gray.jpg"]:
        for channels in (0, 1, 3):
            # TensorFlow's default for JPEG is the fast transform, which is coarser than ours.
            how = {} if name.endswith("png") else {"dct_method": "INTEGER_ACCURATE"}
            decode = tf.io.decode_png if name.endswith("png") else tf.io.decode_jpeg
            show(f"{name}{channels}", D.from_tensors(decode((folder / name).read_bytes(), channels=channels, **how)))
    for k, kind in enumerate(["b_class", "a_class"]):
        (folder / "images" / kind).mkdir(parents=True)
        for i in range(2):
            write(f"images/{kind}/{i}.png", tf.io.encode_png(np.roll(rgb, i + k, 0)))
    show("image_folder", tf.keras.utils.image_dataset_from_directory(
        str(folder / "images"), batch_size=3, image_size=(5, 7), shuffle=False, verbose=False))
    vocabulary(folder)
    (folder / "corpus.txt").write_text("\n".join(CORPUS))
    try:
        from tokenizers import ByteLevelBPETokenizer
    except ImportError:
        print("check_data: the package tokenizers is not installed, tokens are not compared")
        return None
    reference = ByteLevelBPETokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    return [reference.encode(line).ids for line in CORPUS]


# Elements are equal but for the last digits of resized and decoded pixels.
def close(name, want, got):
    if want == got: return True
    if not name.startswith(("image_folder", "rgb", "gray")) or len(want) != len(got): return False
    for a, b in zip(want, got):
        x, y = a.split(), b.split()
        if len(x) != len(y) or x[0] != y[0]: return False
        for p, q in zip(x[1:], y[1:]):
            try:
                if abs(float(p.rstrip(";")) - float(q.rstrip(";"))) > 1.01: return False
            except ValueError:
                if p != q: return False
    return True


def main():
    words = sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for add in (order, shuffles, batches, functions): add()
        tokens = files(folder)
        out = subprocess.run([pathlib.Path(sys.argv[1]) / "tests" / "data_programs", name], capture_output=True, text=True)
    if out.returncode: sys.exit(f"data_programs ended with {out.returncode}: {out.stderr[-500:]}")
    ours, our_tokens = {}, []
    for line in out.stdout.splitlines():
        key, *parts = line.split("|")
        if key == "tokens": our_tokens.append([int(t) for t in parts[1].split()])
        else: ours[key] = parts
    failed = [f"{n}: only on one side" for n in ours.keys() ^ PIPELINES.keys()]
    for n, want in PIPELINES.items():
        if n not in ours or (words and not any(w in n for w in words)): continue
        if not close(n, want, ours[n]): failed.append(f"{n}:\n  TensorFlow {want}\n  Rewind     {ours[n]}")
    if tokens is not None and tokens != our_tokens: failed.append(f"tokens:\n  reference {tokens}\n  Rewind    {our_tokens}")
    print("\n".join(failed))
    print(f"datasets: {len(PIPELINES) - len(failed)} pipelines agree, {len(failed)} differ")
    sys.exit(bool(failed))


main()
