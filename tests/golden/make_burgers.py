"""Burgers' equation by the Cole-Hopf formula, integrated by quadrature in x (numpy only; no Fourier transform, no time
stepping).

    u(x,t) = int (x-y)/t q(y) G(x-y,t) dy / int q(y) G(x-y,t) dy,
    q = exp(-1/(2 nu) int_0^y a),   G = exp(-(x-y)^2/(4 nu t))

Writes burgers_16.txt: a at x_j = j/16 (16 numbers), then u(x_j, t_n), t_n = n/15, row by row; one number a line.
"""
import pathlib

import numpy as np

N, NU = 16, 0.01
WAVES = [(1, 0.31, -0.22), (2, -0.12, 0.17), (3, 0.05, 0.08), (6, -0.02, 0.01)]  # k, cosine, sine


def state(x):
    return sum(c * np.cos(2 * np.pi * k * x) + s * np.sin(2 * np.pi * k * x) for k, c, s in WAVES)


def potential(y):
    return sum((c * np.sin(2 * np.pi * k * y) - s * np.cos(2 * np.pi * k * y)) / (2 * np.pi * k) for k, c, s in WAVES)


def solution(x, t):
    y = np.linspace(x - 3, x + 3, 60001)  # G falls below exp(-225) at the ends
    weight = np.exp(-potential(y) / (2 * NU) - (x - y) ** 2 / (4 * NU * t))
    return np.sum((x - y) / t * weight) / np.sum(weight)


def main():
    x = np.arange(N) / N
    u = [[state(xj) if n == 0 else solution(xj, n / (N - 1)) for n in range(N)] for xj in x]
    values = np.concatenate([state(x), np.ravel(u)])
    (pathlib.Path(__file__).parent / "burgers_16.txt").write_text("\n".join(f"{v:.17g}" for v in values) + "\n")


if __name__ == "__main__":
    main()
