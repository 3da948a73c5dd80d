"""Configs and model files against Keras: every class with several sets of options.

    check_keras_configs.py BUILD_FOLDER    (with a Python that has Keras)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import keras  # noqa: E402
from config_difference import difference, plain  # noqa: E402
from keras import activations, constraints, initializers, losses, metrics, optimizers, regularizers  # noqa: E402
from keras import layers as L  # noqa: E402
from keras.optimizers import schedules  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

program = pathlib.Path(sys.argv[1]) / "tests" / "keras_configs"
folder = pathlib.Path(tempfile.mkdtemp())


def rewind(*arguments):
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if out.returncode: return None, out.stderr.strip()[-600:]
    return out.stdout, ""


def serialized(x):
    return plain(json.loads(json.dumps(keras.saving.serialize_keras_object(x))))


# ---- every class --------------------------------------------------------------------------------------------


def kernels(prefix="kernel"):
    return {f"{prefix}_initializer": initializers.HeNormal(seed=3), f"{prefix}_regularizer": regularizers.L2(0.25),
            f"{prefix}_constraint": constraints.MaxNorm(3.0, axis=[0, 1])}


more = {"name": "mine", "trainable": False, "dtype": "mixed_bfloat16"}
bias = {"use_bias": False, "bias_initializer": "ones", "bias_regularizer": "l1", "bias_constraint": "non_neg",
        "activation": "tanh", "activity_regularizer": regularizers.L1L2(0.5, 0.25)}
norm = {"center": False, "beta_initializer": "ones", "gamma_initializer": initializers.Constant(0.5),
        "beta_regularizer": "l2", "gamma_constraint": "unit_norm"}
rnn = {"use_bias": False, "kernel_initializer": "he_uniform", "recurrent_initializer": initializers.Orthogonal(0.5, seed=1),
       "recurrent_regularizer": "l2", "activity_regularizer": "l1", "recurrent_constraint": "max_norm", "dropout": 0.25,
       "recurrent_dropout": 0.5, "return_sequences": True, "return_state": True, "go_backwards": True, "unroll": True,
       "activation": "relu", **more}


def every_layer():
    yield from [L.Dense(3), L.Dense(4, **kernels(), **bias, **more), L.Dense(2, activation=L.LeakyReLU(0.1)),
                L.Dense(2, dtype="float64"), L.Dense(2, activation="swish")]
    yield from [L.Embedding(3, 4), L.Embedding(5, 2, embeddings_initializer="normal", embeddings_regularizer="l2",
                                               embeddings_constraint="unit_norm", mask_zero=True, **more)]
    yield from [L.Masking(), L.Masking(-1.0, **more), L.Activation("relu"), L.Activation("softmax", **more)]
    yield from [L.ReLU(), L.ReLU(6.0, 0.1, 0.5, **more), L.LeakyReLU(), L.LeakyReLU(0.125), L.ELU(), L.ELU(0.5),
                L.Softmax(), L.Softmax(axis=[1, 2], name="s"), L.PReLU(), L.PReLU("ones", "l1", "non_neg", shared_axes=[1, 2])]
    yield from [L.MultiHeadAttention(2, 3), L.MultiHeadAttention(2, 3, value_dim=4, output_shape=5, seed=3, dropout=0.25,
                use_bias=False, kernel_initializer="he_normal", kernel_regularizer="l2", kernel_constraint="max_norm",
                activity_regularizer="l1", **more)]
    for c in [L.Conv1D, L.Conv2D, L.Conv3D]:
        yield from [c(3, 2), c(4, 3, 2, "same", data_format="channels_first", groups=2, **kernels(), **bias, **more),
                    c(2, 1, dilation_rate=2)]
    yield from [L.Conv1D(3, 2, padding="causal"), L.Conv2D(3, (2, 4), (1, 2))]
    for c in [L.Conv1DTranspose, L.Conv2DTranspose, L.Conv3DTranspose]:
        yield from [c(3, 2), c(4, 3, 2, "same", output_padding=1, data_format="channels_first", **kernels(), **bias, **more)]
    for c in [L.DepthwiseConv1D, L.DepthwiseConv2D]:
        yield from [c(2), c(3, 2, "same", 2, data_format="channels_first", **kernels("depthwise"), **bias, **more)]
    for c in [L.SeparableConv1D, L.SeparableConv2D]:
        yield from [c(2, 3), c(3, 2, 1, "same", depth_multiplier=2, dilation_rate=2, **kernels("depthwise"),
                               **kernels("pointwise"), **bias, **more)]
    yield from [L.Dropout(0.25), L.Dropout(0.5, noise_shape=(None, 1, 3), seed=2, **more), L.GaussianNoise(0.5),
                L.GaussianNoise(0.5, seed=1, **more), L.GaussianDropout(0.5), L.GaussianDropout(0.25, seed=1)]
    for c in [L.SpatialDropout1D, L.SpatialDropout2D, L.SpatialDropout3D]: yield from [c(0.25), c(0.5, seed=3, name="d")]
    yield L.SpatialDropout2D(0.5, data_format="channels_first")
    for c in [L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum]: yield from [c(), c(**more)]
    yield from [L.Concatenate(), L.Concatenate(1, **more), L.Dot(1), L.Dot((1, 2), normalize=True, **more), L.Dot(axes=(2, 2))]
    yield from [L.BatchNormalization(), L.BatchNormalization(1, 0.5, 0.25, scale=False, moving_mean_initializer="ones",
                moving_variance_initializer="zeros", **norm, **more)]
    yield from [L.LayerNormalization(), L.LayerNormalization([1, 2], 0.25, **norm, **more), L.LayerNormalization(1)]
    yield from [L.GroupNormalization(), L.GroupNormalization(-1, 1, 0.25, **norm, **more)]
    for c in [L.MaxPooling1D, L.MaxPooling2D, L.MaxPooling3D, L.AveragePooling1D, L.AveragePooling2D, L.AveragePooling3D]:
        yield from [c(2), c(3, 1, "same", "channels_first", **more)]
    for c in [L.GlobalMaxPooling1D, L.GlobalMaxPooling2D, L.GlobalMaxPooling3D, L.GlobalAveragePooling1D,
              L.GlobalAveragePooling2D, L.GlobalAveragePooling3D]:
        yield from [c(), c(data_format="channels_first", keepdims=True, **more)]
    yield from [L.Rescaling(1 / 255), L.Rescaling(2.0, -1.0, **more), L.Normalization(), L.Normalization(axis=None),
                L.Normalization(mean=[1.0, 2.0], variance=[0.5, 4.0], invert=True), L.Normalization(mean=1.0, variance=2.0),
                L.Normalization(axis=[1, 3])]
    yield from [L.RandomFlip(), L.RandomFlip("vertical", seed=3), L.RandomRotation(0.25), L.RandomCrop(3, 4),
                L.RandomRotation((-0.5, 0.25), "constant", "nearest", seed=1, fill_value=0.5), L.RandomCrop(3, 4, seed=2)]
    yield from [L.Flatten(), L.Flatten(**more), L.Reshape((2, -1)), L.Reshape((3, 4), **more), L.Permute((2, 1)),
                L.Permute((3, 1, 2)), L.RepeatVector(3), L.RepeatVector(2, **more)]
    yield from [L.ZeroPadding1D(), L.ZeroPadding1D((1, 2)), L.ZeroPadding2D(), L.ZeroPadding2D((1, 2)),
                L.ZeroPadding2D(((1, 2), (3, 4)), "channels_first"), L.ZeroPadding3D(2), L.Cropping1D(), L.Cropping1D((0, 2)),
                L.Cropping2D(), L.Cropping2D(((1, 2), (3, 4))), L.Cropping3D(), L.Cropping3D((1, 2, 3), name="c")]
    yield from [L.UpSampling1D(), L.UpSampling1D(3), L.UpSampling2D(), L.UpSampling2D((2, 3), interpolation="bilinear"),
                L.UpSampling2D(data_format="channels_first"), L.UpSampling3D(), L.UpSampling3D((1, 2, 3))]
    yield from [L.SimpleRNN(3), L.SimpleRNN(4, **rnn), L.LSTM(3), L.LSTM(4, unit_forget_bias=False, recurrent_activation="tanh",
                seed=1, **rnn), L.GRU(3), L.GRU(4, reset_after=False, recurrent_activation="relu", seed=2, **rnn),
                L.LSTM(3, stateful=True, zero_output_for_mask=True)]
    yield from [L.Bidirectional(L.LSTM(3)), L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode=None, **more),
                L.Bidirectional(L.SimpleRNN(3), "sum", backward_layer=L.SimpleRNN(4, go_backwards=True)),
                L.TimeDistributed(L.Dense(3)), L.TimeDistributed(L.Conv2D(3, 2, activation="relu"), name="t")]
    yield from [L.InputLayer(shape=(3,)), L.InputLayer(batch_shape=(2, None, 3), dtype="int32", name="x")]


def every_object():
    for x in every_layer(): yield "layer", x
    i = initializers
    for x in [i.Zeros(), i.Ones(), i.Constant(2.0), i.Identity(), i.RandomNormal(), i.RandomNormal(0.5, 0.25, seed=3),
              i.RandomUniform(), i.RandomUniform(-1.0, 2.0, seed=1), i.TruncatedNormal(), i.TruncatedNormal(1.0, 2.0, 3),
              i.VarianceScaling(), i.VarianceScaling(2.0, "fan_avg", "uniform", 4), i.VarianceScaling(distribution="normal"),
              i.VarianceScaling(distribution="untruncated_normal", input_axes=[0], output_axes=[1]),
              i.Orthogonal(), i.Orthogonal(2.0, 3)]: yield "initializer", x
    for c in [i.GlorotUniform, i.GlorotNormal, i.HeUniform, i.HeNormal, i.LecunUniform, i.LecunNormal]:
        yield from [("initializer", c()), ("initializer", c(seed=7))]
    for x in [regularizers.L1(), regularizers.L1(0.5), regularizers.L2(), regularizers.L2(0.5), regularizers.L1L2(0.25, 0.5),
              regularizers.OrthogonalRegularizer(), regularizers.OrthogonalRegularizer(0.5, "columns")]: yield "regularizer", x
    for x in [constraints.MaxNorm(), constraints.MaxNorm(3.0, [0, 1]), constraints.NonNeg(), constraints.UnitNorm(),
              constraints.UnitNorm(1), constraints.MinMaxNorm(), constraints.MinMaxNorm(0.5, 2.0, 0.25, 1)]: yield "constraint", x
    s = schedules
    rates = [s.ExponentialDecay(0.1, 10, 0.9), s.ExponentialDecay(0.1, 10, 0.9, True), s.InverseTimeDecay(0.1, 10, 0.9, True),
             s.PiecewiseConstantDecay([1, 2], [0.1, 0.2, 0.3]), s.PolynomialDecay(0.1, 10),
             s.PolynomialDecay(0.1, 10, 0.01, 2.0, True), s.CosineDecay(0.1, 10),
             s.CosineDecay(0.1, 10, 0.1, warmup_target=0.2, warmup_steps=4), s.CosineDecayRestarts(0.1, 10),
             s.CosineDecayRestarts(0.1, 10, 1.5, 0.5, 0.1)]
    for x in rates: yield "schedule", x
    own = {"SGD": {"momentum": 0.5, "nesterov": True}, "Adam": {"beta_1": 0.5, "beta_2": 0.75, "epsilon": 1e-3, "amsgrad": True},
           "AdamW": {"weight_decay": 0.5, "beta_1": 0.5}, "Adamax": {"beta_1": 0.5, "beta_2": 0.75, "epsilon": 1e-3},
           "Nadam": {"beta_1": 0.5, "epsilon": 1e-3}, "RMSprop": {"rho": 0.5, "momentum": 0.25, "centered": True, "epsilon": 1e-3},
           "Adagrad": {"initial_accumulator_value": 0.5, "epsilon": 1e-3}, "Adadelta": {"rho": 0.5, "epsilon": 1e-3},
           "Ftrl": {"learning_rate_power": -0.25, "initial_accumulator_value": 0.5, "l1_regularization_strength": 0.25,
                    "l2_regularization_strength": 0.5, "l2_shrinkage_regularization_strength": 0.125, "beta": 0.5},
           "Lion": {"beta_1": 0.5, "beta_2": 0.75}}
    o = optimizers
    for name, options in own.items():
        c = getattr(o, name)
        yield "optimizer", c()
        yield "optimizer", c(0.5, clipnorm=1.0, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3, name="mine", **options)
        yield "optimizer", c(rates[0], clipvalue=0.5, loss_scale_factor=4.0, gradient_accumulation_steps=2)
        yield "optimizer", c(global_clipnorm=0.5)
    yield "optimizer", o.SGD(weight_decay=0.5)
    yield "optimizer", o.LossScaleOptimizer(o.Adam(0.25))
    yield "optimizer", o.LossScaleOptimizer(o.SGD(rates[4]), 16.0, 3, name="scaled")
    simple = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "LogCosh",
              "Hinge", "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "CTC"]
    probability = {"from_logits": True, "label_smoothing": 0.25}
    with_options = {"BinaryCrossentropy": {**probability, "axis": 1}, "CategoricalCrossentropy": {**probability, "axis": 1},
                    "SparseCategoricalCrossentropy": {"from_logits": True, "ignore_class": 2},
                    "BinaryFocalCrossentropy": {**probability, "apply_class_balancing": True, "alpha": 0.5, "gamma": 3.0},
                    "CategoricalFocalCrossentropy": {**probability, "alpha": 0.5, "gamma": 3.0},
                    "CategoricalGeneralizedCrossEntropy": {"q": 0.25}, "CosineSimilarity": {}, "Huber": {},
                    "Dice": {"axis": [1, 2]}, "Tversky": {"alpha": 0.25, "beta": 0.75, "axis": [1]},
                    "Circle": {"gamma": 40.0, "margin": 0.25, "remove_diagonal": False}, **{name: {} for name in simple}}
    for name, options in with_options.items():
        c = getattr(losses, name)
        yield from [("loss", c()), ("loss", c(reduction="sum", name="mine", **options))]
    m = metrics
    for name in ["Accuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy", "MeanSquaredError", "MeanAbsoluteError",
                 "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "RootMeanSquaredError", "LogCoshError", "Hinge",
                 "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "Mean", "Sum"]:
        yield from [("metric", getattr(m, name)()), ("metric", getattr(m, name)(name="mine", dtype="float64"))]
    for x in [m.BinaryAccuracy(), m.BinaryAccuracy(threshold=0.25), m.TopKCategoricalAccuracy(), m.TopKCategoricalAccuracy(3),
              m.SparseTopKCategoricalAccuracy(), m.SparseTopKCategoricalAccuracy(2), m.BinaryCrossentropy(),
              m.BinaryCrossentropy(from_logits=True, label_smoothing=0.25), m.CategoricalCrossentropy(),
              m.CategoricalCrossentropy(from_logits=True), m.SparseCategoricalCrossentropy(),
              m.SparseCategoricalCrossentropy(from_logits=True, ignore_class=1), m.CosineSimilarity(), m.PearsonCorrelation(),
              m.PearsonCorrelation(axis=1), m.ConcordanceCorrelation(), m.R2Score(), m.R2Score(None, 2),
              m.R2Score("variance_weighted_average"), m.TruePositives(), m.TruePositives(0.25), m.TrueNegatives([0.25, 0.5]),
              m.FalsePositives(), m.FalseNegatives(0.75), m.Precision(), m.Precision([0.25, 0.5], 3, 1), m.Recall(),
              m.Recall(0.25), m.SensitivityAtSpecificity(0.5), m.SpecificityAtSensitivity(0.25, 50, 1), m.PrecisionAtRecall(0.5),
              m.RecallAtPrecision(0.75, class_id=2), m.AUC(), m.AUC(50, "PR", "minoring"), m.AUC(thresholds=[0.25, 0.5]),
              m.AUC(multi_label=True, num_labels=2, label_weights=[1.0, 2.0], from_logits=True), m.FBetaScore(),
              m.FBetaScore("micro", 2.0, 0.25), m.F1Score(), m.F1Score("macro", 0.5), m.IoU(3, [0, 2]),
              m.IoU(3, [1], ignore_class=0, sparse_y_true=False, axis=1, name="i"), m.MeanIoU(2),
              m.MeanIoU(3, sparse_y_pred=False), m.OneHotIoU(3, [0]), m.OneHotIoU(3, [1], ignore_class=2, sparse_y_pred=True),
              m.OneHotMeanIoU(2), m.BinaryIoU(), m.BinaryIoU([1], 0.25, name="b")]: yield "metric", x


def check_objects():
    """Keras' config, through an object of ours, comes back as it was."""
    pairs = [(kind, serialized(x)) for kind, x in every_object()]
    for name in ["celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear "
                 "log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus "
                 "sparse_sigmoid sparsemax squareplus swish tanh tanh_shrink"][0].split():
        pairs.append(("activation", json.loads(json.dumps(activations.serialize(getattr(activations, name))))))
    (folder / "objects").write_text("".join(f"{kind}\t{json.dumps(c)}\n" for kind, c in pairs))
    out, error = rewind("objects", folder / "objects")
    check("objects", out is not None, error)
    for (kind, theirs), line in zip(pairs, (out or "").splitlines()):
        what = f"{kind} {theirs['class_name'] if isinstance(theirs, dict) else theirs}"
        if line.startswith("ERROR"): check(what, False, line)
        else: check(what, not (d := difference(json.loads(line), theirs)), d)


check_objects()
print(f"{tally.count - len(failed)} of {tally.count} checks of configs agree with Keras {keras.__version__}")
for f in failed[:40]: print("  ", f)
sys.exit(1 if failed else 0)
