"""Training parts against real Keras: losses with gradients, metrics over several updates, 100 steps of every optimizer,
schedules, initializers, activations, regularizers, constraints.

    check_keras_training.py BUILD_FOLDER [WORD]    (with a Python that has TensorFlow)

The same rows as in keras_training/, by name.
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import activations, constraints, initializers, losses, metrics, optimizers, regularizers  # noqa: E402

tf.get_logger().setLevel("FATAL")
CASES = {}


def waves(shape, number):
    return np.sin(1.0 + 0.7 * np.arange(int(np.prod(shape)), dtype=np.float64) + 1.3 * number).reshape(shape)


def wave(shape, number, scale=0.5):
    return (scale * waves(shape, number) + 0.01 * number).astype(np.float32)


def shares(shape, number):
    return (0.5 + 0.45 * waves(shape, number)).astype(np.float32)


def rows(shape, number):
    x = shares(shape, number)
    return x / x.sum(-1, keepdims=True)


def ids(shape, limit, number=0):
    i = np.arange(int(np.prod(shape)))
    return ((i * 7 + i // 3 + number) % limit).astype(np.int32).reshape(shape)


def hot(shape, classes, number=0):
    return np.eye(classes, dtype=np.float32)[ids(shape, classes, number)]


def add(name, compute, rtol=1e-5, atol=1e-6):
    CASES[name] = (compute, rtol, atol)


# ---- losses ---------------------------------------------------------------------------------------------------------

def loss(name, fn, y_true, y_pred, weight=None, mask=None, activation=None):
    def compute():
        obj = losses.get(fn) if isinstance(fn, str) else fn
        if not isinstance(obj, losses.Loss):
            obj = {"huber": losses.Huber(), "cosine_similarity": losses.CosineSimilarity()}.get(
                fn) or MeanOf(obj)
        p = tf.constant(y_pred)
        with tf.GradientTape() as tape:
            tape.watch(p)
            q = activation(p) if activation else tf.identity(p)
            if mask is not None:
                q._keras_mask = tf.constant(mask)
            value = obj(tf.constant(y_true), q, weight)
        return [value, tape.gradient(value, p)]
    add("loss_" + name, compute)


class MeanOf(losses.Loss):
    def __init__(self, fn):
        super().__init__()
        self.call = lambda y, p: fn(y, p)


def add_losses():
    real = (wave((4, 3), 1), wave((4, 3), 2))
    positive = (shares((4, 3), 1), shares((4, 3), 2))
    labels = ids((4, 3), 2).astype(np.float32)
    binary, binary_logits = (labels, shares((4, 3), 2)), (labels, wave((4, 3), 2, 3.0))
    classes, class_logits = (hot((4,), 5), rows((4, 5), 2)), (hot((4,), 5), wave((4, 5), 2, 3.0))
    sparse, sparse_logits = (ids((4,), 5), rows((4, 5), 2)), (ids((4,), 5), wave((4, 5), 2, 3.0))
    weight, mask = shares((4,), 5), np.array([True, False, True, True])
    for name in ("mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "cosine_similarity",
                 "huber", "log_cosh", "categorical_hinge"):
        loss(name, name, *real)
        loss(name + "_weighted", name, *real, weight=weight)
        loss(name + "_masked", name, *real, mask=mask)
    for name in ("mean_squared_logarithmic_error", "kl_divergence", "poisson"):
        loss(name, name, *positive)
        loss(name + "_weighted", name, *positive, weight=weight)
    for name in ("hinge", "squared_hinge"):
        loss(name, name, *binary_logits)
        loss(name + "_signed", name, labels * 2 - 1, wave((4, 3), 2))
    for reduction in ("sum", "none", "mean", "mean_with_sample_weight"):
        mse = losses.MeanSquaredError(reduction=reduction)
        loss("mse_" + reduction, mse, *real)
        loss("mse_weighted_" + reduction, mse, *real, weight=weight)
        loss("mse_masked_" + reduction, mse, *real, weight=weight, mask=mask)
    mse = losses.MeanSquaredError()
    loss("mse_column", mse, wave((4,), 1), wave((4, 1), 2))
    loss("mse_values_weighted", mse, wave((4, 3, 2), 1), wave((4, 3, 2), 2), weight=shares((4, 3), 5))
    loss("cosine_axis", losses.CosineSimilarity(axis=0), *real)
    loss("huber_delta", losses.Huber(delta=0.3), *real)
    bce, cce, sce = losses.BinaryCrossentropy, losses.CategoricalCrossentropy, losses.SparseCategoricalCrossentropy
    loss("binary", bce(), *binary)
    loss("binary_logits", bce(from_logits=True), *binary_logits)
    loss("binary_smoothed", bce(label_smoothing=0.1), *binary, weight=weight)
    loss("binary_of_sigmoid", bce(), *binary_logits, activation=activations.sigmoid)
    focal = losses.BinaryFocalCrossentropy
    loss("binary_focal", focal(), *binary)
    loss("binary_focal_balanced", focal(apply_class_balancing=True, alpha=0.3, gamma=1.5, label_smoothing=0.1), *binary)
    loss("binary_focal_logits", focal(from_logits=True), *binary_logits)
    loss("categorical", cce(), *classes)
    loss("categorical_logits", cce(from_logits=True), *class_logits, weight=weight)
    loss("categorical_smoothed", cce(from_logits=True, label_smoothing=0.2), *class_logits)
    loss("categorical_axis", cce(from_logits=True, axis=1), hot((4, 2), 5).transpose(0, 2, 1), wave((4, 5, 2), 2))
    loss("categorical_of_softmax", cce(), *class_logits, activation=activations.softmax)
    focal = losses.CategoricalFocalCrossentropy
    loss("categorical_focal", focal(), *classes)
    loss("categorical_focal_logits", focal(alpha=0.5, gamma=1.0, from_logits=True, label_smoothing=0.1), *class_logits)
    loss("categorical_generalized", losses.CategoricalGeneralizedCrossEntropy(q=0.7), *sparse)
    loss("sparse", sce(), *sparse)
    loss("sparse_logits", sce(from_logits=True), *sparse_logits)
    loss("sparse_weighted", sce(from_logits=True), *sparse_logits, weight=weight)
    loss("sparse_column", sce(from_logits=True), ids((4, 1), 5), wave((4, 5), 2, 3.0))
    loss("sparse_steps", sce(from_logits=True), ids((4, 3), 5), wave((4, 3, 5), 2, 3.0), mask=ids((4, 3), 2) > 0)
    loss("sparse_ignore", sce(from_logits=True, ignore_class=2), *sparse_logits, weight=weight)
    loss("sparse_of_softmax", sce(), *sparse_logits, activation=activations.softmax)
    loss("dice", losses.Dice(), *binary)
    loss("dice_axis", losses.Dice(axis=1), *binary)
    loss("tversky", losses.Tversky(alpha=0.3, beta=0.7), *binary)
    loss("tversky_axis", losses.Tversky(axis=1), *binary)
    labels = np.array([[1, 1, 2, 3], [2, 4, 0, 0], [3, 1, 4, 2], [0, 0, 0, 0]], np.int32)
    for time in (12, 40):
        loss(f"ctc_{time}", losses.CTC(), labels, wave((4, time, 5), 2, 3.0))
        loss(f"ctc_{time}_weighted", losses.CTC(), labels, wave((4, time, 5), 3, 1.0), weight=weight)
    x = wave((6, 3), 2)
    loss("circle", losses.Circle(gamma=4.0), ids((6,), 2), x / np.sqrt((x * x).sum(1, keepdims=True)))


# ---- metrics --------------------------------------------------------------------------------------------------------

def metric(name, make, data, weight=None):
    weight = shares((4,), 5) if weight is None else weight

    def compute():
        m, results = make(), []
        for i in range(3):
            m.update_state(*data(i), *([weight] if i == 1 else []))
            results.append(np.array(m.result()))
        m.reset_state()
        m.update_state(*data(3))
        return results + [m.result()]
    add("metric_" + name, compute)


def add_metrics():
    def real(i): return wave((4, 3), i), wave((4, 3), i + 7)
    def positive(i): return shares((4, 3), i), shares((4, 3), i + 7)
    def binary(i): return ids((4, 3), 2, i).astype(np.float32), shares((4, 3), i + 7)
    def binary_logits(i): return ids((4, 3), 2, i).astype(np.float32), wave((4, 3), i, 2.0)
    def column(i): return ids((4,), 2, i), shares((4, 1), i + 7)
    def classes(i): return hot((4,), 5, i), rows((4, 5), i + 7)
    def sparse(i): return ids((4,), 5, i), rows((4, 5), i + 7)
    def numbers(i): return ids((4,), 3, i), ids((4,), 3, 2 * i + 1)

    def means():
        m = metrics.Mean()
        return [m(wave((4, 3), 1)), m(wave((4, 3), 2), shares((4,), 5)), m(wave((4, 3), 3), shares((4, 3), 5)), m(2.5)]

    def sums():
        m = metrics.Sum()
        return [m(wave((4, 3), 1)), m(wave((4, 3), 2), shares((4,), 5))]
    add("metric_mean", means)
    add("metric_sum", sums)
    kinds = {real: "MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError RootMeanSquaredError LogCoshError "
                   "CosineSimilarity CategoricalHinge PearsonCorrelation ConcordanceCorrelation R2Score",
             positive: "MeanSquaredLogarithmicError KLDivergence Poisson",
             binary: "Hinge SquaredHinge BinaryAccuracy BinaryCrossentropy TruePositives TrueNegatives FalsePositives "
                     "FalseNegatives Precision Recall AUC F1Score FBetaScore",
             numbers: "Accuracy", classes: "CategoricalAccuracy CategoricalCrossentropy",
             sparse: "SparseCategoricalAccuracy SparseCategoricalCrossentropy"}
    for data, names in kinds.items():
        for name in names.split():
            metric(name, getattr(metrics, name), data)
    for name in ("BinaryAccuracy", "Precision", "AUC"):
        metric(name + "_column", getattr(metrics, name), column)
    m = metrics
    metric("SparseCategoricalAccuracy_steps", m.SparseCategoricalAccuracy,
           lambda i: (ids((4, 3), 5, i), wave((4, 3, 5), i)))
    metric("TopKCategoricalAccuracy", lambda: m.TopKCategoricalAccuracy(k=2), classes)
    metric("SparseTopKCategoricalAccuracy", lambda: m.SparseTopKCategoricalAccuracy(k=3), sparse)
    metric("BinaryAccuracy_threshold", lambda: m.BinaryAccuracy(threshold=0.7), binary)
    metric("BinaryCrossentropy_logits", lambda: m.BinaryCrossentropy(from_logits=True, label_smoothing=0.1),
           binary_logits)
    metric("SparseCategoricalCrossentropy_ignore", lambda: m.SparseCategoricalCrossentropy(ignore_class=1), sparse)
    metric("R2Score_weighted_classes", lambda: m.R2Score(class_aggregation="variance_weighted_average"), real)
    metric("R2Score_adjusted", lambda: m.R2Score(class_aggregation=None, num_regressors=2), real)
    metric("TruePositives_thresholds", lambda: m.TruePositives(thresholds=[0.2, 0.8]), binary)
    metric("TrueNegatives_even", lambda: m.TrueNegatives(thresholds=[0.0, 0.25, 0.5, 0.75, 1.0]), binary)
    metric("Precision_top_k", lambda: m.Precision(top_k=2), classes)
    metric("Precision_class", lambda: m.Precision(thresholds=[0.2, 0.6], class_id=1), classes)
    metric("Recall_top_k_class", lambda: m.Recall(top_k=3, class_id=2), classes)
    metric("SensitivityAtSpecificity", lambda: m.SensitivityAtSpecificity(0.4), binary)
    metric("SpecificityAtSensitivity", lambda: m.SpecificityAtSensitivity(0.6, num_thresholds=20), binary)
    metric("PrecisionAtRecall", lambda: m.PrecisionAtRecall(0.5), binary)
    metric("RecallAtPrecision", lambda: m.RecallAtPrecision(0.5, num_thresholds=1), binary)
    for curve in ("ROC", "PR", "PRGAIN"):
        for method in ("interpolation", "minoring", "majoring"):
            metric(f"AUC_{curve}_{method}", lambda curve=curve, method=method: m.AUC(
                num_thresholds=30, curve=curve, summation_method=method), binary)
    metric("AUC_thresholds", lambda: m.AUC(thresholds=[0.1, 0.3, 0.6]), binary)
    metric("AUC_labels", lambda: m.AUC(multi_label=True, label_weights=[0.2, 0.3, 0.5]), binary)
    metric("AUC_labels_thresholds", lambda: m.AUC(thresholds=[0.1, 0.3, 0.6], multi_label=True, num_labels=3), binary)
    metric("AUC_logits", lambda: m.AUC(label_weights=[0.2, 0.3, 0.5], from_logits=True), binary_logits)
    for average in ("micro", "macro", "weighted"):
        metric("FBetaScore_" + average, lambda average=average: m.FBetaScore(average=average, beta=2.0, threshold=0.4),
               binary)
    metric("F1Score_macro", lambda: m.F1Score(average="macro"), classes)
    whole = ids((4,), 3, 1)
    metric("IoU", lambda: m.IoU(3, [0, 2]), numbers, whole)
    metric("IoU_ignore", lambda: m.IoU(3, [0, 1], ignore_class=2), numbers, whole)
    metric("MeanIoU", lambda: m.MeanIoU(3), numbers, whole)
    metric("MeanIoU_scores", lambda: m.MeanIoU(5, sparse_y_pred=False), sparse, whole)
    metric("OneHotIoU", lambda: m.OneHotIoU(5, [0, 1, 4]), classes, whole)
    metric("OneHotMeanIoU", lambda: m.OneHotMeanIoU(5), classes, whole)
    metric("BinaryIoU", lambda: m.BinaryIoU(target_class_ids=[0], threshold=0.3),
           lambda i: (ids((4,), 2, i), shares((4,), i)), whole)
    add("metric_confusion_matrix", lambda: [
        tf.math.confusion_matrix(ids((9,), 4), ids((9,), 4, 2), 4),
        tf.math.confusion_matrix(ids((9,), 4), ids((9,), 4, 2), 4, weights=shares((9,), 1), dtype=tf.float32)])


# ---- optimizers, schedules ------------------------------------------------------------------------------------------

def optimizer(name, make, dense=False, distinct=False):
    def compute():
        o = make()
        a, b, c = (keras.Variable(wave(shape, i), name=n) for n, shape, i in
                   (("a", (4, 3), 1), ("b", (3,), 2), ("c", (5, 2), 3)))
        out = []
        for i in range(1, 101):
            # Keras fails where it joins slices with rows that are named twice.
            indices = [i % 5, (i + 1) % 5, (i + 2) % 5, (i + 3) % 5] if distinct else [i % 5, 3, 2 * i % 5, 3]
            slices = tf.IndexedSlices(tf.constant(wave((4, 2), 3 * i, 1.0)), tf.constant(indices), tf.constant([5, 2]))
            if dense:  # where Keras takes no slices
                slices = tf.convert_to_tensor(slices)
            o.apply_gradients([(tf.constant(wave((4, 3), i, 1.0)), a), (tf.constant(wave((3,), 2 * i, 1.0)), b),
                               (slices, c)])
            if i in (1, 10, 100):
                out += [np.array(v) for v in (a, b, c)]
        return out + [o.iterations]
    # Rounding of 1 - beta in the fused steps: a few parts in 100,000 of a step.
    add("optimizer_" + name, compute, 2e-5, 1e-5)


def add_optimizers():
    o = optimizers
    optimizer("sgd", lambda: o.SGD())
    optimizer("sgd_momentum", lambda: o.SGD(0.02, momentum=0.9))
    optimizer("sgd_nesterov", lambda: o.SGD(momentum=0.8, nesterov=True, weight_decay=0.01))
    optimizer("adam", lambda: o.Adam(0.01))
    optimizer("adam_amsgrad", lambda: o.Adam(0.01, amsgrad=True))
    optimizer("adam_decayed", lambda: o.Adam(0.01, beta_1=0.8, weight_decay=0.1))
    optimizer("adamw", lambda: o.AdamW(0.01))
    optimizer("adamax", lambda: o.Adamax(0.01))
    optimizer("nadam", lambda: o.Nadam(0.01))
    optimizer("rmsprop", lambda: o.RMSprop(0.01))
    optimizer("rmsprop_momentum", lambda: o.RMSprop(0.01, momentum=0.5))
    optimizer("rmsprop_centered", lambda: o.RMSprop(0.01, centered=True), distinct=True)
    optimizer("rmsprop_centered_momentum", lambda: o.RMSprop(0.01, momentum=0.5, centered=True),
              distinct=True)
    optimizer("adagrad", lambda: o.Adagrad(0.1))
    optimizer("adadelta", lambda: o.Adadelta(1.0))
    optimizer("ftrl", lambda: o.Ftrl(0.1))
    optimizer("ftrl_regularized", lambda: o.Ftrl(
        0.1, learning_rate_power=-0.4, l1_regularization_strength=0.05, l2_regularization_strength=0.1,
        l2_shrinkage_regularization_strength=0.02, beta=0.3))
    optimizer("lion", lambda: o.Lion(0.01))
    optimizer("clipnorm", lambda: o.Adam(0.01, clipnorm=0.5))
    optimizer("clipvalue", lambda: o.SGD(clipvalue=0.2))
    optimizer("global_clipnorm", lambda: o.SGD(momentum=0.9, global_clipnorm=0.7))
    optimizer("ema", lambda: o.SGD(use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3))
    optimizer("accumulated", lambda: o.Adam(0.01, gradient_accumulation_steps=4))
    optimizer("loss_scale_factor", lambda: o.SGD(loss_scale_factor=8.0), dense=True)
    optimizer("loss_scale", lambda: o.LossScaleOptimizer(o.SGD(0.5), initial_scale=16.0, dynamic_growth_steps=20))
    optimizer("scheduled", lambda: o.Adam(o.schedules.ExponentialDecay(0.05, 10, 0.9)))


def schedule(name, f):
    add("schedule_" + name, lambda: [f(tf.constant(step, tf.int64)) for step in
                                     (0, 1, 5, 9, 10, 11, 20, 37, 50, 99, 100, 101, 250)])


def add_schedules():
    s = optimizers.schedules
    schedule("exponential", s.ExponentialDecay(0.1, 10, 0.9))
    schedule("exponential_staircase", s.ExponentialDecay(0.1, 10, 0.9, True))
    schedule("inverse_time", s.InverseTimeDecay(0.1, 10, 0.5))
    schedule("inverse_time_staircase", s.InverseTimeDecay(0.1, 10, 0.5, True))
    schedule("piecewise", s.PiecewiseConstantDecay([10, 50, 100], [1.0, 0.5, 0.25, 0.125]))
    schedule("polynomial", s.PolynomialDecay(0.1, 100, 0.01, 0.5))
    schedule("polynomial_cycle", s.PolynomialDecay(0.1, 40, power=2.0, cycle=True))
    schedule("cosine", s.CosineDecay(0.1, 100, 0.1))
    schedule("cosine_warmup", s.CosineDecay(0.0, 90, warmup_target=0.1, warmup_steps=10))
    schedule("cosine_restarts", s.CosineDecayRestarts(0.1, 20, m_mul=0.8, alpha=0.05))
    schedule("cosine_restarts_equal", s.CosineDecayRestarts(0.1, 20, t_mul=1.0))


# ---- small parts ----------------------------------------------------------------------------------------------------

def add_initializers():
    i = initializers
    for name, f, shape in (
            ("zeros", i.Zeros(), (2, 3)), ("ones", i.Ones(), (2, 3)), ("constant", i.Constant(0.3), (2, 3)),
            ("identity", i.Identity(0.5), (3, 4)), ("random_normal", i.RandomNormal(0.1, 0.2, seed=7), (5, 7)),
            ("random_uniform", i.RandomUniform(seed=7), (5, 7)),
            ("truncated_normal", i.TruncatedNormal(seed=7), (5, 7)),
            ("glorot_uniform", i.GlorotUniform(seed=7), (3, 3, 4, 5)),
            ("glorot_normal", i.GlorotNormal(seed=7), (5, 7)), ("he_uniform", i.HeUniform(seed=7), (5, 7)),
            ("he_normal", i.HeNormal(seed=3000000000), (5, 7)), ("lecun_uniform", i.LecunUniform(seed=7), (11,)),
            ("lecun_normal", i.LecunNormal(seed=7), (5, 7)),
            ("variance_scaling", i.VarianceScaling(0.5, "fan_out", "untruncated_normal", seed=7), (5, 7)),
            ("variance_scaling_axes", i.VarianceScaling(seed=7, input_axes=[0], output_axes=[1, 2]), (5, 3, 2)),
            ("orthogonal", i.Orthogonal(2.0, seed=7), (4, 6))):
        add("initializer_" + name, lambda f=f, shape=shape: [f(shape)], *((1e-4, 1e-5) if name == "orthogonal" else ()))


def activation(name, f):
    def compute():
        x = tf.constant(wave((3, 6), 1, 4.0))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            total = tf.reduce_sum(y * wave(y.shape, 5))
        return [y, tape.gradient(total, x)]
    add("activation_" + name, compute)


def add_activations():
    a = activations
    for name in ("linear relu leaky_relu relu6 softmax log_softmax sparsemax elu selu celu softplus softsign squareplus "
                 "soft_shrink hard_shrink sparse_plus silu swish gelu glu tanh tanh_shrink hard_tanh sigmoid "
                 "sparse_sigmoid hard_sigmoid hard_silu hard_swish exponential mish log_sigmoid").split():
        activation(name, a.get(name))
    activation("relu_slope", lambda x: a.relu(x, negative_slope=0.1))
    activation("relu_all", lambda x: a.relu(x, negative_slope=0.1, max_value=2.0, threshold=0.5))
    activation("relu_six", lambda x: a.relu(x, max_value=6.0))
    activation("elu_alpha", lambda x: a.elu(x, 0.5))
    activation("celu_alpha", lambda x: a.celu(x, 0.5))
    activation("gelu_approximate", lambda x: a.gelu(x, approximate=True))
    activation("threshold", lambda x: a.threshold(x, 0.5, -2.0))
    activation("softmax_axis", lambda x: a.softmax(x, axis=0))
    w, r, c = tf.constant(wave((4, 3), 1, 2.0)), regularizers, constraints
    for name, f in (("l1", r.L1()), ("l2", r.L2()), ("l1_l2", r.L1L2(0.1, 0.2)),
                    ("orthogonal", r.OrthogonalRegularizer()),
                    ("orthogonal_columns", r.OrthogonalRegularizer(0.1, "columns"))):
        add("regularizer_" + name, lambda f=f: [f(w)])
    for name, f in (("max_norm", c.MaxNorm()), ("max_norm_axis", c.MaxNorm(1.0, axis=1)), ("non_neg", c.NonNeg()),
                    ("unit_norm", c.UnitNorm()), ("min_max_norm", c.MinMaxNorm(1.0, 1.5, 0.5))):
        add("constraint_" + name, lambda f=f: [f(w)])


def main():
    build, word = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    add_losses()
    add_metrics()
    add_optimizers()
    add_schedules()
    add_initializers()
    add_activations()
    wanted = {name: case for name, case in CASES.items() if word in name}
    text = subprocess.run([build / "tests" / "keras_training", word], check=True, capture_output=True, text=True).stdout
    ours = dict(line.split(" ", 1) if " " in line else (line, "") for line in text.splitlines())
    bad = [f"{name}: only one side has it" for name in sorted(ours.keys() ^ wanted.keys())]
    for name in sorted(ours.keys() & wanted.keys()):
        if "error:" in ours[name]:
            bad.append(f"{name}: {ours[name]}")
            continue
        compute, rtol, atol = wanted[name]
        got = np.array(ours[name].split(), np.float64)
        try:
            want = np.concatenate([np.asarray(keras.ops.convert_to_numpy(t), np.float64).ravel() for t in compute()])
        except Exception as e:  # noqa: BLE001: what Keras cannot do is a finding of its own
            bad.append(f"{name}: Keras fails: {type(e).__name__} {str(e)[:200]}")
            continue
        if got.shape != want.shape:
            bad.append(f"{name}: {got.size} numbers, Keras has {want.size}")
        elif not np.allclose(got, want, rtol, atol, equal_nan=True):
            error = np.abs(got - want)
            at = int(np.nanargmax(error / (atol + rtol * np.abs(want)))) if np.isfinite(error).any() else 0
            bad.append(f"{name}: number {at} is {got[at]:.9g}, Keras has {want[at]:.9g}")
    for line in bad:
        print(line)
    print(f"keras training: {len(wanted) - len(bad)} of {len(wanted)} cases agree")
    sys.exit(bool(bad))


main()
