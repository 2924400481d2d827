"""Tasks by latent optimisation, measured through the command line.

What does an optimiser reach, and how much does the answer depend on the start?

  latents.py table    PIDDM MODEL DATA [--cases 64] [--task T ...] [--row "label: key=value key=value" ...]
  latents.py variance PIDDM MODEL DATA [--cases 16] [--starts 8] [--task T ...] [--method M] [--set key=value ...]

PIDDM is the program, MODEL a model or run folder, DATA an .npz of true samples of a PDE with the channels u and a. The
observations are files with gaps (NaN), the same for every row and start: forward all of a, inverse all of u,
reconstruct 20 % of each, drawn with seed 0.

table     one line per row and task: relative L2 error of u (mean over cases) and share of cells of a on the wrong side
          of the middle of its two values (or the relative L2 error of a, if it has more), both over the entries that
          were not given; evaluations, backward passes and seconds per case as `piddm solve` reports them
variance  the seed of the starts runs over 0..starts-1. Per case the mean square error over what was not given, in units
          of the channel's variance; printed are its mean, and its variance over the starts averaged over the cases
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

TASKS = ("forward", "inverse", "reconstruct")
ROWS = ("lbfgs: task.optimizer=lbfgs", "adam: task.optimizer=adam", "gauss-newton: task.optimizer=gauss-newton")


def observe(task, truth, folder):
    """Writes the file with gaps and returns it with the masks."""
    rng = np.random.default_rng(0)
    shares = {"forward": (0.0, 1.0), "inverse": (1.0, 0.0), "reconstruct": (0.2, 0.2)}
    known = dict(zip(("u", "a"), shares[task]))
    masks = {c: rng.random(truth[c].shape) < share for c, share in known.items()}
    path = folder / f"{task}.npz"
    np.savez(path, **{c: np.where(masks[c], truth[c], np.nan).astype(np.float32) for c in truth if known[c] > 0})
    return path, masks


def solve(args, task, observed, settings, seed, folder):
    out = folder / "solved.npz"
    command = [args.piddm, "solve", args.model, "--task", task, "--observe", str(observed), "--method", args.method,
               "--seed", str(seed), "--json", "--quiet", "--out", str(out)]
    for setting in settings:
        command += ["--set", setting]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with np.load(out) as data:
        return {c: data[c].astype(np.float64) for c in ("u", "a")}, report


def relative_l2(x, truth, hidden):
    size = lambda y: np.sqrt(np.sum((y * hidden) ** 2, (1, 2)))
    return float(np.mean(size(x - truth) / size(truth))) if hidden.any() else None


def error_of_a(x, truth, hidden):
    values = np.unique(truth)
    if not hidden.any() or len(values) != 2:
        return relative_l2(x, truth, hidden)
    return float(np.mean(((x > values.mean()) != (truth > values.mean()))[hidden]))


def percent(x):
    return "-" if x is None else f"{100 * x:.2f} %"


def table(args, truth, folder):
    print("| task | options | u rel. L2 | a wrong | nfe | backward | ms per case |\n|---|---|---:|---:|---:|---:|---:|")
    for task in args.task:
        observed, masks = observe(task, truth, folder)
        for row in args.row:
            label, _, settings = row.partition(":")
            x, report = solve(args, task, observed, settings.split(), 0, folder)
            u, a = relative_l2(x["u"], truth["u"], ~masks["u"]), error_of_a(x["a"], truth["a"], ~masks["a"])
            print(f"| {task} | {label} | {percent(u)} | {percent(a)} | {report['nfe']:.0f} | "
                  f"{report['backward']:.0f} | {1000 * report['seconds_per_sample']:.0f} |", flush=True)


def variance(args, truth, folder):
    print("| task | method | mean MSE | variance of the MSE over starts |\n|---|---|---:|---:|")
    for task in args.task:
        observed, masks = observe(task, truth, folder)
        errors = []
        for seed in range(args.starts):
            x, _ = solve(args, task, observed, args.set, seed, folder)
            total = sum((~masks[c] * (x[c] - truth[c]) ** 2).sum((1, 2)) / truth[c].var() for c in truth)
            errors.append(total / sum((~masks[c]).sum((1, 2)) for c in truth))
        errors = np.array(errors)
        print(f"| {task} | {args.method} | {errors.mean():.3g} | {errors.var(0, ddof=1).mean():.3g} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("table", "variance"))
    for name in ("piddm", "model", "data"):
        parser.add_argument(name)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--method", default="piddm")
    parser.add_argument("--row", action="append")
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()
    args.task, args.row = args.task or TASKS, args.row or ROWS
    cases = args.cases or (64 if args.what == "table" else 16)
    with np.load(args.data) as data:
        truth = {c: data[c][:cases].astype(np.float64) for c in ("u", "a")}
    with tempfile.TemporaryDirectory() as folder:
        (table if args.what == "table" else variance)(args, truth, Path(folder))


if __name__ == "__main__":
    main()
