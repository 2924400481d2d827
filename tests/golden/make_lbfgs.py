"""Minima found by scipy's L-BFGS-B, for tests/numerics/lbfgs_test.cpp: python3 make_lbfgs.py > lbfgs.json (needs
scipy).

logcosh: f(x) = sum_i log cosh((A x)_i - b_i) + 0.005 |x|^2, A_ij = sin(1 + i j), b_i = 3 cos(i), i < 30, j < 12,
started at x_j = (-1)^j k, k = 1..4.
rosenbrock: sum_i 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2 in 20 dimensions, started at x_j = cos(j + k), k = 1..4.
"""
import json

import numpy as np
import scipy
from scipy.optimize import minimize, rosen, rosen_der

i, j = np.arange(30), np.arange(12)
a, b = np.sin(1 + np.outer(i, j)), 3 * np.cos(i)


def logcosh(x):
    r = a @ x - b
    return np.sum(np.logaddexp(r, -r) - np.log(2)) + 0.005 * x @ x, a.T @ np.tanh(r) + 0.01 * x


def solve(f, x0):
    r = minimize(f, x0, jac=True, method="L-BFGS-B", options=dict(maxcor=10, ftol=0, gtol=1e-9, maxiter=2000))
    return dict(value=r.fun, x=r.x.tolist(), evaluations=r.nfev)


print(json.dumps(dict(
    scipy=scipy.__version__,
    logcosh=[solve(logcosh, (-1.0) ** j * k) for k in range(1, 5)],
    rosenbrock=[solve(lambda x: (rosen(x), rosen_der(x)), np.cos(np.arange(20) + k)) for k in range(1, 5)],
), indent=1))
