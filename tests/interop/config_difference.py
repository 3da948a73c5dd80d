"""Configs of Keras objects, as JSON: what makes two of them the same."""


def empty(c):
    """Nothing, also in lists and dictionaries."""
    return c is None or isinstance(c, list) and all(map(empty, c)) or isinstance(c, dict) and all(map(empty, c.values()))


def plain(c):
    """Without what belongs to one process, ids of shared objects, and arguments of calls that say nothing."""
    if isinstance(c, dict):
        c = {k: plain(v) for k, v in c.items() if k not in ("shared_object_id", "date_saved")}
        if isinstance(c.get("kwargs"), dict): c["kwargs"] = {k: v for k, v in c["kwargs"].items() if not empty(v)}
        return c
    if isinstance(c, (list, tuple)): return [plain(v) for v in c]
    return c


def difference(ours, theirs, path=""):
    """The first one, or nothing."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for k in list(theirs) + [k for k in ours if k not in theirs]:
            if k not in ours: return f"{path}.{k} is missing: {theirs[k]}"
            if k not in theirs: return f"{path}.{k} is too much: {ours[k]}"
            if d := difference(ours[k], theirs[k], f"{path}.{k}"): return d
        return ""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return next((d for i, (a, b) in enumerate(zip(ours, theirs)) if (d := difference(a, b, f"{path}[{i}]"))), "")
    same = ours == theirs and isinstance(ours, bool) == isinstance(theirs, bool)
    return "" if same else f"{path}: {ours!r} for {theirs!r}"
