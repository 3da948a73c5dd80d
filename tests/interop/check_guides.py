"""TensorFlow's guides on checkpoints and on SavedModels, cell by cell in Python and in C++ (examples/guides): what they
print is compared. The guide on checkpoints also runs in a folder where the other language has trained before.

    check_guides.py BUILD_FOLDER    (with a Python that has TensorFlow)
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from check_seeds import EXAMPLES, same_lines

ENV = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONUNBUFFERED="1")


def output(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=ENV)
    if done.returncode: sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def main():
    build = pathlib.Path(sys.argv[1])
    in_python = lambda name, *args: output([sys.executable, EXAMPLES / "guides" / f"{name}.py", *args])
    in_cpp = lambda name, *args: output([build / "examples/guides" / name, *args])
    passed = checks = 0
    for name in "checkpoint", "saved_model":
        checks += 1
        passed += same_lines(in_python(name), in_cpp(name), name)
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        first, second = in_cpp("checkpoint", ours), in_python("checkpoint", ours)
        before, behind = in_python("checkpoint", theirs), in_cpp("checkpoint", theirs)
        for what, a, b in [("50 steps", before, first), ("50 steps more on the other side", second, behind)]:
            checks += 1
            passed += same_lines(a, b, f"checkpoint, {what}")
        if "Restored from ./tf_ckpts/ckpt-5" not in second or "Restored from ./tf_ckpts/ckpt-5" not in behind:
            sys.exit("nothing was restored of the other language's checkpoints")
    print(f"guides: {passed} of {checks} agree")
    sys.exit(passed != checks)


if __name__ == "__main__": main()
