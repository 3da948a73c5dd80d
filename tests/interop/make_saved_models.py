"""Writes tests/golden/saved_model/: small SavedModels of TensorFlow's, for tests that run without it.

    make_saved_models.py [kinds | of_sessions | messages]         with a Python that has TensorFlow
"""
import collections
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2, struct_pb2  # noqa: E402
from tensorflow.python.saved_model import nested_structure_coder  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden" / "saved_model"


class Kinds(tf.Module):
    """Objects of every kind that a SavedModel holds."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.frozen = tf.Variable([0.5, -0.5], trainable=False, name="frozen")
        self.steps = tf.Variable(7, dtype=tf.int64, name="steps", trainable=False)
        self.parts = [tf.Variable(1.5), tf.Variable(2.5)]
        self.by_name = {"left": tf.Variable([1.0]), "right": tf.Variable([2.0])}
        self.scale = tf.constant([10.0, 100.0])  # captured
        vocabulary = FOLDER / "words.txt"
        vocabulary.write_text("a\nb\nc\n")
        self.words = tf.saved_model.Asset(str(vocabulary))
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(self.words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                          tf.lookup.TextFileIndex.LINE_NUMBER), -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        return tf.matmul(x, self.w) * self.scale + self.frozen

    @tf.function
    def choose(self, x, training=False, *, factor=2.0, names=("a", "b")):
        y = x * factor if training else x + self.parts[0]
        return {"y": y, "names": names, "pair": (y, [x])}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look_up(self, words):
        return self.table.lookup(words)


def kinds():
    module = Kinds()
    module.choose(tf.zeros([3]), training=True)
    module.choose(tf.zeros([3]))
    module.choose(tf.zeros([2, 2]), factor=tf.constant(3.0), names=["c"], training=True)
    module.bare = module.choose.get_concrete_function(tf.TensorSpec([None], tf.float32, name="v"), training=True)
    tf.saved_model.save(module, str(FOLDER / "kinds"), signatures={
        "serving_default": module.__call__,
        "words": module.look_up,
    })
    (FOLDER / "words.txt").unlink()
    model = saved_model_pb2.SavedModel.FromString((FOLDER / "kinds" / "saved_model.pb").read_bytes())
    objects = model.meta_graphs[0].object_graph_def
    (FOLDER / "object_graph.pb").write_bytes(objects.SerializeToString(deterministic=True))


def of_sessions():
    """What TensorFlow 1 wrote: with resource variables, and with reference variables and a loop of Switch and Merge."""
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    for name, resource in ("session", True), ("references", False):
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 2], "x")
            scale = v1.placeholder_with_default(10.0, [], "scale")
            with v1.variable_scope("layer"):
                w = v1.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=resource)
            step = v1.get_variable("step", initializer=7, trainable=False, use_resource=True)
            y = tf.identity(tf.matmul(x, w) * scale, "y")
            looped = v1.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + v), [0, y])[1]
            count = v1.assign_add(step, 1)
            v1.summary.scalar("loss", tf.reduce_sum(y))  # needed by no signature
            session.run(v1.global_variables_initializer())
            builder = v1.saved_model.Builder(str(FOLDER / name))
            predict = v1.saved_model.predict_signature_def
            signatures = {"serving_default": predict({"x": x, "scale": scale}, {"y": y}), "loop": predict({"x": x}, {"y": looped}),
                          "count": predict({"x": x}, {"step": tf.identity(count)})}
            builder.add_meta_graph_and_variables(session, ["serve"], signatures)
            builder.save()
            if name == "references":
                continue
            frozen = v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
            (FOLDER / "frozen.pb").write_bytes(frozen.SerializeToString(deterministic=True))


def messages():
    """Cases that the models do not hold."""
    value = nested_structure_coder.encode_structure({
        "none": None, "float": 0.1, "int": -5, "large": 2**40, "text": "x\u00e4", "bool": False, "dtype": tf.int8,
        "shape": tf.TensorShape([None, 3]), "unknown": tf.TensorShape(None), "list": [1, (2.5, [])],
        "spec": tf.TensorSpec([2], tf.float32, "s"), "ragged": tf.RaggedTensorSpec([None, None], tf.int32),
        "sparse": tf.SparseTensorSpec([2, 3], tf.float32), "tensor": tf.constant([1, 2]), "numpy": np.arange(3.0),
        "bounded": None,
        "named": collections.namedtuple("Pair", "a b")(1, tf.TensorSpec([1]))})
    value.dict_value.fields["bounded"].bounded_tensor_spec_value.name = "b"
    value.dict_value.fields["bounded"].bounded_tensor_spec_value.dtype = 1
    value.dict_value.fields["bounded"].bounded_tensor_spec_value.minimum.CopyFrom(tf.make_tensor_proto(1.0))
    (FOLDER / "structured_value.pb").write_bytes(value.SerializeToString(deterministic=True))
    graph = meta_graph_pb2.MetaGraphDef()
    graph.meta_info_def.meta_graph_version = "m"
    graph.meta_info_def.stripped_op_list.op.add().name = "Add"
    graph.meta_info_def.any_info.Pack(struct_pb2.NoneValue())
    graph.meta_info_def.tags.extend(["serve", "gpu"])
    graph.meta_info_def.stripped_default_attrs = True
    graph.meta_info_def.function_aliases["f"] = "g"
    graph.saver_def.filename_tensor_name = "save/Const:0"
    graph.saver_def.restore_op_name = "save/restore_all"
    graph.saver_def.max_to_keep = 5
    graph.saver_def.sharded = True
    graph.saver_def.keep_checkpoint_every_n_hours = 10000
    graph.saver_def.version = 2
    graph.collection_def["nodes"].node_list.value.extend(["a", "b"])
    graph.collection_def["bytes"].bytes_list.value.extend([b"\xff", b""])
    graph.collection_def["ints"].int64_list.value.extend([-1, 2**40])
    graph.collection_def["floats"].float_list.value.extend([0.1, -0.0])
    graph.collection_def["any"].any_list.value.add().Pack(struct_pb2.StructuredValue(bool_value=True))
    graph.collection_def["none"]
    info = graph.signature_def["s"].inputs["sparse"]
    info.coo_sparse.values_tensor_name = "v:0"
    info.coo_sparse.indices_tensor_name = "i:0"
    info.coo_sparse.dense_shape_tensor_name = "d:0"
    info.dtype = 1
    info.tensor_shape.unknown_rank = True
    info = graph.signature_def["s"].outputs["composite"]
    info.composite_tensor.type_spec.CopyFrom(value.dict_value.fields["ragged"].type_spec_value)
    info.composite_tensor.components.add().name = "c:0"
    graph.signature_def["s"].method_name = "tensorflow/serving/predict"
    graph.signature_def["s"].defaults["sparse"].CopyFrom(tf.make_tensor_proto([1, 2]))
    (FOLDER / "meta_graph.pb").write_bytes(graph.SerializeToString(deterministic=True))


if __name__ == "__main__":
    # Those that are named, or all.
    wanted = sys.argv[1:] or ["kinds", "of_sessions", "messages"]
    if len(wanted) == 3:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
    for name in wanted: globals()[name]()
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            print(path.relative_to(FOLDER), path.stat().st_size)
