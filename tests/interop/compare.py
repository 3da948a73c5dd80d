"""Compares two results under a case's tolerance. The same formula stands in tests/support/compare.cc."""
import numpy as np

from wire import name_of

# 16-bit types are computed in float and rounded once, so they get a quarter of their own epsilon.
EPS = {"float16": 2.0**-12, "bfloat16": 2.0**-9, "float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23,
       "complex128": 2.0**-52}


def tensor_error(want, got, tol, factor=1.0, absolute=False):
    """None if equal under the tolerance, else (text, size of the error as a multiple of what is allowed)."""
    if (want is None) != (got is None):
        return (f"want {'none' if want is None else 'a tensor'}, got {'none' if got is None else 'a tensor'}", np.inf)
    if want is None: return None
    if name_of(want) != name_of(got): return (f"dtype {name_of(got)}, want {name_of(want)}", np.inf)
    if want.shape != got.shape: return (f"shape {list(got.shape)}, want {list(want.shape)}", np.inf)
    dtype = name_of(want)
    if dtype not in EPS:
        bad = np.argwhere(np.asarray(want != got).reshape(want.shape))
        if not len(bad): return None
        k = tuple(bad[0])
        return (f"{len(bad)} of {want.size} differ, at {list(map(int, k))}: {got[k]!r}, want {want[k]!r}", np.inf)
    parts = [(want.real, got.real), (want.imag, got.imag)] if np.iscomplexobj(want) else [(want, got)]
    worst = None
    for a, g in parts:
        a, g = a.astype(np.float64), g.astype(np.float64)
        if absolute: a, g = np.abs(a), np.abs(g)
        bad = np.isnan(a) != np.isnan(g)
        finite = np.isfinite(a) & np.isfinite(g)
        bad |= ~finite & ~np.isnan(a) & (a != g)
        if bad.any():
            k = tuple(np.argwhere(bad)[0])
            return (f"at {list(map(int, k))}: {g[k]:.9g}, want {a[k]:.9g}", np.inf)
        scale = np.max(np.abs(a), where=finite, initial=0)
        if not tol.scaled: scale = min(1.0, scale)
        with np.errstate(invalid="ignore"):
            allowed = factor * ((tol.ulp * EPS[dtype] + tol.rtol) * np.abs(a) + tol.abs_ulp * EPS[dtype] * scale + tol.atol)
            over = np.where(finite, np.abs(a - g) / np.maximum(allowed, 1e-300), 0)
        if over.size and over.max() > 1 and (worst is None or over.max() > worst[1]):
            k = np.unravel_index(over.argmax(), over.shape)
            error = abs(a[k] - g[k])
            ulps = f" = {error / abs(a[k]) / EPS[dtype]:.0f} ulp" if a[k] else ""
            worst = (f"at {list(map(int, k))}: {g[k]:.9g}, want {a[k]:.9g}, error {error:.3g}{ulps}, "
                     f"{over.max():.3g} times what is allowed", float(over.max()))
    return worst


def differences(c, want, got):
    """Texts of all that differs between TensorFlow's result and Rewind's."""
    if want.error is not None:
        return [] if got.error is not None else [f"TensorFlow raises {want.error} ({want.message[:90]}), Rewind does not"]
    if got.error is not None: return [f"raises {got.error}: {got.message[:160]}"]
    if len(want.outputs) != len(got.outputs): return [f"{len(got.outputs)} outputs, want {len(want.outputs)}"]
    found = []
    checks = [c.check] * len(want.outputs) if isinstance(c.check, str) else list(c.check)
    checks += ["values"] * (len(want.outputs) - len(checks))
    for k, (a, g, check) in enumerate(zip(want.outputs, got.outputs, checks)):
        if check == "shape":
            if a is not None and (g is None or a.shape != g.shape or name_of(a) != name_of(g)):
                found.append(f"output {k}: another shape or dtype")
            continue
        e = tensor_error(a, g, c.tol, absolute=check == "abs")
        if e: found.append(f"output {k} {e[0]}")
    if len(want.grads) != len(got.grads):
        found.append(f"{len(got.grads)} gradients, want {len(want.grads)}")
    else:
        for k, (a, g) in enumerate(zip(want.grads, got.grads)):
            e = tensor_error(a, g, c.tol, factor=c.tol.grad)
            if e: found.append(f"gradient {k} {e[0]}")
    return found
