#!/usr/bin/env python3
"""Every numeric option of every command with values nobody should give it: 0, -1, huge, not a number, no number.

Options are found by asking the program (`--help`, `train --keys`, `list methods`, `reproduce --dry-run`), so that new
ones are covered too. Whatever it is given, the program ends within the time limit and below the memory limit, with an
exit code of its own and, where that is not 0, one line that speaks of the program and not of its libraries. A number
that is none is always a usage error.

options_sweep.py PIDDM [--every N] [--only TEXT] [--jobs N] [--list]"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SECONDS, MIB = 20, 2048
# The address sanitizer needs terabytes of addresses.
LIMIT = [] if "ASAN_OPTIONS" in os.environ else ["prlimit", f"--as={24 << 30}"]
CODES = {0, 2, 3, 4, 5}
FOREIGN = ("c10", "enforce", "json.exception", "std::", "basic_string", "filesystem error", "Expected", "torch.",
           "expected a non-empty", "exceeds dimension", "inconsistent", "bad_alloc", "Exception raised", "stoi",
           "vector", "must be divisible", "RuntimeError", "Storage size", "too large to", "INTERNAL", "at::")
NO_NUMBERS = ("nan", "inf", "-inf", "", "x")
NUMBERS = ("0", "-1", "1000000000000", "9223372036854775807", "99999999999999999999999", "1e30", "-1e30", "1e-30")
LISTS = ("[]", "[0,0]", "[-1,4]", "[1000000000000,4]", "[1,2,3]", "[" + ",".join(["1"] * 5000) + "]")
TINY = """
pde = { name = "darcy", grid = 16 }
data = { n = 16 }
model = { type = "fno", width = 4, modes = [4, 4], layers = 2, lifting = 8, projection = 8, time_features = 8 }
train = { steps = 4, batch = 4 }
solve = { refine = { iterations = 2 }, task = { iterations = 2 } }
[distill]
pairs = { steps = 2, chunk = 8, every = 2, pool = 2, held_out = 4 }
loss = { lambda = 1.0, physics_ramp = 2 }
train = { steps = 4, batch = 4, validate_every = 2 }
"""
OWN_PDE = """
name = "own"
equation = "dt(u) = k*lap(u) - u^3"
grid = { x = [0, 1, 16, "nodes"], t = [0, 1, 16] }
boundary = { x_low = "u = 0", x_high = "dn(u) = 0" }
initial = "u = u0"
parameters = { k = 0.1 }
coefficients = { u0 = "field: sine(alpha=2, tau=3)" }
"""
# Smallest networks, where --keys says nothing of what suits 16 points.
NETWORKS = {
    "fno": ["width=4", "modes=[4,4]", "layers=2", "lifting=8", "projection=8", "time_features=8"],
    "ffno": ["width=4", "modes=[4,4]", "layers=2", "lifting=8", "projection=8", "time_features=8", "hidden=8"],
    "unet": ["width=4", "multipliers=[1,2]", "blocks=1", "attention=1", "head_width=4", "groups=2", "time_features=8"],
    "autoencoder": ["width=4", "multipliers=[1,2]", "blocks=1", "groups=2", "time_features=8"],
    "mlp": ["points=256", "width=8", "layers=2"],
}
EXPERIMENT = ["pde.grid=16", "data.n=16", "train.steps=2", "train.batch=4", "distill.train.steps=2",
              "distill.train.batch=4", "distill.pairs.steps=2", "distill.pairs.chunk=8", "distill.pairs.held_out=4",
              "solve.task.iterations=2"] + ["model." + o for o in NETWORKS["fno"]]


class Piddm:
    """The program in a folder of its own, with limits."""

    def __init__(self, program, folder):
        self.program, self.folder, self.count = os.path.abspath(program), folder, 0
        self.env = {**os.environ, "GOMP_SPINCOUNT": "3000", "LC_ALL": "C"}

    def output(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"piddm {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def new(self, name):
        self.count += 1
        return f"{self.count:06}{name}"

    def run(self, arguments):
        """Exit code (None: too slow), what it said on standard error, seconds, MiB at its peak."""
        begin = time.monotonic()
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen([*LIMIT, self.program, *arguments, "--threads", "1", "--quiet"], cwd=self.folder,
                                     env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
            slow = threading.Timer(SECONDS, child.kill)
            slow.start()
            _, status, usage = os.wait4(child.pid, 0)
            late = not slow.is_alive()
            slow.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            said = errors.read(1 << 16).decode("utf-8", "replace")
        return None if late else child.returncode, said, time.monotonic() - begin, usage.ru_maxrss / 1024


def faults(code, said, seconds, mib, no_number):
    found = []
    if code not in CODES:
        found.append("too slow" if code is None else f"exit code {code}")
    if seconds > SECONDS:
        found.append(f"{seconds:.0f} s")
    if mib > MIB:
        found.append(f"{mib:.0f} MiB")
    lines = [line for line in said.splitlines() if not line.startswith("Try 'piddm")]
    if code and code > 0 and (len(lines) != 1 or not lines[0].startswith("piddm: ") or len(lines[0]) > 600):
        found.append(f"{len(lines)} lines, or no line of its own")
    found += [f"says '{word}'" for word in FOREIGN if word in said]
    if no_number and code != 2:
        found.append("no number, yet no usage error")
    return found


def keys_of(text):
    """{key: default} of "key = default  # meaning" lines; a number, or a list of numbers."""
    keys = {}
    for line in text.splitlines():
        match = re.match(r"  ([\w.]+) = (-?[\d.e+-]+|\[[\d,. -]*\])\s+#", line)
        if match:
            keys[match[1]] = match[2]
    return keys


def flat(options, prefix=""):
    keys = {}
    for key, value in options.items():
        if isinstance(value, dict):
            keys.update(flat(value, f"{prefix}{key}."))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            keys[prefix + key] = json.dumps(value)
        elif isinstance(value, list) and all(isinstance(v, (int, float)) for v in value):
            keys[prefix + key] = json.dumps(value)
    return keys


def values_for(default):
    return LISTS if default.startswith("[") else NUMBERS + NO_NUMBERS


def sets(settings):
    return [word for setting in settings for word in ("--set", setting)]


def options_of(piddm, command):
    """Numeric options in the command's help."""
    help_text = piddm.output(*command, "--help")
    return re.findall(r"^  (--[\w-]+) (?:U?INT|FLOAT)", help_text, re.M)


def with_options(piddm, command, arguments, skip=("--threads",)):
    for option in options_of(piddm, command):
        if option in skip:
            continue
        for value in NUMBERS + NO_NUMBERS:
            yield [*command, *arguments, f"{option}={value}"], value in NO_NUMBERS


def with_settings(command, keys, prefix=""):
    for key, default in keys.items():
        for value in values_for(default):
            yield [*command, "--set", f"{prefix}{key}={value}"], value in NO_NUMBERS


def training_cases(piddm):
    text = piddm.output("train", "--keys")
    general, *networks = re.split(r'\n# model\.type = "(\w+)".*\n', text)
    keys = keys_of(general)
    trained = {k: v for k, v in keys.items() if not k.startswith(("distill.", "solve."))}
    yield from with_settings(["train", "tiny.toml", "--out", "NEW"], trained)
    for name, part in zip(networks[::2], networks[1::2]):
        base = ["train", "tiny.toml", "--out", "NEW", "--set", f'model={{type="{name}"}}']
        yield from with_settings([*base, *sets("model." + o for o in NETWORKS[name])], keys_of(part))
    for key, default in keys.items():
        if not key.startswith("distill."):
            continue
        command = ["distill", "--teacher", "teacher", "--out", "NEW"]
        part = key.split(".")[1]
        if part in ("reflow", "dmd", "dmd2", "consistency"):
            command += ["--objective", part, *(["--set", "distill.reflow.steps=2"] if part == "reflow" else [])]
        yield from with_settings(command, {key: default})
    yield from with_settings(["train", "tiny.toml", "--out", "NEW"],
                             {k: v for k, v in keys.items() if k.startswith("solve.")})


def method_cases(piddm):
    for name, card in json.loads(piddm.output("list", "methods", "--json")).items():
        model = "student" if card["model"] == "student" else "teacher"
        keys = keys_of(card["options"])
        small = [f"{k}=2" for k in keys if k in ("steps", "iterations", "after", "last", "refine.iterations",
                                                 "task.iterations")]
        generates = not card["refusals"]["generate"].get("darcy")
        if generates:
            yield from with_settings(
                ["generate", model, "--method", name, "--n", "2", "--out", "NEW.npz", *sets(small)], keys)
        for task in ("forward", "reconstruct"):
            yield from with_settings(["solve", model, "--task", task, "--method", name, "--observe", "data.npz", "--n",
                                      "2", "--out", "NEW.npz", *sets(small)], keys)


def command_cases(piddm):
    solve = ["--task", "reconstruct", "--observe", "data.npz", "--out", "NEW.npz", "--set", "task.iterations=2"]
    for command, arguments in (
        (["pde", "show"], ["poisson", "--grid=16"]),
        (["pde", "test"], ["own.toml", "--grid=16", "--plot", "NEW.png"]),
        (["data", "make"], ["darcy", "--n=4", "--grid=16", "--out", "NEW.npz"]),
        (["data", "make"], ["burgers", "--n=4", "--grid=16", "--out", "NEW.safetensors"]),
        (["data", "check"], ["data.npz"]),
        (["data", "import"], ["data.npz", "--out", "NEW.npz"]),
        (["generate"], ["student", "--n=4", "--out", "NEW.npz"]),
        (["generate"], ["student", "--n=4", "--decode", "--out", "NEW.safetensors"]),
        (["solve"], ["student", "--n=2", *solve]),
        (["evaluate"], ["student", "--n=8", "--resamples=4", "--reference", "data.npz"]),
        (["evaluate"], ["data.npz", "--resamples=4", "--task", "reconstruct", "--observe", "data.npz", "--reference",
                        "data.npz"]),
        (["plot"], ["data.npz", "--out", "NEW.png"]),
        (["train"], ["tiny.toml", "--out", "NEW"]),
        (["distill"], ["--teacher", "teacher", "--out", "NEW"]),
        (["bench", "spectral"], ["--python", "none", "--repeats=1", "--grid=16", "--batch=1", "--width=4",
                                "--modes=4"]),
        (["bench", "fno"], ["--python", "none", "--repeats=1", "--grid=16", "--batch=1", "--width=4", "--modes=4",
                            "--layers=1", "--lifting=4", "--projection=4"]),
        (["bench", "train"], ["--python", "none", "--repeats=1", "--grid=16", "--batch=1", "--width=4", "--modes=4",
                              "--layers=1", "--lifting=4", "--projection=4"]),
        (["bench", "sample"], ["--python", "none", "--repeats=1", "--grid=16", "--batch=1", "--width=4", "--modes=4",
                               "--layers=1", "--lifting=4", "--projection=4", "--steps=2"]),
        (["bench", "data"], ["--python", "none", "--repeats=1", "--grid=16", "--n=1", "--pde", "darcy"]),
        (["bench", "pde"], ["--repeats=1", "--grid=16", "--n=1", "--pde", "darcy"]),
    ):
        for option in options_of(piddm, command):
            without = [a for a in arguments if not a.startswith(option + "=")]
            for value in NUMBERS + NO_NUMBERS:
                yield [*command, *without, f"{option}={value}"], value in NO_NUMBERS
    for parameter in ("k", "f", "nu", "low", "high", "tau", "alpha"):
        for pde in ("darcy", "helmholtz", "burgers"):
            for value in NUMBERS + NO_NUMBERS:
                yield ["data", "make", pde, "--n=2", "--grid=16", "--out", "NEW.npz", "--param",
                       f"{parameter}={value}"], False
    for parameter in ("k", "length_x", "duration"):
        for value in NUMBERS + NO_NUMBERS:
            yield ["pde", "test", "own.toml", "--plot", "NEW.png", "--param", f"{parameter}={value}"], False


def table_cases(piddm):
    seen = set()
    names = list(json.loads(piddm.output("reproduce", "--list", "--json")))
    tables = [name for name in names if name.startswith("table-")]
    for name in [tables[0]] + [name for name in names if name not in tables]:
        plan = json.loads(piddm.output("reproduce", name, "--dry-run", "--json"))
        keys = flat(plan["options"])
        if frozenset(keys) in seen:  # all tables have the same options
            continue
        seen.add(frozenset(keys))
        yield from with_settings(["reproduce", name, "--dry-run", "--out", "NEW"], keys)
    tiny = sets("experiment." + s for s in EXPERIMENT)
    few = {"held_out": "8", "samples": "4", "cases": "2"}
    for key in few:
        others = sets(f"{k}={v}" for k, v in few.items() if k != key)
        for value in (*NUMBERS, *NO_NUMBERS, "999"):
            yield ["demo", "--out", "NEW", *tiny, *others, "--set", f"{key}={value}"], value in NO_NUMBERS
            yield ["compare", "--student", "student", "--teacher", "teacher", "--out", "NEW", *others, "--set",
                   'methods=["piddm"]', "--set", f"{key}={value}"], value in NO_NUMBERS


def prepare(piddm):
    with open(os.path.join(piddm.folder, "tiny.toml"), "w", encoding="ascii") as config:
        config.write(TINY)
    with open(os.path.join(piddm.folder, "own.toml"), "w", encoding="ascii") as text:
        text.write(OWN_PDE)
    piddm.output("data", "make", "darcy", "--n", "16", "--grid", "16", "--out", "data.npz", "--quiet")
    piddm.output("train", "tiny.toml", "--out", "teacher", "--quiet", "--threads", "1")
    piddm.output("distill", "--teacher", "teacher", "--out", "student", "--quiet", "--threads", "1")


def shown(command):
    return " ".join(a if len(a) < 100 else a[:97] + "..." for a in command)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("piddm")
    parser.add_argument("--every", type=int, default=1, help="take one case of so many")
    parser.add_argument("--only", default="", help="cases whose command line has this text in it")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="command lines at a time")
    parser.add_argument("--list", action="store_true", help="print the cases and run none")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        piddm = Piddm(arguments.piddm, folder)
        prepare(piddm)
        cases = [case for part in (training_cases, method_cases, command_cases, table_cases) for case in part(piddm)]
        cases = [case for case in cases if arguments.only in " ".join(case[0])][::arguments.every]
        cases = [([piddm.new(a[3:]) if a.startswith("NEW") else a for a in command], no) for command, no in cases]
        if arguments.list:
            for command, _ in cases:
                print(shown(command))
            return
        codes, failed, slowest, most = collections.Counter(), 0, 0.0, 0.0
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for (command, no_number), done in zip(cases, pool.map(lambda case: piddm.run(case[0]), cases)):
                code, said, seconds, mib = done
                codes[code] += 1
                slowest, most = max(slowest, seconds), max(most, mib)
                found = faults(code, said, seconds, mib, no_number)
                failed += bool(found)
                if found:
                    print(f"FAILED piddm {shown(command)}\n  {'; '.join(found)}\n  {said[:500].strip()}", flush=True)
        counts = ", ".join(f"{n} with {code}" for code, n in sorted(codes.items(), key=str))
        print(f"{len(cases)} command lines: {counts}; slowest {slowest:.1f} s, most memory {most:.0f} MiB; "
              f"{failed} failed")
        sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
