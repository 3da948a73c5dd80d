"""Graphs: concrete functions, their operations and GraphDef, captures, and what does not run."""
import tensorflow as tf

AROUND = {"Placeholder", "Identity", "NoOp", "Const"}  # how a graph is wrapped differs
w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
b = tf.Variable([0.5, -100.0], name="b")


@tf.function
def layer(x):
    return tf.nn.relu(tf.matmul(x, w) + b)


concrete = layer.get_concrete_function(tf.TensorSpec([None, 3], tf.float32))
print([op.type for op in concrete.graph.get_operations() if op.type not in AROUND])
print(sorted({node.op for node in concrete.graph.as_graph_def().node} - AROUND))
print(concrete.outputs[0].shape, concrete.outputs[0].dtype.name)
print(len(concrete.captured_inputs), [v.name for v in concrete.variables])
print(concrete(tf.ones([2, 3])))
print(layer(tf.ones([1, 3])))
w.assign_add(tf.ones([3, 2]))
print(concrete(tf.ones([2, 3])))

# Asked again for the same kind of arguments, the same trace answers.
print(layer.get_concrete_function(tf.ones([1, 3])) is layer.get_concrete_function(tf.zeros([1, 3])))


@tf.function
def branch(x):
    if x > 0:
        return x * 2.0
    return -x


concrete = branch.get_concrete_function(tf.constant(1.0))
types = [op.type for op in concrete.graph.get_operations()]
print("Greater" in types, "If" in types or "StatelessIf" in types, "Mul" in types)
print(concrete(tf.constant(-3.0)))


# What no result needs does not run, so it does not fail.
def unused(x):
    tf.gather(x, [5])
    return x


try:
    unused(tf.constant([0.0]))
except tf.errors.InvalidArgumentError:
    print("eager: refused")
print(tf.function(unused)(tf.constant([0.0])))
