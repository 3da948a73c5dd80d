"""tf.function: tracing and retracing, print and tf.print, control flow, side effects, debugging."""
import sys

import tensorflow as tf

sys.stdout.reconfigure(line_buffering=True)


# Functions that are called by a traced one are traced with it.
def inner(x, y, b):
    return tf.matmul(x, y) + b


@tf.function
def outer(x):
    return inner(x, tf.constant([[2.0], [3.0]]), tf.constant(4.0))


print(outer(tf.constant([[1.0, 2.0]])))


# Each tf.function() has its own traces. print runs while tracing, tf.print on every call.
def f():
    print("Tracing!")
    tf.print("Executing", output_stream=sys.stdout)


tf.function(f)()
tf.function(f)()
once = tf.function(f)
once()
once()


# One function, many graphs: by shape and dtype of tensors, by value of numbers.
@tf.function
def my_relu(x):
    print("tracing my_relu")
    return tf.maximum(tf.zeros_like(x), x)


print(my_relu(tf.constant(5.5)))
print(my_relu(tf.constant([3.0, -3.0])))
print(my_relu(tf.constant(-7.5)))
print(my_relu(tf.constant([3, -3])))
print(my_relu.experimental_get_tracing_count())


@tf.function
def power(x, n):
    print("tracing with n =", n)
    y = x
    for _ in range(n - 1):
        y = y * x
    return y


for n in [2, 3, 2, 3]:
    print(power(tf.constant(2.0), n))


@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def next_collatz(x):
    print("tracing next_collatz")
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
print(next_collatz(tf.constant([7, 8, 9])))
try:
    next_collatz(tf.constant([[1, 2], [3, 4]]))
except (TypeError, ValueError):
    print("a matrix does not fit")


# Control flow on tensors.
@tf.function
def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


print(sum_even(tf.constant([10, 12, 15, 20])))


@tf.function
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


print(collatz(tf.constant(6171)))


class CustomModel(tf.Module):
    @tf.function
    def __call__(self, input_data):
        if tf.reduce_mean(input_data) > 0:
            return input_data
        else:
            return input_data // 2


model = CustomModel()
print(model(tf.constant([-2, -4])))
print(model(tf.constant([2, 4])))


@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        if i % 15 == 0:
            tf.print("FizzBuzz", output_stream=sys.stdout)
        elif i % 3 == 0:
            tf.print("Fizz", output_stream=sys.stdout)
        elif i % 5 == 0:
            tf.print("Buzz", output_stream=sys.stdout)
        else:
            tf.print(i, output_stream=sys.stdout)


fizzbuzz(tf.constant(15))

# Side effects happen in the order of the program.
v = tf.Variable(2.0)


@tf.function
def update(x, y):
    v.assign(y * v)
    tf.print("v is", v, output_stream=sys.stdout)
    v.assign_add(x)
    tf.print("and now", v, output_stream=sys.stdout)
    return v.read_value()


print(update(tf.constant(1.0), tf.constant(4.0)))
print(update(tf.constant(1.0), tf.constant(0.5)))


# Gradients of a function and in a function.
@tf.function
def cube(x):
    if x > 0:
        return x * x * x
    return -x


for value in [2.0, -2.0]:
    x = tf.constant(value)
    with tf.GradientTape() as outer_tape:
        outer_tape.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        dy = tape.gradient(y, x)
    print(y)
    print(dy)
    print(outer_tape.gradient(dy, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))


@tf.function
def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * x)
    return tape.gradient(y, x)


print(slope(tf.constant([0.5, 1.0])))

# For debuggers: everything eager, the Python code runs on every call.
runs = 0


@tf.function
def g(x):
    global runs
    runs += 1
    if x > 0:
        x = x + 1
    return x


tf.config.run_functions_eagerly(True)
g(tf.constant(1))
g(tf.constant(1))
tf.config.run_functions_eagerly(False)
print(runs)
