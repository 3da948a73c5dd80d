"""Modules: variables and submodules are found by themselves."""
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)


class Sequential(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(3, 3)
        self.dense_2 = Dense(3, 2)
        self.step = tf.Variable(0.0, trainable=False, name="step")

    def __call__(self, x):
        return self.dense_2(self.dense_1(x))


model = Sequential(name="the_model")
print(model(tf.constant([[2.0, 2.0, 2.0]])))
print(model.name, [v.name for v in model.variables])
print([v.name for v in model.trainable_variables])
print([m.name for m in model.submodules])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.constant([[1.0, 2.0, 3.0]])))
for g in tape.gradient(loss, model.trainable_variables):
    print(g)
