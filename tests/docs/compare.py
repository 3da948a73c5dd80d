#!/usr/bin/env python3
"""Runs a program of the documentation and compares what it prints with what the page says.

    compare.py PROGRAM EXPECTED

Numbers may differ by a twentieth. "..." in a line stands for anything, a line of it for any lines. Lines of the
program's source, which errors name where there is debug information, are left out unless the page has some. Nothing
expected: the program only has to succeed.
"""
import pathlib
import re
import subprocess
import sys

SITE = re.compile(r"  (made |used )?at (\S+:\d+|a line in )")
NUMBER = r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?"


def narrow(line):
    """Numbers of another length are padded otherwise."""
    return re.sub(r"(?<=\[) | (?=\])", "", re.sub(r" +", " ", line))


def same_line(want, got):
    """Texts agree between the numbers, numbers nearly."""
    want, got = narrow(want), narrow(got)
    pattern = "".join("(.*)" if part == "..." else f"({NUMBER})" if re.fullmatch(NUMBER, part) else re.escape(part)
                      for part in re.split(rf"(\.\.\.|(?<![\w.]){NUMBER}(?![\w]))", want))
    match = re.fullmatch(pattern, got)
    if not match: return False
    wanted = re.findall(rf"\.\.\.|(?<![\w.]){NUMBER}(?![\w])", want)
    return all(w == "..." or abs(float(w) - float(g)) <= 0.05 * abs(float(w)) for w, g in zip(wanted, match.groups()))


def same(want, got):
    if not want: return not got
    if want[0].strip() == "...": return any(same(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and same_line(want[0].rstrip(), got[0].rstrip()) and same(want[1:], got[1:])


run = subprocess.run([sys.argv[1]], capture_output=True, text=True)
sys.stdout.write(run.stdout)
sys.stderr.write(run.stderr)
if run.returncode: sys.exit(f"ended with {run.returncode}")
expected = pathlib.Path(sys.argv[2]).read_text().splitlines()
printed = run.stdout.splitlines()
if not any(SITE.match(line) for line in expected): printed = [line for line in printed if not SITE.match(line)]
if expected and not same(expected, printed):
    sys.exit("the page says something else:\n" + "\n".join(expected))
