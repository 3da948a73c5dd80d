"""TensorFlow's guide "Using the SavedModel format", cell by cell. Weights are waves, which C++ has too, in the place of
those that the guide downloads."""
import os
import tempfile

import numpy as np
import tensorflow as tf


def waves(shape):
    return np.sin(0.7 * np.arange(int(np.prod(shape)), dtype=np.float32)).reshape(shape)


tmpdir = tempfile.mkdtemp()

# Creating a SavedModel from Keras
L = tf.keras.layers
pretrained_model = tf.keras.Sequential([
    tf.keras.Input((16, 16, 3), name="image"), L.Conv2D(8, 3, strides=2, padding="same", use_bias=False),
    L.BatchNormalization(), L.ReLU(), L.DepthwiseConv2D(3, padding="same"), L.GlobalAveragePooling2D(),
    L.Dense(10, activation="softmax", name="predictions")])
pretrained_model.set_weights([np.abs(0.3 * waves(w.shape)) + 0.01 for w in pretrained_model.get_weights()])
x = waves([1, 16, 16, 3])
result_before_save = pretrained_model(x)
decoded = np.argsort(result_before_save)[0, ::-1][:5] + 1
print("Result before saving:", *decoded)
mobilenet_save_path = os.path.join(tmpdir, "mobilenet/1/")
pretrained_model.export(mobilenet_save_path, verbose=False)
loaded = tf.saved_model.load(mobilenet_save_path)
print(sorted(loaded.signatures.keys()))
infer = loaded.signatures["serving_default"]
print(sorted(infer.structured_outputs))
labeling = infer(tf.constant(x))["output_0"]
decoded = np.argsort(labeling)[0, ::-1][:5] + 1
print("Result after saving and loading:", *decoded)
print(labeling)

# The SavedModel format on disk
print([f for f in sorted(os.listdir(mobilenet_save_path)) if f not in ("assets", "keras_metadata.pb")])
print(sorted(os.listdir(mobilenet_save_path + "variables")))


# Saving a custom model
class CustomModule(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.)

    @tf.function
    def __call__(self, x):
        return x * self.v

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(self, new_v):
        self.v.assign(new_v)


module = CustomModule()
module_no_signatures_path = os.path.join(tmpdir, "module_no_signatures")
module(tf.constant(0.))
print("Saving model...")
tf.saved_model.save(module, module_no_signatures_path)

# Loading and using a custom model
imported = tf.saved_model.load(module_no_signatures_path)
print(imported(tf.constant(3.)))
imported.mutate(tf.constant(2.))
print(imported(tf.constant(3.)))
try:
    imported(tf.constant([3.]))
except ValueError:
    print("no trace takes a vector")

# Basic fine-tuning
optimizer = tf.keras.optimizers.SGD(0.05)


def train_step():
    with tf.GradientTape() as tape:
        loss = (10. - imported(tf.constant(2.))) ** 2
    variables = tape.watched_variables()
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for _ in range(10):
    print("loss={:.2f} v={:.2f}".format(train_step(), imported.v.numpy()))  # "v" approaches 5, "loss" approaches 0

# General fine-tuning
loaded = tf.saved_model.load(mobilenet_save_path)
print("MobileNet has {} trainable variables: {}, ...".format(
    len(loaded.trainable_variables), ", ".join([v.name for v in loaded.trainable_variables[:3]])))
trainable_variable_ids = {id(v) for v in loaded.trainable_variables}
non_trainable_variables = [v for v in loaded.variables if id(v) not in trainable_variable_ids]
print("MobileNet also has {} non-trainable variables: {}, ...".format(
    len(non_trainable_variables), ", ".join([v.name for v in non_trainable_variables[:3]])))

# Specifying signatures during export
print(len(imported.signatures))
module_with_signature_path = os.path.join(tmpdir, "module_with_signature")
call = module.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
tf.saved_model.save(module, module_with_signature_path, signatures=call)
imported_with_signatures = tf.saved_model.load(module_with_signature_path)
print(list(imported_with_signatures.signatures.keys()))

module_multiple_signatures_path = os.path.join(tmpdir, "module_with_multiple_signatures")
signatures = {"serving_default": call,
              "array_input": module.__call__.get_concrete_function(tf.TensorSpec([None], tf.float32))}
tf.saved_model.save(module, module_multiple_signatures_path, signatures=signatures)
imported_with_multiple_signatures = tf.saved_model.load(module_multiple_signatures_path)
print(sorted(imported_with_multiple_signatures.signatures.keys()))
print(imported_with_multiple_signatures.signatures["array_input"](x=tf.constant([1., 2.]))["output_0"])


class CustomModuleWithOutputName(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.)

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def __call__(self, x):
        return {"custom_output_name": x * self.v}


module_output = CustomModuleWithOutputName()
call_output = module_output.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
module_output_path = os.path.join(tmpdir, "module_with_output_name")
tf.saved_model.save(module_output, module_output_path, signatures={"serving_default": call_output})
imported_with_output_name = tf.saved_model.load(module_output_path)
print(list(imported_with_output_name.signatures["serving_default"].structured_outputs))
