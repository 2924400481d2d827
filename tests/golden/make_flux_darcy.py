"""Residuals and solution of Darcy flow in first-order form (tests/flux_darcy.h), cell by cell with plain loops; the
solution by Gaussian elimination of all 3 N^2 equations for p, qx and qy at once. Python only.

Writes flux_darcy_6.txt, one number a line, fields row by row: p, qx, qy, a of a random sample; its residuals flux_x,
flux_y, mass and boundary; p, qx, qy of the solution for that a.
"""
import pathlib
import random

N = 6
H = 1.0 / N
CELLS = [(i, j) for i in range(N) for j in range(N)]


def flux_x(p, a, i, j):
    """Through the face between (i, j) and (i + 1, j); the faces -1 and N - 1 are walls, where p = 0."""
    if i == -1:
        return -a[0, j] * (p[0, j] - 0.0) / (H / 2)
    if i == N - 1:
        return -a[i, j] * (0.0 - p[i, j]) / (H / 2)
    return -(a[i, j] + a[i + 1, j]) / 2 * (p[i + 1, j] - p[i, j]) / H


def turned(f):
    return {(j, i): value for (i, j), value in f.items()}


def flux_y(p, a, i, j):
    return flux_x(turned(p), turned(a), j, i)


def residuals(p, qx, qy, a):
    along_x = [qx[i, j] - flux_x(p, a, i, j) for i, j in CELLS if i < N - 1]
    along_y = [qy[i, j] - flux_y(p, a, i, j) for i, j in CELLS if j < N - 1]
    mass = []
    for i, j in CELLS:
        left = qx[i - 1, j] if i > 0 else flux_x(p, a, -1, j)
        below = qy[i, j - 1] if j > 0 else flux_y(p, a, i, -1)
        mass.append((qx[i, j] - left + qy[i, j] - below) / H - 1)
    walls = [p[N - 1, j] - qx[N - 1, j] * (H / 2) / a[N - 1, j] for j in range(N)]
    walls += [p[i, N - 1] - qy[i, N - 1] * (H / 2) / a[i, N - 1] for i in range(N)]
    return along_x + along_y + mass + walls


def fields_of(values):
    return [dict(zip(CELLS, values[k * N * N:(k + 1) * N * N])) for k in range(3)]


def solve(a):
    """The residuals are affine in (p, qx, qy): their columns are found by unit vectors, then eliminated."""
    size = 3 * N * N
    right = [-r for r in residuals(*fields_of([0.0] * size), a)]
    columns = []
    for k in range(size):
        unit = [0.0] * size
        unit[k] = 1.0
        columns.append([r + b for r, b in zip(residuals(*fields_of(unit), a), right)])
    rows = [[columns[k][i] for k in range(size)] + [right[i]] for i in range(size)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    x = [0.0] * size
    for k in reversed(range(size)):
        x[k] = (rows[k][size] - sum(rows[k][m] * x[m] for m in range(k + 1, size))) / rows[k][k]
    return x


def main():
    random.seed(7)
    sample = [random.gauss(0, 1) for _ in range(3 * N * N)]
    coefficients = [random.choice((3.0, 12.0)) for _ in CELLS]
    a = dict(zip(CELLS, coefficients))
    values = sample + coefficients + residuals(*fields_of(sample), a) + solve(a)
    path = pathlib.Path(__file__).parent / "flux_darcy_6.txt"
    path.write_text("".join(f"{value:.17g}\n" for value in values))


if __name__ == "__main__":
    main()
