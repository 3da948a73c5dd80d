"""The checks of one script: how many there were, and which failed."""
failed = []
count = 0


def check(what, ok, why=""):
    global count
    count += 1
    if not ok: failed.append(f"{what}: {why}" if why else what)
