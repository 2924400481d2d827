#!/usr/bin/env python3
"""How solve answers noisy sensors: errors, chi^2, and the coverage of ensembles. Needs nothing but Python.

  noise.py PIDDM MODEL TRUE.npz [--cases 24] [--ensemble K] [-- arguments of solve, e.g. --set lambda=1]

TRUE.npz are complete Darcy samples. Each line is a task: sensors at random entries, their noise in standard deviations
of the channel. With --ensemble the mean is judged, and of u the share of true values between the 25th and 75th and
between the 5th and 95th percentile, and the spread of the members over the error of their mean.
"""
import argparse
import array
import ast
import json
import math
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TASKS = [("inverse", 100, 0.05), ("inverse", 100, 0.2), ("reconstruct", 50, 0.05), ("reconstruct", 50, 0.2)]
MIDDLE = 7.5  # of Darcy's two values


def load(path):
    """Arrays of an .npz: {name: (shape, values)}."""
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            if not name.endswith(".npy"):
                continue
            data = file.read(name)
            (length,) = struct.unpack("<H", data[8:10])
            header = ast.literal_eval(data[10:10 + length].decode())
            values = array.array({"<f4": "f", "<f8": "d"}[header["descr"]])
            values.frombytes(data[10 + length:])
            arrays[name[:-4]] = (header["shape"], values)
    return arrays


def deviation(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean)**2 for v in values) / len(values))


def write_sensors(path, truth, channels, points, noise, cases, size, width):
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("channel,i,j,value,sigma,sample\n")
        for case in range(cases):
            for channel in channels:
                sigma = noise * deviation(truth[channel][:cases * size])
                for entry in draw.sample(range(size), points):
                    value = truth[channel][case * size + entry] + sigma * draw.gauss(0, 1)
                    file.write(f"{channel},{entry // width},{entry % width},{value},{sigma},{case}\n")


def relative_error(answer, truth, cases, size):
    total = 0
    for case in range(cases):
        at = range(case * size, (case + 1) * size)
        total += math.sqrt(sum((answer[k] - truth[k])**2 for k in at) / sum(truth[k]**2 for k in at))
    return total / cases


def judge(arrays, truth, ensemble, cases, size):
    name = "{}_mean" if ensemble else "{}"
    u, a = (arrays[name.format(channel)][1] for channel in "ua")
    every = range(cases * size)
    text = f"u {relative_error(u, truth['u'], cases, size):.2%}, wrong cells of a "
    text += f"{sum((a[k] > MIDDLE) != (truth['a'][k] > MIDDLE) for k in every) / len(every):.2%}"
    if not ensemble:
        return text
    for low, high in (("q25", "q75"), ("q05", "q95")):
        below, above = arrays["u_" + low][1], arrays["u_" + high][1]
        text += f", {low} to {high} holds {sum(below[k] <= truth['u'][k] <= above[k] for k in every) / len(every):.1%}"
    spread = sum(s * s for s in arrays["u_std"][1])
    return text + f", spread / error {math.sqrt(spread / sum((u[k] - truth['u'][k])**2 for k in every)):.2f}"


def main():
    ours, _, others = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("piddm", "model", "true"):
        parser.add_argument(name)
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--ensemble", type=int, default=0)
    o = parser.parse_args(ours.split())
    true = load(o.true)
    (_, height, width), truth = true["u"][0], {channel: true[channel][1] for channel in "ua"}
    for task, points, noise in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            sensors, out = Path(folder) / "sensors.csv", Path(folder) / "out.npz"
            channels = "u" if task == "inverse" else "ua"
            write_sensors(sensors, truth, channels, points, noise, o.cases, height * width, width)
            command = [o.piddm, "solve", o.model, "--sensors", sensors, "--out", out, "--json", "--quiet"]
            command += (["--ensemble", str(o.ensemble)] if o.ensemble else []) + others.split()
            report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            found = judge(load(out), truth, o.ensemble, o.cases, height * width)
        print(f"{task}, {points} values, sigma {noise:.0%}: {found}, chi^2/n "
              f"{report['chi2'] / report['noisy_values']:.2f}", flush=True)


if __name__ == "__main__":
    main()
