"""Checks every op against real TensorFlow.

    run.py [family...] [--op OP]...       live: same inputs to Rewind and TensorFlow; values and gradients compared
    run.py [family...] --check-cases      TensorFlow alone: are the cases themselves right?
    run.py [family...] --write-goldens    tests/golden/<family>.bin
    run.py --opdefs                       the schema of every row of Rewind's op table against TensorFlow's OpDef

Run it with a Python that has TensorFlow. The library is $REWIND_INTEROP_LIB or the newest build/**/librewind_interop.so.
"""
import argparse
import collections
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# TensorFlow writes a few lines to stderr while it is imported and before it knows its log level.
_stderr, _null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
os.dup2(_null, 2)
import tensorflow as tf  # noqa: E402

tf.constant(0)
os.dup2(_stderr, 2)
tf.get_logger().setLevel("ERROR")
import case  # noqa: E402
import compare  # noqa: E402
import golden  # noqa: E402
import rewind_side  # noqa: E402
import schema  # noqa: E402
import tensorflow_side  # noqa: E402
import wire  # noqa: E402

FAMILIES = ["creation", "random", "unary", "binary", "reduce", "matmul", "linalg", "shape", "gather", "conv", "nn",
            "training", "string", "state", "lookup", "list"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("families", nargs="*", help="default: all")
    p.add_argument("--op", action="append", help="only cases of this op")
    p.add_argument("--label", help="only cases whose label contains this")
    p.add_argument("--live", action="store_true", help="the default")
    p.add_argument("--check-cases", action="store_true")
    p.add_argument("--write-goldens", action="store_true")
    p.add_argument("--opdefs", action="store_true")
    p.add_argument("--strict", action="store_true", help="what Rewind lacks (ops, dtypes) counts as failed")
    p.add_argument("--max-lines", type=int, default=400, help="failures to print")
    p.add_argument("-v", "--verbose", action="store_true", help="print each case, and the error classes that differ")
    return p.parse_args()


def check_opdefs(rewind):
    found = schema.compare_rows(rewind.op_table())
    for op, diff in found:
        for d in diff or []: print(f"{op}: {d}")
    own = [op for op, diff in found if diff is None]
    bad = [op for op, diff in found if diff]
    print(f"{len(found)} rows: {len(found) - len(own) - len(bad)} match TensorFlow, {len(bad)} differ, "
          f"{len(own)} are Rewind's own" + (f" ({', '.join(own)})" if own else ""))
    return not bad


class Tally:
    def __init__(self):
        self.passed = self.failed = self.missing = self.no_kernel = self.unimplemented = 0
        self.ops, self.grads, self.seconds, self.errors, self.same_class = set(), 0, 0.0, 0, 0


def run_family(family, args, rewind, known_ops, report, lacking):
    tally, entries, start = Tally(), [], time.time()
    for c in case.load_family(family):
        if args.op and c.op not in args.op or args.label and args.label not in c.label: continue
        if args.verbose: print(c.name, flush=True)
        tally.ops.add(c.op)
        try:
            node = tensorflow_side.build(c)
            want, dys, wanted, differentiable = tensorflow_side.run(c, node)
        except tensorflow_side.NoKernel:
            tally.no_kernel += 1
            continue
        except Exception as e:
            tally.failed += 1
            report(f"{c.name}: the case cannot run in TensorFlow: {type(e).__name__}: {str(e)[:300]}")
            continue
        if (want.error is not None) != c.error:
            tally.failed += 1
            report(f"{c.name}: " + (f"TensorFlow raises {want.error}: {want.message[:300]}" if want.error else
                                    "error=True, but TensorFlow does not raise"))
            continue
        tally.grads += bool(wanted)
        if args.check_cases:
            tally.passed += 1
            continue
        twice = args.write_goldens and c.smooth and c.golden is not False and tensorflow_side.differentiable_twice(c, node, dys, wanted)
        data = wire.case_bytes(c, node, dys, wanted, differentiable, twice)
        if args.write_goldens:
            leaves = list(tensorflow_side.leaves_of(node))
            kind = "error" if c.error else "empty" if any(x.value.size == 0 for x in leaves) else "plain"
            key = (tuple(x.dtype for x in leaves), kind == "error" and c.label, tuple(sorted(map(str, c.attrs.items()))))
            entries.append((c, data, wire.result_bytes(want), kind, key))
            tally.passed += 1
            continue
        absent = {op for op in tensorflow_side.ops_of(node) if op not in known_ops}
        if absent:
            for op in absent: lacking[op] = set()
            tally.missing += 1
            continue
        got = rewind.run(data)
        if got.error == "UnimplementedError" and not want.error:
            lacking.setdefault(c.op, set()).add("/".join(dict.fromkeys(x.dtype for x in tensorflow_side.leaves_of(node))))
            if args.verbose: print(f"  {got.message}")
            tally.unimplemented += 1
            continue
        found = compare.differences(c, want, got)
        for text in found: report(f"{c.name}: {text}")
        if want.error and got.error:
            tally.errors += 1
            tally.same_class += want.error == got.error
            if args.verbose and want.error != got.error: print(f"  TensorFlow {want.error}, Rewind {got.error}: {got.message}")
        if found: tally.failed += 1
        else: tally.passed += 1
    if args.write_goldens: print("{}: {} golden cases, {} bytes".format(family, *golden.write(family, entries)))
    tally.seconds = time.time() - start
    return tally


def main():
    args = arguments()
    rewind, known_ops = None, set()
    if not (args.check_cases or args.write_goldens):
        path = rewind_side.find_library()
        if path is None: sys.exit("no librewind_interop.so under build/; build it, or set REWIND_INTEROP_LIB")
        rewind = rewind_side.Rewind(path)
        if args.opdefs: sys.exit(0 if check_opdefs(rewind) else 1)
        known_ops = {row.split("(")[0] for row in rewind.op_table()}
    here = os.path.dirname(os.path.abspath(__file__))
    families = args.families or [f for f in FAMILIES if os.path.exists(f"{here}/cases/{f}.py")]
    lines = collections.Counter()

    def report(text):
        lines["all"] += 1
        if lines["all"] <= args.max_lines: print(text, flush=True)

    tallies, lacking = {}, {}
    for family in families: tallies[family] = run_family(family, args, rewind, known_ops, report, lacking)
    if lines["all"] > args.max_lines: print(f"... and {lines['all'] - args.max_lines} more lines")
    columns = "{:<10}{:>6}{:>8}{:>8}{:>10}{:>15}{:>14}{:>15}{:>7}"
    print(columns.format("family", "ops", "passed", "failed", "no op", "unimplemented", "no TF kernel", "with gradient", "s"))
    for family, t in tallies.items():
        print(columns.format(family, len(t.ops), t.passed, t.failed, t.missing, t.unimplemented, t.no_kernel, t.grads,
                             f"{t.seconds:.1f}"))
    absent = sorted(op for op, types in lacking.items() if not types)
    partial = sorted(f"{op}({', '.join(sorted(types))})" for op, types in lacking.items() if types)
    if absent: print(f"ops that Rewind lacks ({len(absent)}): {' '.join(absent)}")
    if partial: print(f"not implemented in Rewind ({len(partial)} ops): {' '.join(partial)}")
    errors, same_class = (sum(getattr(t, k) for t in tallies.values()) for k in ("errors", "same_class"))
    if errors: print(f"{errors} calls raise in both, {same_class} of them the same class of error")
    passed, failed = (sum(getattr(t, k) for t in tallies.values()) for k in ("passed", "failed"))
    if args.strict: failed += sum(t.missing + t.unimplemented for t in tallies.values())
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
