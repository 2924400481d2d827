"""Reference solutions of the discrete Poisson and Helmholtz problems, assembled as sparse matrices and solved directly
(scipy).

Writes poisson_17.txt: for each case, N*N values of a and N*N values of u, one number a line, row by row.
Cases: k = 0 (Poisson), 1 and 12.5 (beyond the lowest eigenvalues).
"""
import pathlib

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

N = 17
WAVE_NUMBERS = (0.0, 1.0, 12.5)


def solve(a, k):
    """Five-point Laplacian plus k^2 at the inner nodes, identity rows u = 0 on the ring."""
    h = 1.0 / (N - 1)
    second = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(N, N)) / h**2
    identity = sparse.identity(N)
    laplacian = sparse.kron(second, identity) + sparse.kron(identity, second)
    matrix = sparse.lil_matrix(laplacian + k**2 * sparse.identity(N * N))
    right = a.ravel().copy()
    for i in range(N):
        for j in range(N):
            if i in (0, N - 1) or j in (0, N - 1):
                row = i * N + j
                matrix[row, :] = 0
                matrix[row, row] = 1
                right[row] = 0
    return spsolve(sparse.csc_matrix(matrix), right).reshape(N, N)


def main():
    rng = np.random.default_rng(11)
    lines = []
    for k in WAVE_NUMBERS:
        a = rng.standard_normal((N, N))
        lines += [f"{value:.17g}" for field in (a, solve(a, k)) for value in field.ravel()]
    (pathlib.Path(__file__).parent / "poisson_17.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
