#!/usr/bin/env python3
"""Every PDE of examples/pdes from its file to an evaluated student, and a table of what was reached.

own_pdes.py PIDDM [NAME ...] [--out results/own-pdes] [--runs runs/own-pdes] [--set KEY=VALUE ...]

For each file: `pde test`, `demo --pde FILE` with settings as they are chosen. OUT/NAME gets report.json, report.md and
the pictures of the demo, OUT/README.md the table. Ends with 1 if a student has no less PDE error or more solution error
than its teacher, if fewer than five of seven have at most a third of it, or if decoded samples are not at their floor.
What is finished is kept: the same command goes on."""

import argparse
import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
THIRD = 1 / 3
FLOOR = 4  # times the data's own PDE error, as `data check`
KEPT = ("report.json", "report.md", "samples.png", "tasks.png")


def run(command):
    """Exit code, both outputs, and seconds of processor time."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began


def demo(options, name):
    """Seconds it took, or None where it failed; an earlier run's seconds where it was finished."""
    out = options.runs / name
    clock = out / "seconds.json"
    command = [options.piddm, "demo", "--pde", ROOT / "examples/pdes" / f"{name}.toml", "--out", out, "--json"]
    for setting in options.set:
        command += ["--set", setting]
    code, _, errors, seconds = run(command)
    if code != 0:
        print(f"{name}: {errors.strip().splitlines()[-1] if errors.strip() else code}", file=sys.stderr)
        return None
    if not clock.exists():
        clock.write_text(json.dumps(seconds))
    target = options.out / name
    target.mkdir(parents=True, exist_ok=True)
    for file in KEPT:
        if (out / file).exists():
            shutil.copyfile(out / file, target / file)
    return json.loads(clock.read_text())


def number(value):
    return "-" if value is None else f"{value:.2g}"


def judge(report):
    """What is asked of one PDE: (teacher, student, decoded, {claim: held})."""
    methods, floor = report["methods"], report["floor"]
    teacher, student, decoded = methods["teacher"], methods["piddm-1"], methods["piddm-1-decoded"]
    held = {
        "less": student["pde_error"] < teacher["pde_error"],
        "solution": student["solution_error"] <= teacher["solution_error"],
        "third": student["pde_error"] <= THIRD * teacher["pde_error"],
        "decoded": decoded["pde_error"] <= FLOOR * floor["pde_error"],
    }
    return teacher, student, decoded, held


def row(name, tested, seconds, report):
    teacher, student, decoded, held = judge(report)
    ratio = teacher["pde_error"] / student["pde_error"]
    grid = report["pde"]["grid"]
    cells = [
        f"[{name}]({name}/report.md)",
        str(grid) if isinstance(grid, int) else "x".join(map(str, grid)),
        tested,
        f"{number(teacher['pde_error'])} → {number(student['pde_error'])}",
        f"1/{ratio:.3g}" + ("" if held["less"] else ": **missed**"),
        f"{number(teacher['solution_error'])} → {number(student['solution_error'])}" +
        ("" if held["solution"] else ": **missed**"),
        f"{number(decoded['pde_error'])} ({number(report['floor']['pde_error'])})" +
        ("" if held["decoded"] else ": **missed**"),
        f"{seconds:.0f}",
    ]
    return cells, held


def page(rows, thirds, count, settings):
    head = ["PDE", "grid", "`pde test`", "PDE error, teacher → student", "ratio", "error of u, teacher → student",
            "decoded: PDE error (data)", "processor seconds"]
    lines = ["# PDEs of one's own", "",
             "The seven files of [examples/pdes](../../examples/pdes), settings as they are chosen",
             "([how](../../docs/chosen-settings.md)), each from nothing by", "", "```",
             "python3 tests/scripts/own_pdes.py build/cli/piddm" + "".join(f" --set {s}" for s in settings), "```", "",
             "Asked: the student has less PDE error than its teacher and no more solution error on all seven, at most",
             f"a third of the PDE error on five ({thirds} of {count} have), decoded samples are at the data's floor.",
             "Words as in [results](../README.md); settings, seeds and machine are in each report.json.", "",
             "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("piddm", type=Path)
    parser.add_argument("names", nargs="*", help="which files; default: all")
    parser.add_argument("--out", type=Path, default=ROOT / "results/own-pdes")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs/own-pdes")
    parser.add_argument("--set", action="append", default=[], help="passed on to `piddm demo`")
    options = parser.parse_args()
    options.piddm = options.piddm.resolve()
    names = options.names or sorted(file.stem for file in (ROOT / "examples/pdes").glob("*.toml"))
    rows, failed, thirds = [], [], 0
    for name in names:
        picture = options.out / name / "test.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        file = ROOT / "examples/pdes" / f"{name}.toml"
        code, _, errors, _ = run([options.piddm, "pde", "test", file, "--plot", picture, "--quiet"])
        if code != 0:
            failed.append(f"{name}: pde test: {errors.strip()}")
        seconds = demo(options, name)
        if seconds is None:
            failed.append(f"{name}: demo")
            continue
        report = json.loads((options.out / name / "report.json").read_text())
        cells, held = row(name, "passed" if code == 0 else "**failed**", seconds, report)
        rows.append(cells)
        thirds += held.pop("third")
        failed += [f"{name}: {claim}" for claim, holds in held.items() if not holds]
        print("  ".join(cells), flush=True)
    if len(names) == 7 and thirds < 5:
        failed.append(f"a third of the PDE error on {thirds} of 7")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "README.md").write_text(page(rows, thirds, len(names), options.set))
    for line in failed:
        print("missed:", line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
