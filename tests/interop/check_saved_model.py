"""SavedModels of TensorFlow 2 and Keras 3, run by Rewind without any code: results, gradients, and what the calls
leave in the variables, against TensorFlow.

    check_saved_model.py BUILD_FOLDER [--full] [NAME...]     (with a Python that has TensorFlow and safetensors)
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402

import saved_models  # noqa: E402

program = pathlib.Path(sys.argv[1]) / "tests" / "saved_model_run"
full = "--full" in sys.argv
only = [a for a in sys.argv[2:] if not a.startswith("--")]


def is_text(value):
    return np.asarray(value).dtype.kind in "OSU"


def put(arrays, name, value):
    """Safetensors has no strings: their sizes and all their bytes."""
    if not is_text(value):
        arrays[name] = np.array(value, order="C")
        return
    texts = [x if isinstance(x, bytes) else str(x).encode() for x in np.ravel(value)]
    arrays[name + "#sizes"] = np.array([len(x) for x in texts], np.int64).reshape(np.shape(value))
    arrays[name + "#bytes"] = np.frombuffer(b"".join(texts) + b"\0", np.uint8)


def word(value, tensors):
    if isinstance(value, dict): return "{ " + " ".join(f"{k} {word(value[k], tensors)}" for k in value) + " }"
    if isinstance(value, (np.ndarray, np.generic)):
        tensors.append(np.array(value, order="C"))
        return "strings" if is_text(value) else "t"
    if value is None or isinstance(value, bool): return str(value)
    if isinstance(value, int): return f"i:{value}"
    if isinstance(value, float): return f"f:{value}"
    if isinstance(value, str): return f"s:{value}"
    inside = " ".join(word(v, tensors) for v in value)
    return f"[ {inside} ]" if isinstance(value, list) else f"( {inside} )"


def to_tensors(value):
    if isinstance(value, (np.ndarray, np.generic)): return tf.constant(value)
    if isinstance(value, dict): return {k: to_tensors(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)): return type(value)(map(to_tensors, value))
    return value


def plan(calls):
    lines, arrays = [], {}
    for number, call in enumerate(calls):
        order = "?" * ("may_miss" in call) + "+" * call.get("gradients", 0)
        if "signature" in call:
            lines.append(f"{order}signature {call['signature']}")
            for name, value in call["inputs"].items(): put(arrays, f"{number}/{name}", value)
            continue
        tensors = []
        words = [word(v, tensors) for v in call.get("args", [])]
        words += [f"{name}={word(v, tensors)}" for name, v in call.get("kwargs", {}).items()]
        lines.append(" ".join([f"{order}function {call['function']}", *words]))
        for i, t in enumerate(tensors): put(arrays, f"{number}/a{i}", t)
    arrays["unused"] = np.zeros(1)
    return "\n".join(lines) + "\n", arrays


def at_path(loaded, path):
    if hasattr(loaded, "graph"):  # TensorFlow 1's, by their names
        return next(v for v in loaded.variables if v.name == path + ":0")
    if hasattr(loaded, path): return getattr(loaded, path)
    for part in path.split("/"):
        if isinstance(loaded, (list, tuple)) or (part.isdigit() and not hasattr(loaded, part)):
            loaded = loaded[int(part)]
        else:
            loaded = loaded[part] if isinstance(loaded, dict) else getattr(loaded, part)
    return loaded


def loss_of(results):
    loss = 0.0
    for t in results:
        if t.dtype == tf.float32:
            x = tf.reshape(t, [-1])
            loss += tf.reduce_sum(x * tf.cos(tf.cast(tf.range(tf.size(x)), tf.float32)))
    return loss


def expected(folder, calls, found):
    """What TensorFlow gives for everything that Rewind gave."""
    loaded = tf.saved_model.load(folder)
    results = {}
    for number, call in enumerate(calls):
        if f"{number}/missing" in found: continue
        if "signature" in call:
            f = loaded.signatures[call["signature"]]
            run = lambda: f(**{k: tf.constant(v) for k, v in call["inputs"].items()})
        else:
            f = loaded
            for part in call["function"].split("."): f = getattr(f, part)
            run = lambda: f(*map(to_tensors, call.get("args", [])),
                            **{k: to_tensors(v) for k, v in call.get("kwargs", {}).items()})
        names = [k for k in found if k.startswith(f"{number}/grad/")]
        variables = [at_path(loaded, k.split("/", 2)[2]) for k in names]
        order = call.get("gradients", 0)
        with tf.GradientTape() if order == 2 else contextlib.nullcontext() as outer:
            with tf.GradientTape() if order else contextlib.nullcontext() as tape:
                out = [t for t in tf.nest.flatten(run()) if t is not None]
                loss = loss_of(out)
            if order:
                gradients = tape.gradient(loss, variables) if variables else []
                if order == 2: total = sum(tf.reduce_sum(g ** 2) for g in gradients if g is not None)
        if order == 2: gradients = outer.gradient(total, variables)
        for i, t in enumerate(out):
            put(results, f"{number}/out/{i}", t.numpy())
        if order:
            for k, g in zip(names, gradients):
                results[k] = None if g is None else tf.convert_to_tensor(g).numpy()
    for k in found:
        if k.startswith("final/"): results[k] = at_path(loaded, k.split("/", 1)[1]).numpy()
    return results


def difference(want, got, tolerance):
    if want is None: return "no gradient in TensorFlow" if np.any(got) else ""
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{want.dtype}{want.shape} became {got.dtype}{got.shape}"
    if want.dtype.kind not in "fc":
        return "" if np.array_equal(want, got) else f"{want.ravel()[:5]} became {got.ravel()[:5]}"
    scale = np.max(np.abs(want), initial=0)
    worst = np.max(np.abs(want.astype(np.float64) - got), initial=0)
    if np.array_equal(np.isfinite(want), np.isfinite(got)) and not np.isfinite(scale): return ""
    return "" if worst <= tolerance * scale + 1e-6 else f"differs by {worst:.3g} of {scale:.3g}"


def check(model, folder):
    tf.random.set_seed(1)
    keras.utils.set_random_seed(1)
    calls = model.make(folder)
    text, arrays = plan(calls)
    (pathlib.Path(folder) / "plan").write_text(text)
    save_file(arrays, folder + "/in")
    again = [] if model.name in saved_models.WITH_TABLES else [folder + "/again"]
    run = subprocess.run([program, folder, folder + "/plan", folder + "/in", folder + "/out", *again], capture_output=True, text=True)
    if run.returncode: return 0, [f"ended with {run.returncode}: {run.stderr[-1500:]}"]
    found = load_file(folder + "/out")
    problems = unnamed(folder, calls, found, run.stderr)
    problems += compare(model, calls, expected(folder, calls, found), found)
    if (only or full) and os.path.exists(folder + "/again"):  # what Rewind loaded and saved, loaded by TensorFlow
        problems += ["saved again: " + p for p in compare(model, calls, expected(folder + "/again", calls, found), found)]
    return len(found), problems


def unnamed(folder, calls, found, loading):
    """Ops that are missing, and that the call or the loading do not name in their messages."""
    problems = []
    for number, call in enumerate(calls):
        if f"{number}/missing" not in found: continue
        message = found[f"{number}/missing"].tobytes().decode()
        for op in call["may_miss"]:
            if op not in loading: problems.append(f"loading does not name {op}: {loading}")
        what = f"signature {call['signature']}" if "signature" in call else f"function {call['function']}"
        if not message.startswith(f"[{what} of {folder}]") or not any(op in message for op in call["may_miss"]):
            problems.append(f"the call does not say what is missing: {message}")
    return problems


def compare(model, calls, want, found):
    problems = [f"{k} is missing" for k in want if k not in found]
    gradients = sum("/grad/" in k for k in found)
    missing = any(k.endswith("/missing") for k in found)
    if any(c.get("gradients") for c in calls) and not gradients and not missing: problems.append("no gradients at all")
    for k in sorted(found):
        if k.endswith("/missing"): continue
        if k not in want: problems.append(f"{k} is too much")
        elif d := difference(want[k], found[k], model.tolerance * (10 if "/grad/" in k else 1)):
            problems.append(f"{k} {d}")
    return problems


failed = values = count = 0
for model in saved_models.MODELS:
    if (only and model.name not in only) or not (only or full or model.short): continue
    folder = tempfile.mkdtemp()
    try:
        number, problems = check(model, folder)
    except Exception as e:  # TensorFlow refuses a model of ours
        number, problems = 0, [f"{type(e).__name__}: {e}"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        keras.backend.clear_session()
    count += 1
    values += number
    failed += bool(problems)
    for p in problems[:5]: print(f"{model.name}: {p}")
    if len(problems) > 5: print(f"{model.name}: and {len(problems) - 5} more")
    if only or full: print(f"{model.name}: {number} values, {len(problems)} differ", flush=True)
print(f"SavedModels: {count - failed} of {count} models agree, {values} values compared")
sys.exit(bool(failed))
