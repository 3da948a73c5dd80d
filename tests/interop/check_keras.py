"""Layers and models against real Keras: results, gradients, state, names and order of weights, summaries.

    check_keras.py BUILD_FOLDER [WORD]    (with a Python that has TensorFlow)

The same rows as in keras_layers.cc, by name.
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers as L  # noqa: E402

tf.get_logger().setLevel("FATAL")


def wave(shape, number, scale=0.5):
    i = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (scale * np.sin(1.0 + 0.7 * i + 1.3 * number) + 0.01 * number).astype(np.float32).reshape(shape)


def ids(shape, limit):
    i = np.arange(int(np.prod(shape)))
    return ((i * 7 + i // 3) % limit).astype(np.int32).reshape(shape)


FLAT, STEPS, IMAGE = wave((3, 5), 0), wave((2, 6, 4), 0), wave((2, 7, 6, 4), 0)
VOLUME, IMAGE_FIRST, TOKENS = wave((1, 5, 5, 6, 2), 0), wave((2, 4, 7, 6), 0), ids((2, 6), 8)
MASK = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]], bool)
TRAINING = {"training": True}
ROTATED = {"differentiable": False}  # TensorFlow turns the gradient back: not the derivative of the interpolation
R = keras.regularizers

CASES = {
    "dense": (lambda: L.Dense(4), [FLAT]),
    "dense_relu": (lambda: L.Dense(4, activation="relu", use_bias=False, name="head"), [FLAT]),
    "dense_3d": (lambda: L.Dense(3, activation="gelu"), [STEPS]),
    "dense_regularized": (lambda: L.Dense(4, kernel_regularizer=R.L2(0.02), bias_regularizer="l1",
                                          activity_regularizer=R.L2(0.1)), [FLAT]),
    "conv1d": (lambda: L.Conv1D(5, 3), [STEPS]),
    "conv1d_causal": (lambda: L.Conv1D(5, 2, padding="causal", dilation_rate=2, activation="tanh"), [STEPS]),
    "conv2d": (lambda: L.Conv2D(5, 3), [IMAGE]),
    "conv2d_same_strides": (lambda: L.Conv2D(5, (3, 2), strides=2, padding="same", activation="relu"), [IMAGE]),
    "conv2d_groups": (lambda: L.Conv2D(6, 3, groups=2, use_bias=False), [IMAGE]),
    "conv2d_dilated": (lambda: L.Conv2D(3, 2, dilation_rate=2), [IMAGE]),
    "conv3d": (lambda: L.Conv3D(3, 2, strides=(1, 2, 1), padding="same"), [VOLUME]),
    "depthwise_conv2d": (lambda: L.DepthwiseConv2D(3, depth_multiplier=2), [IMAGE]),
    "depthwise_conv2d_same": (lambda: L.DepthwiseConv2D(3, strides=2, padding="same"), [IMAGE]),
    "depthwise_conv1d": (lambda: L.DepthwiseConv1D(3, depth_multiplier=2), [STEPS]),
    "separable_conv2d": (lambda: L.SeparableConv2D(5, 3, depth_multiplier=2, activation="relu"), [IMAGE]),
    "separable_conv1d": (lambda: L.SeparableConv1D(5, 3), [STEPS]),
    "conv2d_transpose": (lambda: L.Conv2DTranspose(3, 3), [IMAGE]),
    "conv2d_transpose_same": (lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same"), [IMAGE]),
    "conv2d_transpose_output_padding": (lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same", output_padding=1),
                                        [IMAGE]),
    "conv2d_transpose_strides": (lambda: L.Conv2DTranspose(3, 2, strides=3), [IMAGE]),
    "conv1d_transpose": (lambda: L.Conv1DTranspose(3, 3, strides=2), [STEPS]),
    "conv3d_transpose": (lambda: L.Conv3DTranspose(2, 2, strides=2), [VOLUME]),
    "max_pooling1d": (lambda: L.MaxPooling1D(), [STEPS]),
    "max_pooling2d": (lambda: L.MaxPooling2D((2, 3), strides=2, padding="same"), [IMAGE]),
    "max_pooling2d_first": (lambda: L.MaxPooling2D(2, data_format="channels_first"), [IMAGE_FIRST]),
    "max_pooling3d": (lambda: L.MaxPooling3D(), [VOLUME]),
    "average_pooling1d": (lambda: L.AveragePooling1D(3, strides=1, padding="same"), [STEPS]),
    "average_pooling2d": (lambda: L.AveragePooling2D(2), [IMAGE]),
    "average_pooling2d_same": (lambda: L.AveragePooling2D(3, strides=2, padding="same"), [IMAGE]),
    "average_pooling3d": (lambda: L.AveragePooling3D(2), [VOLUME]),
    "global_max_pooling1d": (lambda: L.GlobalMaxPooling1D(), [STEPS]),
    "global_max_pooling2d": (lambda: L.GlobalMaxPooling2D(keepdims=True), [IMAGE]),
    "global_max_pooling3d": (lambda: L.GlobalMaxPooling3D(), [VOLUME]),
    "global_average_pooling1d": (lambda: L.GlobalAveragePooling1D(), [STEPS]),
    "global_average_pooling1d_mask": (lambda: L.GlobalAveragePooling1D(), [STEPS], {"mask": MASK}),
    "global_average_pooling2d": (lambda: L.GlobalAveragePooling2D(), [IMAGE]),
    "global_average_pooling2d_first": (lambda: L.GlobalAveragePooling2D(data_format="channels_first"), [IMAGE_FIRST]),
    "global_average_pooling3d": (lambda: L.GlobalAveragePooling3D(), [VOLUME]),
    "flatten": (lambda: L.Flatten(), [IMAGE]),
    "reshape": (lambda: L.Reshape((3, -1)), [IMAGE]),
    "permute": (lambda: L.Permute((2, 1)), [STEPS]),
    "repeat_vector": (lambda: L.RepeatVector(3), [FLAT]),
    "zero_padding1d": (lambda: L.ZeroPadding1D((1, 2)), [STEPS]),
    "zero_padding2d": (lambda: L.ZeroPadding2D(((1, 2), (0, 1))), [IMAGE]),
    "zero_padding3d": (lambda: L.ZeroPadding3D(), [VOLUME]),
    "cropping1d": (lambda: L.Cropping1D((1, 2)), [STEPS]),
    "cropping2d": (lambda: L.Cropping2D(((1, 2), (0, 1))), [IMAGE]),
    "cropping3d": (lambda: L.Cropping3D(), [VOLUME]),
    "up_sampling1d": (lambda: L.UpSampling1D(3), [STEPS]),
    "up_sampling2d": (lambda: L.UpSampling2D((2, 3)), [IMAGE]),
    "up_sampling2d_bilinear": (lambda: L.UpSampling2D(2, interpolation="bilinear"), [IMAGE]),
    "up_sampling3d": (lambda: L.UpSampling3D(), [VOLUME]),
    "dropout_inference": (lambda: L.Dropout(0.5), [FLAT]),
    "spatial_dropout_inference": (lambda: L.SpatialDropout2D(0.5), [IMAGE]),
    "dropout_training": (lambda: L.Dropout(0.5, seed=3), [FLAT], TRAINING),
    "dropout_rows": (lambda: L.Dropout(0.3, noise_shape=(None, 1), seed=4), [FLAT], TRAINING),
    "spatial_dropout_training": (lambda: L.SpatialDropout2D(0.5, seed=5), [IMAGE], TRAINING),
    "gaussian_noise_training": (lambda: L.GaussianNoise(0.2, seed=6), [FLAT], TRAINING),
    "gaussian_dropout_training": (lambda: L.GaussianDropout(0.3, seed=7), [FLAT], TRAINING),
    "random_flip": (lambda: L.RandomFlip(seed=7), [IMAGE]),
    "random_flip_horizontal": (lambda: L.RandomFlip("horizontal", seed=8), [IMAGE], TRAINING),
    "random_flip_inference": (lambda: L.RandomFlip(seed=7), [IMAGE], {"training": False}),
    "random_rotation": (lambda: L.RandomRotation(0.2, seed=7), [IMAGE], ROTATED),
    "random_rotation_constant": (lambda: L.RandomRotation((0.1, 0.3), fill_mode="constant", fill_value=0.3, seed=8),
                                 [IMAGE], ROTATED),
    "random_rotation_nearest": (lambda: L.RandomRotation(0.4, fill_mode="nearest", seed=9), [IMAGE], ROTATED),
    "random_rotation_wrap": (lambda: L.RandomRotation(0.4, fill_mode="wrap", interpolation="nearest", seed=10), [IMAGE],
                             ROTATED),
    "random_rotation_wrap_smooth": (lambda: L.RandomRotation(0.4, fill_mode="wrap", seed=11), [IMAGE], ROTATED),
    "random_crop": (lambda: L.RandomCrop(4, 3, seed=7), [IMAGE]),
    "simple_rnn_dropout": (lambda: L.SimpleRNN(3, dropout=0.4, recurrent_dropout=0.3, seed=7), [STEPS], TRAINING),
    "lstm_dropout": (lambda: L.LSTM(3, dropout=0.4, seed=7), [STEPS], TRAINING),
    "lstm_recurrent_dropout": (lambda: L.LSTM(3, recurrent_dropout=0.4, seed=7, return_sequences=True), [STEPS], TRAINING),
    "lstm_both_dropouts": (lambda: L.LSTM(3, dropout=0.3, recurrent_dropout=0.4, seed=7), [STEPS], TRAINING),
    "gru_dropout": (lambda: L.GRU(3, dropout=0.4, seed=7), [STEPS], TRAINING),
    "gru_both_dropouts": (lambda: L.GRU(3, dropout=0.3, recurrent_dropout=0.4, seed=7), [STEPS], TRAINING),
    "gru_reset_before_dropout": (lambda: L.GRU(3, reset_after=False, recurrent_dropout=0.4, seed=7), [STEPS], TRAINING),
    "attention_dropout": (lambda: L.MultiHeadAttention(2, 3, dropout=0.4, seed=9), [STEPS, STEPS],
                          {"training": True, "several": True}),
    "batch_normalization": (lambda: L.BatchNormalization(), [FLAT]),
    "batch_normalization_training": (lambda: L.BatchNormalization(), [IMAGE], TRAINING),
    "batch_normalization_axis": (lambda: L.BatchNormalization(axis=1, momentum=0.8, epsilon=0.01, center=False),
                                 [IMAGE], TRAINING),
    "batch_normalization_mask": (lambda: L.BatchNormalization(), [STEPS], {"training": True, "mask": MASK}),
    "batch_normalization_frozen": (lambda: L.BatchNormalization(trainable=False), [IMAGE], TRAINING),
    "layer_normalization": (lambda: L.LayerNormalization(), [STEPS]),
    "layer_normalization_axes": (lambda: L.LayerNormalization(axis=[1, 2], epsilon=0.1, scale=False), [STEPS]),
    "group_normalization": (lambda: L.GroupNormalization(groups=2), [IMAGE]),
    "group_normalization_instance": (lambda: L.GroupNormalization(groups=-1, center=False), [STEPS]),
    "embedding": (lambda: L.Embedding(8, 3), [TOKENS]),
    "simple_rnn": (lambda: L.SimpleRNN(3), [STEPS]),
    "simple_rnn_sequences": (lambda: L.SimpleRNN(3, activation="relu", use_bias=False, return_sequences=True,
                                                 go_backwards=True), [STEPS]),
    "lstm": (lambda: L.LSTM(3), [STEPS]),
    "lstm_sequences": (lambda: L.LSTM(3, return_sequences=True, return_state=True), [STEPS]),
    "lstm_mask": (lambda: L.LSTM(3, return_sequences=True), [STEPS], {"mask": MASK}),
    "lstm_mask_backwards": (lambda: L.LSTM(3, go_backwards=True), [STEPS], {"mask": MASK}),
    "lstm_mask_state": (lambda: L.LSTM(3, return_sequences=True, return_state=True, go_backwards=True),
                        [STEPS, wave((2, 3), 1), wave((2, 3), 2)], {"states": True, "mask": MASK}),
    "gru_long_mask": (lambda: L.GRU(3, return_sequences=True), [wave((2, 40, 2), 0)], {"mask": ids((2, 40), 4) > 0}),
    "lstm_state": (lambda: L.LSTM(3), [STEPS, wave((2, 3), 1), wave((2, 3), 2)], {"states": True}),
    "lstm_long": (lambda: L.LSTM(3, return_sequences=True), [wave((2, 40, 2), 0)]),
    "gru": (lambda: L.GRU(3), [STEPS]),
    "gru_before": (lambda: L.GRU(3, reset_after=False, return_sequences=True), [STEPS]),
    "gru_state": (lambda: L.GRU(3, use_bias=False, return_state=True), [STEPS, wave((2, 3), 1)], {"states": True}),
    "bidirectional": (lambda: L.Bidirectional(L.LSTM(3)), [STEPS]),
    "bidirectional_sequences": (lambda: L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="sum"), [STEPS]),
    "bidirectional_mask": (lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)), [STEPS], {"mask": MASK}),
    "time_distributed": (lambda: L.TimeDistributed(L.Dense(3)), [STEPS]),
    "time_distributed_conv": (lambda: L.TimeDistributed(L.Conv1D(2, 2)), [IMAGE]),
    "multi_head_attention": (lambda: L.MultiHeadAttention(2, 3), [STEPS, wave((2, 5, 4), 1)], {"several": True}),
    "multi_head_attention_causal": (lambda: L.MultiHeadAttention(2, 3, value_dim=5, output_shape=7), [STEPS, STEPS],
                                    {"several": True, "use_causal_mask": True}),
    "multi_head_attention_scores": (lambda: L.MultiHeadAttention(2, 3, use_bias=False),
                                    [STEPS, STEPS, wave((2, 6, 3), 1)],
                                    {"several": True, "return_attention_scores": True}),
    "activation": (lambda: L.Activation("tanh"), [FLAT]),
    "relu": (lambda: L.ReLU(max_value=0.3, negative_slope=0.1, threshold=0.05), [FLAT]),
    "leaky_relu": (lambda: L.LeakyReLU(), [FLAT]),
    "elu": (lambda: L.ELU(alpha=0.5), [FLAT]),
    "softmax": (lambda: L.Softmax(), [FLAT]),
    "softmax_axes": (lambda: L.Softmax(axis=(1, 2)), [STEPS]),
    "p_relu": (lambda: L.PReLU(shared_axes=[1]), [STEPS]),
    "add": (lambda: L.Add(), [FLAT, wave((3, 5), 1), wave((3, 5), 2)]),
    "add_broadcast": (lambda: L.Add(), [STEPS, wave((2, 4), 1)]),
    "subtract": (lambda: L.Subtract(), [FLAT, wave((3, 5), 1)]),
    "multiply": (lambda: L.Multiply(), [FLAT, wave((3, 5), 1)]),
    "average": (lambda: L.Average(), [FLAT, wave((3, 5), 1), wave((3, 5), 2)]),
    "maximum": (lambda: L.Maximum(), [FLAT, wave((3, 5), 1)]),
    "minimum": (lambda: L.Minimum(), [FLAT, wave((3, 5), 1)]),
    "concatenate": (lambda: L.Concatenate(), [STEPS, wave((2, 6, 2), 1)]),
    "concatenate_axis": (lambda: L.Concatenate(axis=1), [STEPS, wave((2, 3, 4), 1)]),
    "dot": (lambda: L.Dot(1), [FLAT, wave((3, 5), 1)]),
    "dot_3d": (lambda: L.Dot((2, 1)), [STEPS, wave((2, 4, 3), 1)]),
    "dot_cosine": (lambda: L.Dot(1, normalize=True), [FLAT, wave((3, 5), 1)]),
    "rescaling": (lambda: L.Rescaling(1.0 / 255, offset=0.5), [IMAGE]),
    "normalization": (lambda: L.Normalization(), [FLAT]),
    "normalization_given": (lambda: L.Normalization(mean=[0.1, 0.2, 0.3, 0.4, 0.5], variance=[1.0, 2.0, 3.0, 4.0, 5.0]),
                            [FLAT]),
    "masking": (lambda: L.Masking(mask_value=0.0), [STEPS]),
    "masked_model": (lambda: keras.Sequential([L.Embedding(8, 3, mask_zero=True), L.LSTM(3, return_sequences=True),
                                               L.LSTM(2), L.Dense(2)]), [TOKENS]),
    "cnn": (lambda: keras.Sequential([L.Conv2D(4, 3, activation="relu"), L.MaxPooling2D(), L.Flatten(),
                                      L.Dropout(0.3), L.Dense(3)]), [IMAGE]),
}


def in_keras(make, inputs, args=None):
    keras.utils.clear_session()
    layer, args = make(), dict(args or {})
    states, several = args.pop("states", False), args.pop("several", False)
    differentiable = args.pop("differentiable", True)
    if "mask" in args: args["mask"] = tf.constant(args["mask"])
    inputs = [tf.constant(x) for x in inputs]

    def call(**extra):
        if states: y = layer(inputs[0], initial_state=inputs[1:], **extra)
        elif several: y = layer(*inputs, **extra)
        else: y = layer(inputs if len(inputs) > 1 else inputs[0], **extra)
        return list(y) if isinstance(y, (list, tuple)) else [y]

    call(**{k: v for k, v in args.items() if k == "mask"})
    for number, v in enumerate(layer.weights, 1):
        value = wave(tuple(v.shape), number, 0.4)
        if "variance" in v.name: value = np.abs(value) + np.float32(0.5)
        if v.dtype == "float32": v.assign(value)
    if hasattr(layer, "finalize_state"): layer.finalize_state()
    for v in layer.non_trainable_variables:  # Keras' recurrent layers draw masks outside of training too
        if "seed_generator_state" in v.path: v.assign([v.numpy()[0], 0])
    floats = [x for x in inputs if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(floats)
        results = call(**args)
        terms = [tf.reduce_sum(y * wave(tuple(y.shape), i + 3)) for i, y in enumerate(results)] + list(layer.losses)
        total = tf.add_n(terms)
    sources = floats + [v.value for v in layer.trainable_weights]
    gradients = tape.gradient(total, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    out = {f"result{i}": y for i, y in enumerate(results)}
    if differentiable: out |= {f"gradient{i}": tf.convert_to_tensor(g) for i, g in enumerate(gradients)}
    out |= {f"state{i}": v.value for i, v in enumerate(layer.non_trainable_weights)}
    out = {k: np.asarray(v, np.float64).ravel() for k, v in out.items()}
    text = lambda s: "(" + ", ".join(map(str, s)) + ("," if len(s) == 1 else "") + ")"  # noqa: E731
    out["weights"] = " ".join(v.path + text(tuple(v.shape)) for v in layer.weights)
    out["shape"] = " ".join(text(tuple(y.shape)) for y in results)
    return out


def functional():
    x, image = keras.Input((784,)), keras.Input((8, 8, 3), name="picture_of_something")
    y, z = L.Dense(5)(x), L.Dense(5)(x)
    c = L.GlobalAveragePooling2D()(L.Conv2D(5, 3)(image))
    o = L.Add()([y, z, c])
    return keras.Model([x, image], [o, L.Dense(2)(o * 2.0 + y)]), {}


def chain():
    x = keras.Input((10,))
    return keras.Model(x, L.Dense(2)(L.Dense(3)(x) * 2.0)), {"show_trainable": True}


def shared():
    a, b, d = keras.Input((4,)), keras.Input((4,)), L.Dense(3, name="a_layer_with_a_rather_long_name")
    return keras.Model([a, b], L.Concatenate()([d(a), d(b)])), {}


def nested():
    inner = keras.Sequential([L.Dense(4), L.BatchNormalization()])
    m = keras.Sequential([keras.Input((7,)), inner, L.Dense(2)])
    inner.trainable = False
    return m, {"expand_nested": True, "show_trainable": True}


def rnn():
    x = keras.Input((None,), dtype="int32")
    seq, h, c = L.LSTM(8, return_sequences=True, return_state=True)(L.Embedding(1000, 16)(x))
    return keras.Model(x, [L.Dense(1)(L.Bidirectional(L.GRU(8))(seq)), h]), {}


def called():
    m = keras.Sequential([L.Dense(100), L.BatchNormalization(), L.Dense(10)])
    m(np.ones((2, 7), np.float32))
    return m, {}


def trained():
    m = keras.Sequential([L.Dense(100, activation="relu"), L.BatchNormalization(), L.Dense(10)])
    m.compile(optimizer="adam", loss="mse")
    m.fit(np.ones((4, 7), np.float32), np.ones((4, 10), np.float32), verbose=0)
    return m, {}


SUMMARIES = {
    "unbuilt": lambda: (keras.Sequential([L.Reshape((784,)), L.Dense(100, activation="relu"), L.Dense(10)]), {}),
    "mnist": lambda: (keras.Sequential([keras.Input((28, 28)), L.Reshape((784,)), L.Dense(100), L.Dense(10)]), {}),
    "called": called, "trained": trained,
    "cnn_wide": lambda: (keras.Sequential([
        keras.Input((28, 28, 1)), L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(2), L.BatchNormalization(),
        L.GlobalAveragePooling2D(), L.Dropout(0.5), L.Dense(10)]), {"line_length": 70}),
    "functional": functional, "chain": chain, "shared": shared, "nested": nested, "rnn": rnn,
}


def summary_of(make):
    keras.utils.clear_session()
    model, options = make()
    lines = []
    model.summary(print_fn=lines.append, **options)
    return "".join(lines)


def parse(text):
    cases, summaries, name = {}, {}, None
    for line in text.splitlines():
        if line.startswith("summary "):
            name = line.split(" ", 1)[1]
            summaries[name] = ""
        elif name:
            summaries[name] += line + "\n"
        else:
            case, *parts = line.split("|")
            cases[case] = result = {}
            for part in parts:
                key, _, rest = part.partition(" ")
                numbers = key not in ("weights", "shape", "error")
                result[key] = np.array([float(v) for v in rest.split()]) if numbers else rest
    return cases, summaries


def differs(want, got):
    if "error" in got: return "Rewind throws: " + got["error"]
    if "gradient0" not in want: got = {k: v for k, v in got.items() if "gradient" not in k}
    if want.keys() != got.keys(): return f"Keras gives {list(want)}, Rewind {list(got)}"
    for key, a in want.items():
        b = got[key]
        if isinstance(a, str):
            if a != b: return f"{key}:\n  Keras  {a}\n  Rewind {b}"
        elif a.shape != b.shape or not np.allclose(a, b, rtol=2e-4, atol=2e-5):
            return f"{key}: sizes {a.shape} {b.shape}\n  Keras  {a[:6]}\n  Rewind {b[:6]}"
    return None


def main():
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    program = pathlib.Path(sys.argv[1]) / "tests" / "keras_layers"

    def rewind(columns, what):
        os.environ["COLUMNS"] = columns  # of Keras' tables too
        out = subprocess.run([program, what], capture_output=True, text=True)
        if out.returncode: sys.exit(f"keras_layers ended with {out.returncode}: {out.stdout[-300:]}{out.stderr[-500:]}")
        return parse(out.stdout)

    ours = rewind("80", word)[0]
    failed = [f"{name}: only on one side" for name in ours.keys() ^ {n for n in CASES if word in n}]
    for name in ours.keys() & CASES.keys():
        try:
            diff = differs(in_keras(*CASES[name]), ours[name])
        except (TypeError, ValueError) as e:
            diff = f"Keras throws: {e}"
        if diff: failed.append(f"{name}: {diff}")
    total = len(ours)
    for columns in ("80", "120") if not word else ():
        for name, text in rewind(columns, "summary")[1].items():
            total += 1
            want = summary_of(SUMMARIES[name])
            if want.rstrip() != text.rstrip(): failed.append(f"summary {name}:\nKeras\n{want}\nRewind\n{text}")
    print("\n".join(failed))
    print(f"keras: {total - len(failed)} layers and summaries agree, {len(failed)} differ")
    sys.exit(bool(failed))


main()
