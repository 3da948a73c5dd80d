"""Keras models: a call that branches on a tensor, training inside one function, a custom training step."""
import sys

import keras
import tensorflow as tf


class CustomModel(tf.keras.models.Model):
    @tf.function
    def call(self, input_data):
        if tf.reduce_mean(input_data) > 0:
            return input_data
        else:
            return input_data // 2


model = CustomModel()
print(model(tf.constant([-2, -4])))
print(model(tf.constant([2, 4])))


def waves(*shape):
    size = tf.reduce_prod(shape)
    return tf.reshape(tf.sin(tf.cast(tf.range(size), tf.float32) * 0.7), shape)


# Training inside a function, with a dataset made there.
model = tf.keras.Sequential((
    tf.keras.layers.Input((4, 4)),
    tf.keras.layers.Reshape(target_shape=(16,)),
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(3)))
model.set_weights([0.3 * waves(*w.shape) for w in model.weights])
optimizer = tf.keras.optimizers.Adam()
compute_loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
compute_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
images = waves(30, 4, 4)
labels = tf.range(30) % 3


def train_one_step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = compute_loss(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    compute_accuracy(y, logits)
    return loss


@tf.function
def train(model, optimizer):
    train_ds = tf.data.Dataset.from_tensor_slices((images, labels)).repeat(10).batch(10)
    step = 0
    loss = 0.0
    for x, y in train_ds:
        step += 1
        loss = train_one_step(model, optimizer, x, y)
        if step % 10 == 0:
            tf.print("Step", step, ": loss", loss, "; accuracy", compute_accuracy.result(), output_stream=sys.stdout)
    return step, loss


step, loss = train(model, optimizer)
print("Final step", step.numpy(), ": loss", loss.numpy(), "; accuracy", compute_accuracy.result().numpy())


# A training step of one's own.
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="tanh")
        self.out = keras.layers.Dense(3, activation="softmax")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predictions = self(x, training=True)
            loss = tf.reduce_mean(tf.keras.losses.categorical_crossentropy(y, predictions))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"own_loss": loss}


own = Own()
flat = tf.reshape(images, (30, 16))
own(flat)
own.set_weights([0.3 * waves(*w.shape) for w in own.weights])
own.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
history = own.fit(flat, tf.one_hot(labels, 3), batch_size=10, epochs=3, shuffle=False, verbose=0)
for value in history.history["own_loss"]:
    print("own loss", value)
print([w.path for w in own.weights])
