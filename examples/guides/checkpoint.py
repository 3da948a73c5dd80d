"""TensorFlow's guide "Training checkpoints", cell by cell. Weights start from waves, which C++ has too."""
import os
import sys
import tempfile

import numpy as np
import tensorflow as tf


class Net(tf.keras.Model):
    """A simple linear model."""

    def __init__(self):
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def toy_dataset():
    inputs = tf.range(10.)[:, None]
    labels = inputs * 5. + tf.range(5.)[None, :]
    return tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels)).repeat().batch(2)


def train_step(net, example, optimizer):
    """Trains `net` on `example` using `optimizer`."""
    with tf.GradientTape() as tape:
        output = net(example["x"])
        loss = tf.reduce_mean(tf.abs(output - example["y"]))
    variables = net.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


def new_net():
    net = Net()
    net(tf.zeros([1, 1]))
    net.set_weights([0.3 * np.sin(0.7 * np.arange(5, dtype=np.float32)).reshape(w.shape) for w in net.get_weights()])
    return net


def train_and_checkpoint(net, manager):
    ckpt.restore(manager.latest_checkpoint)
    if manager.latest_checkpoint:
        print("Restored from {}".format(manager.latest_checkpoint))
    else:
        print("Initializing from scratch.")
    for _ in range(50):
        example = next(iterator)
        loss = train_step(net, example, opt)
        ckpt.step.assign_add(1)
        if int(ckpt.step) % 10 == 0:
            save_path = manager.save()
            print("Saved checkpoint for step {}: {}".format(int(ckpt.step), save_path))
            print("loss {:1.2f}".format(loss.numpy()))


# A folder that is given holds what the program in the other language has written: training goes on from there.
given = len(sys.argv) > 1
os.chdir(sys.argv[1] if given else tempfile.mkdtemp())

# Saving from tf.keras training APIs
net = new_net()
net.save_weights("easy.weights.h5")
print(sorted(f for f in os.listdir(".") if f.endswith(".h5")))

# Write checkpoints: manual checkpointing, twice
for _ in range(1 if given else 2):
    opt = tf.keras.optimizers.Adam(0.1)
    net = new_net()
    dataset = toy_dataset()
    iterator = iter(dataset)
    ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net)
    if not given: ckpt.iterator = iterator
    manager = tf.train.CheckpointManager(ckpt, "./tf_ckpts", max_to_keep=3)
    train_and_checkpoint(net, manager)

print(manager.checkpoints)  # List the three remaining checkpoints
for name in sorted(os.listdir("tf_ckpts")): print(name)

# Loading mechanics
to_restore = tf.Variable(tf.zeros([5]))
print(to_restore.value())  # All zeros
fake_layer = tf.train.Checkpoint(bias=to_restore)
fake_net = tf.train.Checkpoint(l1=fake_layer)
new_root = tf.train.Checkpoint(net=fake_net)
status = new_root.restore(tf.train.latest_checkpoint("./tf_ckpts/"))
print(to_restore.value())  # This gets the restored value.
status.assert_existing_objects_matched()

# Deferred restoration
deferred = tf.Variable(tf.zeros([1, 5]))
print(deferred.value())  # Not restored; still zeros
fake_layer._kernel = deferred
print(deferred.value())  # Restored
status.assert_existing_objects_matched()
try:
    status.assert_consumed()
except AssertionError:
    print("values are left")

# Manually inspecting checkpoints
reader = tf.train.load_checkpoint("./tf_ckpts/")
shape_from_key = reader.get_variable_to_shape_map()
dtype_from_key = reader.get_variable_to_dtype_map()
for key in sorted(shape_from_key):
    if key.endswith("VARIABLE_VALUE"): print(key)
key = "net/l1/_kernel/.ATTRIBUTES/VARIABLE_VALUE"
print("Shape:", tuple(shape_from_key[key]))
print("Dtype:", dtype_from_key[key].name)
print(tf.constant(reader.get_tensor(key)))

# List and dictionary tracking
save = tf.train.Checkpoint()
save.listed = [tf.Variable(1.)]
save.listed.append(tf.Variable(2.))
save.mapped = {"one": save.listed[0]}
save.mapped["two"] = save.listed[1]
save_path = save.save("./tf_list_example")

restore = tf.train.Checkpoint()
v2 = tf.Variable(0.)
print(v2.value())  # Not restored yet
restore.mapped = {"two": v2}
restore.restore(save_path)
print(v2.value())
restore.listed = []
v1 = tf.Variable(0.)
restore.listed.append(v1)
restore.restore(save_path)
print(v1.value())  # Restored by restore()
