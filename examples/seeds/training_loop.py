"""A training loop inside the graph: the loop, the tape, the updates and the prints are one function."""
import sys

import tensorflow as tf

sys.stdout.reconfigure(line_buffering=True)

x = tf.reshape(tf.range(24, dtype=tf.float32), [12, 2]) / 24.0
y = tf.sin(3.0 * x @ tf.constant([[1.0], [-2.0]]))
w1 = tf.Variable(tf.reshape(tf.sin(tf.range(16, dtype=tf.float32)), [2, 8]))
b1 = tf.Variable(tf.zeros([8]))
w2 = tf.Variable(tf.reshape(tf.cos(tf.range(8, dtype=tf.float32)), [8, 1]))
b2 = tf.Variable(tf.zeros([1]))
variables = [w1, b1, w2, b2]


def train_one_step(x, y):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(x @ w1 + b1)
        loss = tf.reduce_mean((hidden @ w2 + b2 - y) ** 2)
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(0.1 * gradient)
    return loss


@tf.function
def train(x, y, steps):
    print("Tracing!")
    step = 0
    loss = 0.0
    for _ in tf.range(steps):
        step += 1
        loss = train_one_step(x, y)
        if step % 10 == 0:
            tf.print("Step", step, ": loss", loss, output_stream=sys.stdout)
    return step, loss


step, loss = train(x, y, tf.constant(50))
print("Final step", step, ": loss", loss)
step, loss = train(x, y, tf.constant(20))
print("Final step", step, ": loss", loss)
for variable in variables:
    print(tf.reduce_sum(variable))
