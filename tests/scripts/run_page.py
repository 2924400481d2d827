#!/usr/bin/env python3
"""Does what a page of the documentation says, in an empty folder: a page whose commands fail is wrong.

  run_page.py PAGE PROGRAM [--quick] [--into DIR]

A fenced block that begins ```toml NAME or ```csv NAME is written to the file NAME; the lines of a block ```sh are run
one after the other. --quick trains for a few steps on little data (what the commands are is tested, not what they
reach); --into keeps the folder. Prints each command with its seconds.
Exit codes: 0 all ran, 1 a command failed or left a file out that the page shows, 2 wrong options.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

QUICK = {
    "piddm train": "--set train.steps=20 --set data.n=96 --set model.width=8 --set model.lifting=16 "
                   "--set model.projection=16",
    "piddm solve": "--set task.iterations=4",
    "piddm distill": "--set distill.train.steps=10 --set distill.pairs.steps=4 --set distill.pairs.chunk=64 "
                     "--set distill.pairs.held_out=16",
}


def blocks(page):
    """(info string, text) of every fenced block."""
    return re.findall(r"^```([^\n`]+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def quick(command):
    for begin, more in QUICK.items():
        if command.startswith(begin):
            return f"{command} {more}"
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--into", type=pathlib.Path)
    options = parser.parse_args()
    work = options.into or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, PATH=f"{options.program.resolve().parent}:{os.environ['PATH']}")
    ran = 0
    for info, text in blocks(options.page.read_text()):
        kind, _, name = info.strip().partition(" ")
        if kind in ("toml", "csv") and name:
            (work / name).write_text(text)
        if kind != "sh":
            continue
        for line in text.replace("\\\n", " ").splitlines():
            line = line.split("  #")[0].strip()
            if not line or line.startswith("#"):
                continue
            command = quick(line) if options.quick else line
            command = command.replace("--n 256", "--n 32") if options.quick else command
            begun = time.time()
            run = subprocess.run(command, shell=True, cwd=work, env=environment, text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
            print(f"{time.time() - begun:7.1f} s  {line}", flush=True)
            if run.returncode != 0:
                print(run.stdout, f"exit {run.returncode}: {command}", sep="\n", file=sys.stderr)
                return 1
            ran += 1
    if ran == 0:
        print(f"{options.page}: no ```sh block, nothing was run", file=sys.stderr)
        return 1
    print(f"{options.page.name}: {ran} commands ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
