"""The models of check_saved_model.py. Each makes a SavedModel in a folder and returns the calls to compare:
dict(signature=NAME, inputs={...}) or dict(function=PATH, args=[...], kwargs={...}); gradients=1 or 2 compares
those of the first or second order with respect to the trainable variables. may_miss=[OP, ...] lists ops that Rewind may
not have yet: then loading and the call must name them."""
from saved_models import applications, functions, graph_programs, keras_models, layer_models, programs, text, training  # noqa: F401
from saved_models.registry import MODELS  # noqa: F401
from saved_models.text import WITH_TABLES  # noqa: F401
