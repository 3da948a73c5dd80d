"""Training steps, with optimizers that go on where they were."""
import keras
import tensorflow as tf
from keras import layers as L

from saved_models.registry import MODELS, Model, floats, ints, model


class Trained(tf.Module):
    def __init__(self, optimizer):
        super().__init__()
        self.model = keras.Sequential([keras.Input((8,)), L.Dense(16, use_bias=False), L.BatchNormalization(),
                                       L.ReLU(),
                                       L.Dropout(0.3, seed=1), L.Dense(3)])
        self.optimizer = optimizer
        self.optimizer.build(self.model.trainable_variables)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.state = self.model.variables + self.optimizer.variables

    @tf.function(input_signature=[tf.TensorSpec([None, 8]), tf.TensorSpec([None], tf.int32)])
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([None, 8])])
    def __call__(self, x):
        return self.model(x, training=False)


def training(name, optimizer, short=False):
    def make(folder):
        m = Trained(optimizer())
        m.train_step(floats(4, 8), ints(4, high=3))
        tf.saved_model.save(m, folder, signatures={"train": m.train_step, "serving_default": m.__call__})
        steps = [dict(function="train_step", args=[floats(6, 8, seed=k), ints(6, high=3, seed=k)]) for k in range(4)]
        return steps + [dict(signature="train", inputs={"x": floats(5, 8), "y": ints(5, high=3)}),
                        dict(function="__call__", args=[floats(2, 8)], gradients=2)]
    MODELS.append(Model(name, make, short, 1e-3))


O = keras.optimizers
training("train_adam", lambda: O.Adam(1e-2), short=True)
training("train_sgd", lambda: O.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=1.0), short=True)
training("train_adamw", lambda: O.AdamW(O.schedules.CosineDecay(1e-2, 10), weight_decay=0.01))
training("train_rmsprop", lambda: O.RMSprop(1e-2, momentum=0.5, centered=True))
training("train_adagrad", lambda: O.Adagrad(0.1))
training("train_adadelta", lambda: O.Adadelta(1.0))
training("train_adamax", lambda: O.Adamax(1e-2))
training("train_nadam", lambda: O.Nadam(1e-2))
training("train_ftrl", lambda: O.Ftrl(0.1, l1_regularization_strength=0.01))
training("train_lion", lambda: O.Lion(1e-2))
training("train_lamb", lambda: O.Lamb(1e-2))
training("train_adafactor", lambda: O.Adafactor(1e-2))


@model(tolerance=1e-3)
def keras_train_step(folder):
    """What fit() runs, with metrics and the optimizer."""
    m = keras.Sequential([keras.Input((6,)), L.Dense(4, activation="relu"), L.BatchNormalization(), L.Dense(1)])
    m.compile(O.Adam(0.01), "mse", metrics=["mae"])
    m.fit(floats(8, 6), floats(8, 1), epochs=1, verbose=0)

    class Wrapped(tf.Module):
        def __init__(self):
            super().__init__()
            self.model = m
            self.state = m.variables + m.optimizer.variables + [v for x in m.metrics for v in x.variables]

        @tf.function(input_signature=[tf.TensorSpec([None, 6]), tf.TensorSpec([None, 1])])
        def step(self, x, y): return self.model.train_step((x, y))

    tf.saved_model.save(Wrapped(), folder)
    return [dict(function="step", args=[floats(8, 6, seed=i), floats(8, 1, seed=i)]) for i in range(3)]


class Line(tf.Module):
    def __init__(self, optimizer):
        super().__init__()
        self.model = keras.Sequential([keras.Input((5,)), L.Dense(8, activation="tanh"), L.Dense(1)])
        self.optimizer = optimizer
        optimizer.build(self.model.trainable_variables)
        self.state = self.model.variables + optimizer.variables

    @tf.function(input_signature=[tf.TensorSpec([None, 5]), tf.TensorSpec([None, 1])])
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x, training=True) - y) ** 2)
            scaled = self.optimizer.scale_loss(loss)
        self.optimizer.apply(tape.gradient(scaled, self.model.trainable_variables), self.model.trainable_variables)
        return loss


def line(name, optimizer):
    def make(folder):
        tf.saved_model.save(Line(optimizer()), folder)
        return [dict(function="step", args=[floats(4, 5, seed=i), floats(4, 1, seed=i)]) for i in range(6)]
    MODELS.append(Model(name, make, False, 1e-3))


line("train_muon", lambda: O.Muon(0.05))
line("train_loss_scale", lambda: O.LossScaleOptimizer(O.Adam(0.01), dynamic_growth_steps=2))
line("train_accumulated", lambda: O.Adam(0.01, gradient_accumulation_steps=3, amsgrad=True))
line("train_averaged", lambda: O.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3, weight_decay=0.01))
line("train_schedule_free", lambda: O.ScheduleFreeAdamW(0.05))
line("train_warmup", lambda: O.Adamax(O.schedules.CosineDecay(0.0, 5, warmup_target=0.05, warmup_steps=3)))
line("train_piecewise", lambda: O.SGD(O.schedules.PiecewiseConstantDecay([2, 4], [0.1, 0.01, 0.001]), clipvalue=0.1))
