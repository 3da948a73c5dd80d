"""The largest batch whose training step stays inside a number of MiB, beyond what the import takes. Every batch runs in a process of its own, because resident memory does not shrink."""
import json, subprocess, sys


def search(script, once, limit_mib, first=8):
    """`script once:BATCH` prints one JSON line with over_import_MiB and ms. Gives (batch, its line)."""
    seen = {}

    def fits(batch):
        done = subprocess.run([sys.executable, script, f"{once}:{batch}"], capture_output=True, text=True)
        found = [json.loads(x) for x in done.stdout.splitlines() if "over_import_MiB" in x]
        seen[batch] = found[-1] if found else None
        return bool(found) and found[-1]["over_import_MiB"] <= limit_mib

    most = first
    while most > 1 and not fits(most):
        most //= 2
    while most >= first and fits(2 * most):
        most *= 2
    step = most // 2
    while step >= max(1, most // 16):
        if fits(most + step):
            most += step
        step //= 2
    if most not in seen:
        fits(most)
    return most, seen[most]
