"""Training steps of one's own: compiled, by a tape that watches what it is told, by a tape inside a tape."""
import keras
import tensorflow as tf
from keras import layers


def waves(*shape):
    size = tf.reduce_prod(shape)
    return tf.reshape(tf.sin(tf.cast(tf.range(size), tf.float32) * 0.7), shape)


def network():
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(4, 3, activation="relu", kernel_initializer="he_normal", name="conv1"),
        layers.Flatten(),
        layers.Dense(10, activation="softmax"),
    ])
    model.set_weights([0.3 * waves(*w.shape) for w in model.weights])
    return model


images = waves(12, 8, 8, 1)
labels = tf.one_hot(tf.range(12) % 10, 10)


@tf.function
def train_step(images, labels, model, optimizer):
    with tf.GradientTape() as tape:
        predictions = model(images)
        loss = tf.keras.losses.categorical_crossentropy(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


model, optimizer = network(), tf.keras.optimizers.Adam()
for _ in range(5):
    print("compiled", tf.reduce_mean(train_step(images, labels, model, optimizer)).numpy())


def watched_step(images, labels, model, optimizer):
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch([v.value for v in model.trainable_variables])
        predictions = model(images)
        loss = tf.keras.losses.categorical_crossentropy(labels, predictions)
    unused = tf.Variable(1.0)
    gradients = tape.gradient(loss, model.trainable_variables + [unused],
                              unconnected_gradients=tf.UnconnectedGradients.ZERO)
    print("unconnected", gradients.pop().numpy())
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    del tape
    return loss


model, optimizer = network(), tf.keras.optimizers.Adam()
for _ in range(3):
    print("watched", tf.reduce_mean(watched_step(images, labels, model, optimizer)).numpy())

model, optimizer = network(), tf.keras.optimizers.Adam()
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(4)
for epoch in range(2):
    for x, y in dataset:
        with tf.GradientTape(persistent=True) as tape:
            with tf.GradientTape() as inner_tape:
                predictions = model(x)
                loss = tf.keras.losses.categorical_crossentropy(y, predictions)
            gradients = inner_tape.gradient(loss, model.trainable_variables)
            norm = tf.add_n([tf.reduce_sum(g * g) for g in gradients])
        second = tape.gradient(norm, model.get_layer("conv1").kernel)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        del tape
        print("nested", epoch, tf.reduce_mean(loss).numpy(), norm.numpy(), tf.reduce_sum(second * second).numpy())
for w in model.weights:
    print(w.path, tf.reduce_sum(w.value * w.value).numpy())
