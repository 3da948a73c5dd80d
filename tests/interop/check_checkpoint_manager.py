"""CheckpointManager beside TensorFlow's, in folders that both use: what is kept and deleted, the file `checkpoint`, and how
one goes on where the other was.

    check_checkpoint_manager.py BUILD_FOLDER    (with a Python that has TensorFlow)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

tf.get_logger().setLevel("ERROR")
program = pathlib.Path(sys.argv[1]) / "tests" / "checkpoints"
root = pathlib.Path(tempfile.mkdtemp())


def ours(run, saves, keep=0, hours=0.0, interval=0, asynchronous=False):
    """Resumes in the folder, counts v up before each save; the values of v behind the restore and at the end."""
    done = subprocess.run([program, "manager", run, str(saves), str(keep), str(hours), str(interval), str(int(asynchronous))],
                          capture_output=True, text=True)
    check(f"manager in {run.name}", done.returncode == 0 and not done.stderr, done.stderr[-1500:])
    return [float(x) for x in done.stdout.split()]


def theirs(run, saves, keep=0, hours=0.0, interval=0, asynchronous=False):
    v, step = tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v, step=step), str(run), keep or None, hours or None,
                                         step_counter=step, checkpoint_interval=interval or None)
    manager.restore_or_initialize()
    begin = float(v)
    for _ in range(saves):
        v.assign_add(1.0)
        step.assign_add(1)
        manager.save()
    return [begin, float(v)]


def state(run):
    s = tf.train.get_checkpoint_state(str(run))
    return None if s is None else (pathlib.Path(s.model_checkpoint_path).name, [pathlib.Path(p).name for p in s.all_model_checkpoint_paths])


def files(run): return sorted(p.name for p in run.iterdir())


def form(run): return re.sub(r"\d+\.\d+(e\+?\d+)?", "TIME", (run / "checkpoint").read_text())


def same(what, a, b):
    check(f"{what}: files", files(a) == files(b), f"{files(a)} for {files(b)}")
    check(f"{what}: state", state(a) == state(b), f"{state(a)} for {state(b)}")
    check(f"{what}: text", form(a) == form(b), f"{form(a)} for {form(b)}")
    check(f"{what}: latest", pathlib.Path(tf.train.latest_checkpoint(str(a))).name == pathlib.Path(tf.train.latest_checkpoint(str(b))).name)


# ---- the same saves on both sides, alone and one behind the other
SIDES = {"ours": ours, "theirs": theirs}
for options in [dict(), dict(keep=2), dict(keep=1, hours=1.0), dict(keep=3, interval=2), dict(keep=2, asynchronous=True)]:
    name = "_".join(f"{k}{v}" for k, v in options.items()) or "all"
    for turns in [["ours"], ["ours", "theirs"], ["theirs", "ours"], ["ours", "theirs", "ours", "ours"]]:
        run, alone = root / f"{name}_{'_'.join(turns)}", root / f"{name}_{'_'.join(turns)}_alone"
        for number, side in enumerate(turns):
            got, want = SIDES[side](run, 3, **options), theirs(alone, 3, **options)
            check(f"{run.name} {number}: values", got == want, f"{got} for {want}")
        same(run.name, run, alone)


# ---- what has become old: the times of the file are put back, and each side goes on in a copy
def aged(run, hours, preserved):
    """Checkpoints are so many hours old, the last one that stayed `preserved` hours."""
    now, text = time.time(), (run / "checkpoint").read_text()
    lines = [line for line in text.splitlines() if "timestamp" not in line]
    lines += [f"all_model_checkpoint_timestamps: {now - 3600 * h}" for h in hours] + [f"last_preserved_timestamp: {now - 3600 * preserved}"]
    (run / "checkpoint").write_text("\n".join(lines) + "\n")


for number, (hours, preserved, keep, every) in enumerate([([5, 4, 3], 6, 1, 0.5), ([5, 4, 3], 6, 1, 1.5), ([5, 4, 3], 4.5, 2, 1.0),
                                                          ([5, 4, 3], 6, 5, 1.0), ([-1, -2, -3], 2, 2, 1.0), ([3, 2, 1], -5, 2, 1.0)]):
    begin = root / f"aged{number}"
    theirs(begin, 3)
    aged(begin, hours, preserved)
    copies = {side: root / f"aged{number}_{side}" for side in SIDES}
    for side, f in SIDES.items():
        shutil.copytree(begin, copies[side])
        f(copies[side], 1, keep=keep, hours=every)
    same(f"aged {number}", copies["ours"], copies["theirs"])

# ---- the list of a checkpoint that no manager saved
for side, other in [("ours", "theirs"), ("theirs", "ours")]:
    run = root / f"plain_{side}"
    if side == "theirs": tf.train.Checkpoint(v=tf.Variable(5.0), step=tf.Variable(7, dtype=tf.int64)).save(str(run / "ckpt"))
    else: subprocess.run([program, "plain", run / "ckpt"], check=True)
    got = SIDES[other](run, 1, keep=1)
    check(f"plain {side}", got == [5.0, 6.0] and state(run) == ("ckpt-2", ["ckpt-2"]) and "ckpt-1.index" in files(run), f"{got} {state(run)} {files(run)}")

# A folder that has moved: paths in the file are relative.
shutil.move(root / "keep2_ours", root / "moved")
check("moved", theirs(root / "moved", 1, keep=2)[0] == 3.0)
shutil.rmtree(root)
print("\n".join(failed))
print(f"checkpoint managers: {tally.count - len(failed)} checks agree, {len(failed)} differ")
sys.exit(bool(failed))
