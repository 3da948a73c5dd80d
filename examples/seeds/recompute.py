"""Recomputation: a model whose call is a function and recomputed, a chain of checkpointed blocks, tapes of all kinds."""
import tensorflow as tf


def weights(rows, columns, shift):
    return tf.Variable(tf.reshape(tf.sin(tf.range(rows * columns, dtype=tf.float32) + shift), [rows, columns]))


class MyModel(tf.Module):
    def __init__(self):
        super().__init__()
        self.w1 = weights(4, 8, 0.0)
        self.w2 = weights(8, 8, 1.0)
        self.w3 = weights(8, 2, 2.0)

        def call(inputs):
            x = tf.nn.relu(tf.matmul(inputs, self.w1))
            x = tf.nn.relu(tf.matmul(x, self.w2))
            return tf.matmul(x, self.w3)

        self.eager_call = tf.recompute_grad(call)
        self.call = tf.function(self.eager_call)


def show(gradients):
    for g in gradients:
        print(g.shape, "sum %.4f" % tf.reduce_sum(g).numpy(), "absolute %.4f" % tf.reduce_sum(tf.abs(g)).numpy())


def a_method_in_both():
    model = MyModel()
    inputs = tf.reshape(tf.cos(tf.range(12, dtype=tf.float32)), [3, 4])
    for call in (model.call, model.eager_call):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = tf.reduce_mean(call(inputs) ** 2)
        print("loss %.5f" % loss.numpy())
        show(tape.gradient(loss, [inputs, model.w1, model.w2, model.w3]))


def checkpointable(f):
    """Keyword arguments, strings and flags pass by; tf.recompute_grad takes tensors alone."""
    def call(x, y, some_str, some_bool, z=None, _checkpoint=False):
        if not _checkpoint:
            return f(x, y, some_str, some_bool, z=z)
        return tf.recompute_grad(lambda a, b, c: f(a, b, some_str, some_bool, z=c))(x, y, z)
    return call


@checkpointable
def f(x, y, some_str, some_bool, z=None):
    for _ in range(20):
        x += y * z if some_bool else tf.sin(x * y * z)
    return x


def a_chain_of_blocks():
    for flag in (True, False):
        initial = tf.ones(1000, dtype=tf.float32)
        y = tf.ones(1000, dtype=tf.float32) + 1e-7
        z = tf.ones(1000, dtype=tf.float32) + 1e-7
        for checkpoint in (False, True):
            with tf.GradientTape() as g:
                g.watch([initial, y, z])
                x = initial
                for _ in range(10):
                    x = f(x, y, "a", flag, z=z, _checkpoint=checkpoint)
                loss = tf.reduce_sum(x)
            print("loss %.3f" % (loss.numpy() / 1000))
            show([d / 1000 for d in g.gradient(loss, [initial, y, z])])


def several_losses():
    model = MyModel()
    images = tf.reshape(tf.cos(tf.range(8, dtype=tf.float32)), [2, 4])
    with tf.GradientTape(persistent=True) as tape:
        predictions = model.eager_call(images)
        first = tf.reduce_sum(predictions)
        second = tf.reduce_sum(predictions ** 2)
    show(tape.gradient(first, [model.w1, model.w3]))
    show(tape.gradient(second, [model.w1, model.w3]))


def tapes_in_tapes():
    x = tf.constant(1.5)
    cube = tf.recompute_grad(lambda t: t * t * t)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.GradientTape() as inner_tape:
            inner_tape.watch(x)
            y = cube(x)
        slope = inner_tape.gradient(y, x)
    print(slope.numpy(), tape.gradient(slope, x).numpy())


a_method_in_both()
a_chain_of_blocks()
several_losses()
tapes_in_tapes()
