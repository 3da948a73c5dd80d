"""Keras applications of up to 60 MB, by model.export."""
import keras

from saved_models.registry import MODELS, Model, floats


def application(name, short=False, size=96, tolerance=1e-3):
    def make(folder):
        m = getattr(keras.applications, name)(weights=None, classifier_activation=None, classes=20,
                                              input_shape=(size, size, 3))
        m.export(folder, verbose=False)
        x = floats(2, size, size, 3)
        key = m.inputs[0].name
        return [dict(signature="serving_default", inputs={key: x}), dict(function="serve", args=[x], gradients=1)]
    MODELS.append(Model(name, make, short, tolerance))


# Up to 60 MB of weights.
application("MobileNetV2", short=True)
application("EfficientNetB0", short=True)
for other in ("MobileNet MobileNetV3Small MobileNetV3Large DenseNet121 DenseNet169 NASNetMobile EfficientNetB1 "
              "EfficientNetB2 EfficientNetB3 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 "
              "EfficientNetV2B3").split():
    application(other, size=224 if other == "NASNetMobile" else 96)
application("ResNet50")
application("Xception")
