#!/usr/bin/env python3
"""rectangle.npz: solutions and residuals on rectangles with unequal lengths, by numpy and scipy alone.

Darcy, Poisson and Helmholtz by a sparse matrix assembled entry by entry and a direct solve; Burgers and Navier-Stokes
by Fourier modes and scipy's adaptive Runge-Kutta in time. tests/pde/rectangle_test.cpp reads it."""

import numpy as np
import scipy.integrate
import scipy.sparse
import scipy.sparse.linalg

RNG = np.random.default_rng(21)


def darcy(h, w, lx, ly):
    """Finite volumes of -div(a grad u) = 1 on cells; u = 0 on the walls."""
    a = np.where(RNG.standard_normal((h, w)) > 0, 12.0, 3.0)
    matrix = scipy.sparse.lil_matrix((h * w, h * w))
    for i in range(h):
        for j in range(w):
            p = i * w + j
            for di, dj, spacing in ((-1, 0, lx / h), (1, 0, lx / h), (0, -1, ly / w), (0, 1, ly / w)):
                k, m = i + di, j + dj
                if 0 <= k < h and 0 <= m < w:
                    weight = (a[i, j] + a[k, m]) / 2 / spacing**2
                    matrix[p, k * w + m] -= weight
                else:
                    weight = 2 * a[i, j] / spacing**2
                matrix[p, p] += weight
    u = scipy.sparse.linalg.spsolve(matrix.tocsc(), np.ones(h * w)).reshape(h, w)
    guess = RNG.standard_normal((h, w))
    return {"darcy_a": a, "darcy_u": u, "darcy_guess": guess,
            "darcy_residual": 1 - (matrix @ guess.ravel()).reshape(h, w)}


def helmholtz(h, w, lx, ly, k):
    """Five-point differences of Laplace u + k^2 u = a on the inner nodes; u = 0 on the ring."""
    a = RNG.standard_normal((h, w))
    n, m, hx, hy = h - 2, w - 2, lx / (h - 1), ly / (w - 1)
    matrix = scipy.sparse.lil_matrix((n * m, n * m))
    for i in range(n):
        for j in range(m):
            p = i * m + j
            matrix[p, p] = -2 / hx**2 - 2 / hy**2 + k**2
            for di, dj, spacing in ((-1, 0, hx), (1, 0, hx), (0, -1, hy), (0, 1, hy)):
                if 0 <= i + di < n and 0 <= j + dj < m:
                    matrix[p, (i + di) * m + j + dj] = 1 / spacing**2
    u = np.zeros((h, w))
    u[1:-1, 1:-1] = scipy.sparse.linalg.spsolve(matrix.tocsc(), a[1:-1, 1:-1].ravel()).reshape(n, m)
    return {f"helmholtz{k}_a": a, f"helmholtz{k}_u": u}


def burgers(h, w, length, duration, nu, points=256):
    """u_t + (u^2/2)_x = nu u_xx, periodic in x, from a smooth state."""
    wave = 2 * np.pi / length
    x = np.arange(points) * length / points
    state = 0.3 * np.sin(wave * x) + 0.2 * np.cos(2 * wave * x + 0.5)
    k = wave * np.arange(points // 2 + 1)
    keep = np.arange(points // 2 + 1) * 3 < points

    def rate(_, u):
        return np.fft.irfft(-0.5j * k * keep * np.fft.rfft(u * u) - nu * k**2 * np.fft.rfft(u), points)

    times = np.linspace(0, duration, w)
    solved = scipy.integrate.solve_ivp(rate, (0, duration), state, "DOP853", times, rtol=1e-11, atol=1e-13)
    return {"burgers_u": solved.y[:: points // h]}


def navier_stokes(h, w, lx, ly, nu, forcing, phi, points=(64, 64)):
    """Vorticity from t = 0 to 1 on a periodic rectangle, advective form with dealiased products."""
    x = (np.arange(points[0]) * lx / points[0])[:, None]
    y = np.arange(points[1]) * ly / points[1]
    kx = 2 * np.pi / lx * np.fft.fftfreq(points[0], 1 / points[0])[:, None]
    ky = 2 * np.pi / ly * np.fft.fftfreq(points[1], 1 / points[1])
    keep = (np.abs(kx) * 3 < 2 * np.pi / lx * points[0]) & (np.abs(ky) * 3 < 2 * np.pi / ly * points[1])
    square = kx**2 + ky**2
    inverse = np.divide(1, square, out=np.zeros_like(square), where=square > 0)
    px, py = 2 * np.pi * x / lx, 2 * np.pi * y / ly
    start = np.sin(px + 2 * py + 0.3) + 0.7 * np.cos(2 * px - py) + 0.4 * np.sin(py)
    force = forcing * np.sqrt(2) * np.sin(px + py + phi)

    def field(modes):
        return np.fft.ifft2(modes * keep).real

    def rate(_, flat):
        modes = np.fft.fft2(flat.reshape(points))
        v1, v2 = field(1j * ky * inverse * modes), field(-1j * kx * inverse * modes)
        advection = v1 * field(1j * kx * modes) + v2 * field(1j * ky * modes)
        return (-np.fft.ifft2(np.fft.fft2(advection) * keep).real - nu * np.fft.ifft2(square * modes).real
                + force).ravel()

    solved = scipy.integrate.solve_ivp(rate, (0, 1), start.ravel(), "DOP853", rtol=1e-11, atol=1e-13)
    end = solved.y[:, -1].reshape(points)
    step = (points[0] // h, points[1] // w)
    return {"flow_w0": start[:: step[0], :: step[1]], "flow_w": end[:: step[0], :: step[1]]}


np.savez("rectangle.npz", **darcy(16, 20, 1.5, 0.8), **helmholtz(18, 25, 1.5, 0.8, 0), **helmholtz(18, 25, 1.5, 0.8, 3),
         **burgers(32, 20, 1.5, 0.8, 0.02), **navier_stokes(16, 32, 1.5, 0.8, 0.01, 0.2, 0.7))
