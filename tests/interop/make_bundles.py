"""Writes tests/golden/bundle/: small checkpoints of TensorFlow's, for tests that run without it.

    make_bundles.py          with a Python that has TensorFlow
"""
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden" / "bundle"
DTYPES = "float16 bfloat16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128"


def every_type():
    root = tf.Module()
    for dtype in DTYPES.split():
        setattr(root, dtype, tf.Variable(tf.cast(tf.constant([[1, 0, 3], [4, 5, 6]]), dtype)))
    root.text = tf.Variable(tf.constant([[b"a", b"", b"long" * 100], [b"\xff", b"x", b"\0y"]]))
    root.scalar = tf.Variable("hello")
    root.empty = tf.Variable(tf.zeros([0, 3]))
    root.half_empty = [tf.Variable(float(i)) for i in range(40)]  # more entries than lie between two restarts
    tf.train.Checkpoint(root=root).write(str(FOLDER / "types"))


# A variable that is stored in slices of its second axis, or of its first.
def slices():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        for name, axis in (("columns", 1), ("rows", 0)):
            with v1.variable_scope(name, partitioner=v1.fixed_size_partitioner(3, axis=axis), use_resource=True):
                v1.get_variable("v", initializer=tf.reshape(tf.range(5 * 300, dtype=tf.float32), [5, 300]))
        saver = v1.train.Saver(sharded=False)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            saver.save(session, str(FOLDER / "slices"), write_meta_graph=False, write_state=False)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    every_type()
    slices()
    for path in FOLDER.iterdir():
        if path.name == "checkpoint":
            path.unlink()
    print("\n".join(f"{p.name} {p.stat().st_size}" for p in sorted(FOLDER.iterdir())))
