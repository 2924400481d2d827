"""Reference solutions of the discrete Darcy problem, assembled face by face as a dense matrix and solved directly
(numpy only).

Writes darcy_12.txt: for each case, N*N coefficients and N*N solution values, one number a line, row by row.
Case 0: a in {3,12}; case 1: a continuous and rough, in (0.2, 20).
"""
import pathlib

import numpy as np

N = 12


def solve(a):
    h = 1.0 / N
    matrix = np.zeros((N * N, N * N))
    for i in range(N):
        for j in range(N):
            row = i * N + j
            for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                k, l = i + di, j + dj
                if 0 <= k < N and 0 <= l < N:
                    transmissibility = 0.5 * (a[i, j] + a[k, l]) / h**2
                    matrix[row, row] += transmissibility
                    matrix[row, k * N + l] -= transmissibility
                else:  # the wall is h/2 away, where u = 0
                    matrix[row, row] += a[i, j] / (h * (h / 2))
    return np.linalg.solve(matrix, np.ones(N * N)).reshape(N, N)


def main():
    rng = np.random.default_rng(7)
    cases = [np.where(rng.standard_normal((N, N)) >= 0, 12.0, 3.0),
             np.exp(rng.uniform(np.log(0.2), np.log(20.0), (N, N)))]
    lines = [f"{value:.17g}" for a in cases for field in (a, solve(a)) for value in field.ravel()]
    (pathlib.Path(__file__).parent / "darcy_12.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
