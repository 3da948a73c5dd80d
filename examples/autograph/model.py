import sys

import tensorflow as tf
import keras

from both_ways import differentiate, run, show


class CustomModel(keras.Model):
    @tf.function
    def call(self, input_data):
        if tf.reduce_mean(input_data) > 0:
            return input_data
        else:
            return input_data // 2


class Leaky(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[0.5, -0.25], [0.125, 1.0]])
        self.slope = tf.Variable(0.1)

    def __call__(self, x):
        y = tf.matmul(x, self.w)
        if tf.reduce_sum(tf.cast(y < 0, tf.int32)) > 2:
            y = tf.where(y < 0, self.slope * y, y)
        return y


def numbers(count, each, step):
    return tf.reshape(tf.sin(tf.cast(tf.range(count * each), tf.float32) * step), [count, each])


class Network(tf.Module):
    def __init__(self):
        self.w1, self.b1 = tf.Variable(numbers(16, 8, 0.7) * 0.3), tf.Variable(tf.zeros([8]))
        self.w2, self.b2 = tf.Variable(numbers(8, 4, 1.3) * 0.3), tf.Variable(tf.zeros([4]))

    def __call__(self, x):
        return tf.matmul(tf.nn.relu(tf.matmul(x, self.w1) + self.b1), self.w2) + self.b2


def train(network, optimizer, dataset):
    variables = [network.w1, network.b1, network.w2, network.b2]
    step = 0
    loss, accuracy = tf.constant(0.0), tf.constant(0.0)
    for x, y in dataset:
        step += 1
        with tf.GradientTape() as tape:
            logits = network(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.5 * g)
        accuracy += tf.reduce_mean(tf.cast(tf.cast(tf.argmax(logits, 1), tf.int32) == y, tf.float32))
        if step % 10 == 0:
            tf.print("Step", step, ": loss", loss, "; accuracy", accuracy / tf.cast(step, tf.float32), output_stream=sys.stdout)
    return [step, loss, accuracy / tf.cast(step, tf.float32)]


def images():
    x = numbers(400, 16, 0.37)
    y = tf.cast(tf.argmax(tf.matmul(x, numbers(16, 4, 0.9)), 1), tf.int32)
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(20)


for x in [[-2, -4], [3, 5]]:
    run("model", CustomModel(dtype="int32"), tf.constant(x))
layer = Leaky()
for x in [[[1.0, 2.0], [0.5, -1.0]], [[-1.0, 2.0], [-3.0, -1.0]]]:
    differentiate("leaky", lambda t: tf.reduce_sum(layer(t)), tf.constant(x))
for eager in [True, False]:
    tf.config.run_functions_eagerly(eager)
    network = Network()
    show("trained", tf.function(lambda: train(network, None, images()))())
