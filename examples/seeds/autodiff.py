"""Automatic differentiation: watched tensors, structures of sources, unconnected gradients, jacobians."""
import tensorflow as tf

x = tf.constant([3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x**x
print(tape.gradient(y, x))

# Lists and dictionaries of sources, intermediates as sources.
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
b = tf.Variable([0.5, -0.5], name="b")
v = tf.constant([[1.0, 2.0]])
with tf.GradientTape(persistent=True) as tape:
    h = v @ w + b
    loss = tf.reduce_mean(h**2)
dw, db = tape.gradient(loss, [w, b])
print(dw)
print(db)
grads = tape.gradient(loss, {"w": w, "b": b})
print(grads["b"])
print(tape.gradient(loss, h))
print([var.name for var in tape.watched_variables()])

# Only what is watched: a constant gives None.
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(b)
    loss = tf.reduce_sum((v @ w + b) ** 2)
dw, db = tape.gradient(loss, [w, b])
print(dw)
print(db)

# Unconnected gradients.
x0 = tf.Variable(2.0)
z = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    y = x0 * x0
print(tape.gradient(y, z))
print(tape.gradient(y, z, unconnected_gradients=tf.UnconnectedGradients.ZERO))
i = tf.constant(10)
with tf.GradientTape() as tape:
    tape.watch(i)
    y = i * i
print(tape.gradient(y, i))

# Several targets add up.
x0 = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y0 = x0**2
    y1 = 1 / x0
print(tape.gradient({"y0": y0, "y1": y1}, x0))

# Second derivatives and jacobians.
x0 = tf.Variable(1.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x0 * x0 * x0
    dy = inner.gradient(y, x0)
print(dy)
print(outer.gradient(dy, x0))
x = tf.linspace(-2.0, 2.0, 5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.sigmoid(x)
print(tape.jacobian(y, x).shape)
