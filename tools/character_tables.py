"""Tables of characters as C++ arrays."""


def runs_of_distances(pairs):
    """(first, last, step, distance) of the characters of (character, distance), which are in order."""
    runs, i = [], 0
    while i < len(pairs):
        j, step = i, None
        while j + 1 < len(pairs) and pairs[j + 1][1] == pairs[i][1]:
            gap = pairs[j + 1][0] - pairs[j][0]
            if gap > 2 or gap != (step or gap): break
            step, j = gap, j + 1
        runs.append((pairs[i][0], pairs[j][0], step or 1, pairs[i][1]))
        i = j + 1
    return runs


def table(kind, name, items, per_line):
    lines = "".join("    " + " ".join(items[i:i + per_line]) + "\n" for i in range(0, len(items), per_line))
    return f"constexpr {kind} {name}[] = {{\n{lines}}};\n"
