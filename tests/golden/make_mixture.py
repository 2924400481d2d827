"""Writes mixture.json: schedules, scores and posterior means of Gaussian mixtures from dense linear algebra (numpy,
scipy), and W1 distances.

Usage: python3 make_mixture.py
"""

import json
import pathlib

import numpy as np
from scipy.integrate import quad
from scipy.stats import multivariate_normal, wasserstein_distance

BETA = lambda t: 0.1 + 19.9 * t


def schedule(name, t):
    if name == "linear":
        return 1 - t, t
    b = quad(BETA, 0, t)[0]
    variance = 1 - np.exp(-b)
    return np.exp(-b / 2), np.sqrt(variance) if name == "vp" else variance


def derivatives(name, t):
    """Fourth-order central differences of the schedule."""
    h = 1e-4 * t
    at = lambda k: np.array(schedule(name, t + k * h))
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def mixtures():
    rng = np.random.default_rng(7)
    factor = rng.normal(size=(3, 3, 3))
    full = [dict(weight=w, mean=m, covariance=f @ f.T)
            for w, m, f in zip([0.2, 0.5, 0.3], rng.normal(size=(3, 3)), factor)]
    plane = rng.normal(size=(3, 2))
    degenerate = [
        dict(weight=0.6, mean=np.array([1.0, 0.0, -1.0]), covariance=np.zeros((3, 3))),
        dict(weight=0.4, mean=np.array([-1.0, 0.5, 0.0]), covariance=plane @ plane.T),
    ]
    return dict(full=full, degenerate=degenerate)


def posterior(law, x, alpha, sigma):
    joint, score = [], []
    for c in law:
        total = alpha**2 * c["covariance"] + sigma**2 * np.eye(3)
        joint.append(c["weight"] * multivariate_normal.pdf(x, alpha * c["mean"], total))
        score.append(-np.linalg.solve(total, x - alpha * c["mean"]))
    responsibility = np.array(joint) / sum(joint)
    s = responsibility @ np.array(score)
    return dict(log_density=np.log(sum(joint)), score=s, clean=(x + sigma**2 * s) / alpha)


def main():
    rng = np.random.default_rng(3)
    cases = []
    for kind, law in mixtures().items():
        for process in ("linear", "vp", "sub-vp"):
            for t in (0.2, 0.6, 0.95):
                alpha, sigma = schedule(process, t)
                d_alpha, d_sigma = derivatives(process, t)
                x = rng.normal(size=3)
                case = posterior(law, x, alpha, sigma)
                case["velocity"] = d_alpha * case["clean"] - d_sigma * sigma * case["score"]
                case.update(mixture=kind, process=process, t=t, x=x, schedule=[alpha, sigma, d_alpha, d_sigma])
                cases.append(case)
    a, b = rng.normal(size=50), 0.3 + 1.4 * rng.normal(size=50)
    distance = dict(a=a, b=b, w1=wasserstein_distance(a, b))
    out = dict(mixtures=mixtures(), cases=cases, distance=distance)
    as_list = lambda x: x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x
    path = pathlib.Path(__file__).with_name("mixture.json")
    path.write_text(json.dumps(out, default=as_list, indent=1) + "\n")


if __name__ == "__main__":
    main()
