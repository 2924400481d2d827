#!/usr/bin/env python3
"""Two builds of piddm, timed in turns: is the new one as fast as the old one?

  python3 benchmarks/compare_programs.py OLD NEW --out results/bench/square-cpu.json [--rounds 8]

A round does each work with both programs, one thread; the one that begins changes from round to round, so that what
else the machine does falls on both. `bench` says milliseconds of the network; `generate` and `train` are whole commands
with the paper's network (a teacher that OLD made), in CPU milliseconds of the process, which other processes disturb
less. Rounds are added to those that FILE holds already. Kept are all times; the ratio is that of the medians over the
rounds, new over old, beside the median and the range of the ratios within a round.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile

SMALL = ["--width", "16", "--modes", "12", "--lifting", "48", "--projection", "48"]
BENCH = [
    ["fno", "--grid", "128", "--batch", "1"],
    ["train", "--grid", "128", "--batch", "2"],
    ["fno", "--grid", "32", "--batch", "32", *SMALL],
    ["train", "--grid", "32", "--batch", "32", *SMALL],
]
TEACHER = ["train", "darcy", "--set", "data.n=8", "--set", "train.batch=2", "--set"]
COMMANDS = {
    "generate, 128x128, 200 evaluations": lambda folder: ["generate", f"{folder}/teacher", "--method", "teacher", "--n",
                                                          "2", "--out", f"{folder}/samples.npz"],
    "train, 128x128, 20 steps of batch 2": lambda folder: [*TEACHER, "train.steps=20", "--out", f"{folder}/run"],
}


def run(program, command, threads):
    line = [program, *command, "--quiet", "--device", "cpu", "--threads", str(threads)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def bench_rows(program, work, arguments):
    command = ["bench", *work, "--python", "none", "--repeats", str(arguments.repeats), "--json"]
    answer = json.loads(run(program, command, arguments.threads))
    for row in answer["rows"]:
        grid = row["grid"] if isinstance(row["grid"], int) else row["grid"][0]
        yield f"bench {row['bench']} {row['what']}, {grid}x{grid}, batch {row['batch']}", row["ms"]


def command_row(program, name, folder, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch, "teacher").symlink_to(folder)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(program, COMMANDS[name](scratch), arguments.threads)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield name, 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def one_round(result, programs, folder, arguments):
    order = ["old", "new"] if result["rounds"] % 2 == 0 else ["new", "old"]
    works = [(" ".join(work), lambda program, work=work: bench_rows(program, work, arguments)) for work in BENCH]
    works += [(name, lambda program, name=name: command_row(program, name, folder, arguments)) for name in COMMANDS]
    for name, measure in works:
        if arguments.only not in name:
            continue
        for which in order:
            for key, ms in measure(programs[which]):
                result["ms"].setdefault(key, {"old": [], "new": []})[which].append(round(ms, 4))
    result["rounds"] += 1


def summary(times):
    old, new = (statistics.median(times[which]) for which in ("old", "new"))
    ratios = sorted(b / a for a, b in zip(times["old"], times["new"]))
    return {
        "rounds": len(ratios),
        "old_ms": old,
        "new_ms": new,
        "ratio": round(new / old, 4),
        "ratio_in_a_round": round(statistics.median(ratios), 4),
        "range": [round(ratios[0], 4), round(ratios[-1], 4)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5, help="turns of bench")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help='work with these words, e.g. "fno --grid 128" or "generate"')
    arguments = parser.parse_args()
    programs = {"old": arguments.old, "new": arguments.new}
    result = {"rounds": 0, "threads": arguments.threads, "repeats": arguments.repeats, "ms": {}}
    if arguments.out.exists():
        result.update(json.loads(arguments.out.read_text()))
    result["machine"] = json.loads(run(arguments.new, ["doctor", "--json"], arguments.threads))
    with tempfile.TemporaryDirectory() as folder:
        run(arguments.old, [*TEACHER, "train.steps=1", "--out", f"{folder}/teacher"], arguments.threads)
        for _ in range(arguments.rounds):
            one_round(result, programs, f"{folder}/teacher", arguments)
            result["summary"] = {key: summary(times) for key, times in result["ms"].items()}
            arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    for key, row in result["summary"].items():
        print(f"{key}: {row['old_ms']:.2f} -> {row['new_ms']:.2f} ms, ratio {row['ratio']}")


if __name__ == "__main__":
    main()
