#!/usr/bin/env python3
"""Writes small functions in plain C++: constructs in each other, in functions, lambdas, methods and templates. Prints
the names of the files.

usage: make_cases.py FOLDER [--all]     (FOLDER/cases_<n>.cc; every pair in every place, or each second pair in one)"""
import pathlib
import sys

# A construct around BODY, on tensors x and y. N makes its own variables unique.
CONSTRUCTS = {
    "if": "if (x > 0.5) { BODY }",
    "if_else": "if (y > x) { BODY } else { y = y + 0.25; }",
    "host_arms": "if ((y > 1.0 ? 5 : 3) <= 4) { BODY } x = x + 0.25;",
    "else_if": "if (x > 6.0) y = y - 1.0; else if (x > 1.0) { BODY } else x = x + 0.5;",
    "if_init": "if (Tensor cN = x - y; cN > 0.25) { y = y + cN; BODY }",
    "while": "Tensor nN = constant(0.0); while (nN < 2.0) { nN = nN + 1.0; BODY }",
    "while_break": "Tensor nN = constant(0.0); while (nN < 3.0) { nN = nN + 1.0; if (x > 8.0) break; BODY y = y * 0.5; }",
    "while_continue": "Tensor nN = constant(0.0); while (nN < 3.0) { nN = nN + 1.0; if (x > 4.0) continue; BODY x = x + 0.25; }",
    "do": "Tensor nN = constant(0.0); do { nN = nN + 1.0; BODY } while (nN < 2.0);",
    "do_break": "Tensor nN = constant(0.0); do { nN = nN + 1.0; BODY if (y > 3.0) break; x = x - 0.125; } while (nN < 3.0);",
    "for": "for (Tensor iN = constant(0.0); iN < 2.0; iN = iN + 1.0) { BODY }",
    "for_continue": "for (Tensor iN = constant(0.0); iN < 3.0; iN += 1.0) { if (y < 1.0) continue; BODY x = x + 0.5; }",
    "range": "for (Tensor iN : rw::range(3)) { x = x + cast(iN, float32) * 0.25; BODY }",
    "range_break": "for (Tensor iN : rw::range(3)) { if (x > 7.0) break; x = x + cast(iN, float32) * 0.25; BODY }",
    "host_for": "for (int iN = 0; iN < 2; ++iN) { x = x + 0.125 * iN; BODY }",
    "host_break": "for (int iN = 0; iN < 3; ++iN) { BODY if (x > 5.0) break; y = y + 0.5; }",
    "host_continue": "for (double vN : {0.5, 0.25}) { if (y > 2.0) continue; x = x * vN; BODY }",
    "endless": "Tensor nN = constant(0.0); while (true) { nN = nN + 1.0; BODY if (nN > 1.0) break; }",
    "return": "if (x > 8.5) return x * y; BODY",
    "return_else": "if (y < -3.0) { return y; } else { BODY }",
    "select": "x = y > 1.0 ? x * 0.5 : x + 0.5; BODY",
    "logic": "if ((x > 0.0 && y < 3.0) || !(x < 2.0)) { BODY }",
    "switch": "switch (int64_t(cast(x, int64))) { case 0: BODY break; case 1: case 5: y = y + 0.5; break; default: x = x - 0.25; }",
    "fall_through": "switch (int64_t(cast(x, int64))) { case 1: y = y * 0.5; case 5: BODY break; default: x = x + 0.25; case 9: y = y + 1.0; }",
    "promoted": "int kN = 0; for (int iN = 0; iN < 3; ++iN) { if (x > iN) ++kN; } x = x + kN; BODY",
    "promoted_while": "int kN = 3; bool goN = true; while (goN && kN > 0) { --kN; if (x > 6.0) goN = false; BODY } x = x + kN;",
    "binding": "const auto [aN, bN] = std::pair{x, y}; if (aN > bN) { BODY y = y + aN; }",
    "elements": "std::vector<Tensor> vN{x, y}; if (vN[0] > 0.25) { vN[1] = vN[1] * 0.5; } x = vN[0]; y = vN[1]; BODY",
    "while_assigns": "Tensor nN = constant(2.0); while ((nN = nN - 1.0) >= 0.0 && 3 > 2) { BODY } int kN = 2; while (kN-- > 0 && x > -9.0) { y = y + 0.5; }",
    "parameter": "const auto bentN = [&](Tensor z) { if (z > 1.0) z = z * 0.5; return z + x * 0.25; }; if (y > 0.5) y = bentN(y); BODY",
    "lambda": "auto addN = [&](double byN) { if (x > 2.0) x = x - byN; }; if (y > 0.75) addN(0.5); BODY",
}
LEAF = "x = x * 0.75 + y * 0.125; y = y + 0.125 * x;"
PLACES = ["function", "lambda", "method", "template", "generic"]
# What begins with a declaration needs a scope of its own where it is nested.
INNER = [name for name in CONSTRUCTS if name not in ("return_else", "if_init", "host_for", "else_if")]
PER_FILE = 42


def statements(outer, inner):
    inside = "{ " + CONSTRUCTS[inner].replace("BODY", LEAF).replace("N", "2") + " }"
    return CONSTRUCTS[outer].replace("N", "1").replace("BODY", inside)


def function(place, name, body):
    text = f"y = x * 0.5 + 1.0; {body} return x + y * 0.5;"
    if place == "function":
        return f"Tensor {name}(Tensor x) {{\n  Tensor {text}\n}}\nconst Add add_{name}(\"{name}\", {name});\n"
    if place == "lambda":
        return (f"const Add add_{name}(\"{name}\", [](Tensor x) {{\n  Tensor y;\n"
                f"  const auto f = [&](const Tensor& z) {{ y = x * 0.5 + z; {body} return x + y * 0.5; }};\n"
                f"  return f(constant(1.0));\n}});\n")
    if place == "method":
        return (f"struct {name} {{\n  Tensor x, y;\n  Tensor call() {{ {text} }}\n}};\n"
                f"const Add add_{name}(\"{name}\", [](Tensor x) {{ return {name}{{x, x}}.call(); }});\n")
    if place == "generic":
        return (f"const Add add_{name}(\"{name}\", [](Tensor start) {{\n"
                f"  auto f = [y = start](auto x) mutable {{ {text} }};\n  return f(start);\n}});\n")
    return (f"template <class T>\nT {name}(T x) {{\n  T {text}\n}}\n"
            f"const Add add_{name}(\"{name}\", [](Tensor x) {{ return {name}(x); }});\n")


def cases(every):
    for i, outer in enumerate(CONSTRUCTS):
        for j, inner in enumerate(INNER):
            if not every and (i + j) % 2:
                continue
            # Each pair in one place, all places in turn.
            for place in PLACES if every else [PLACES[(i + j) // 2 % len(PLACES)]]:
                name = f"{place}_{outer}__{inner}"
                yield function(place, name, statements(outer, inner))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    functions = list(cases("--all" in sys.argv))
    paths = []
    for first in range(0, len(functions), PER_FILE):
        text = ('#include "tests/autograph/check.h"\n\nnamespace rw::autograph_test {\nnamespace {\n\n' +
                "\n".join(functions[first:first + PER_FILE]) + "\n}  // namespace\n}  // namespace rw::autograph_test\n")
        path = folder / f"cases_{first // PER_FILE}.cc"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        paths.append(str(path))
    print(";".join(paths), end="")


main()
