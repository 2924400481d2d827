#!/usr/bin/env python3
"""pde_text.npz: solutions of seven PDEs by numpy and scipy alone, their schemes written out by hand.

Steady problems by Newton's method with a sparse Jacobian, those in time by implicit Euler and BDF2 or by Newmark's
scheme with dense matrices; Fisher's equation also in continuous time by scipy's Radau method.
tests/pde/text/golden_test.cpp reads it. Needs python3-scipy (1.10)."""

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

RNG = np.random.default_rng(24)
OUT = {}


def smooth(*shape):
    """A random field of a few waves, about 1 in size."""
    grids = np.meshgrid(*[(np.arange(n) + 0.5) / n for n in shape], indexing="ij")
    field = np.zeros(shape)
    for _ in range(6):
        wave = RNG.normal() * np.ones(shape)
        for g in grids:
            wave = wave * np.cos(np.pi * RNG.integers(0, 4) * g)
        field += wave / 2
    return field


def ring(*shape):
    """The same on a ring."""
    grids = np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij")
    field = np.zeros(shape)
    for _ in range(6):
        phase = sum(2 * np.pi * RNG.integers(-2, 3) * g for g in grids)
        field += 0.5 * RNG.normal() * np.cos(phase + RNG.uniform(0, 6))
    return field


def newton(residual, jacobian, u):
    """u of residual(u) = 0 to round-off; dense or sparse."""
    for _ in range(100):
        j = jacobian(u)
        step = scipy.sparse.linalg.spsolve(j.tocsc(), residual(u)) if scipy.sparse.issparse(j) else np.linalg.solve(
            j, residual(u))
        u = u - step
        if np.linalg.norm(step) < 1e-14 * (1 + np.linalg.norm(u)):
            return u
    raise RuntimeError("no convergence")


def bdf2(f, jacobian, u0, dt, steps):
    """u' = f(u): one step of implicit Euler, then BDF2."""
    identity = np.eye(u0.size)
    levels = [u0]
    for n in range(1, steps + 1):
        if n == 1:
            lead, past = 1.0, levels[0]
        else:
            lead, past = 1.5, 2 * levels[-1] - 0.5 * levels[-2]
        levels.append(newton(lambda u: (lead * u - past) / dt - f(u), lambda u: lead / dt * identity - jacobian(u),
                             levels[-1]))
    return np.stack(levels)


def neumann_matrix(n, h):
    """u_xx on cells without flux through the walls."""
    m = (np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1) - 2 * np.eye(n)) / h**2
    m[0, 0] = m[-1, -1] = -1 / h**2
    return m


def ring_matrix(n, h):
    return (np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0) - 2 * np.eye(n)) / h**2


def fisher(n=24, steps=24, length=2.0, duration=1.0):
    """u_t = D u_xx + r u (1 - u)."""
    u0, d, r = 0.5 + 0.5 * np.tanh(smooth(n)), 0.007, 3.5
    lap = neumann_matrix(n, length / n)
    f = lambda u: d * lap @ u + r * u * (1 - u)
    jacobian = lambda u: d * lap + np.diag(r * (1 - 2 * u))
    u = bdf2(f, jacobian, u0, duration / steps, steps)
    exact = scipy.integrate.solve_ivp(lambda t, v: f(v), (0, duration), u0, "Radau", jac=lambda t, v: jacobian(v),
                                      rtol=1e-12, atol=1e-13)
    OUT.update({"fisher.u0": u0, "fisher.D": d, "fisher.r": r, "fisher.u": u, "fisher.in_time": exact.y[:, -1]})


def nonlinear_poisson(n=17):
    """-div((1 + u^2) grad u) = a on nodes, u = 0 on the walls."""
    a, h = 100 * smooth(n, n), 1 / (n - 1)
    inner = np.arange(n * n).reshape(n, n)[1:-1, 1:-1]

    def fluxes(u):
        """Of every face: its two nodes, flux times h, derivatives by the first and the second node."""
        nodes = np.arange(n * n).reshape(n, n)
        for low, high in ((nodes[:-1, :], nodes[1:, :]), (nodes[:, :-1], nodes[:, 1:])):
            low, high = low.ravel(), high.ravel()
            mean, step = (u[low] + u[high]) / 2, u[high] - u[low]
            yield low, high, (1 + mean**2) * step, mean * step - (1 + mean**2), mean * step + (1 + mean**2)

    def residual(u):
        r = np.zeros(n * n)
        for low, high, flux, _, _ in fluxes(u):
            np.add.at(r, low, -flux / h**2)
            np.add.at(r, high, flux / h**2)
        out = u.copy()
        out[inner] = r[inner] - a.ravel()[inner]
        return out

    def jacobian(u):
        rows, columns, values = [], [], []
        for low, high, _, by_low, by_high in fluxes(u):
            for row, sign in ((low, -1), (high, 1)):
                rows += [row, row]
                columns += [low, high]
                values += [sign * by_low / h**2, sign * by_high / h**2]
        m = scipy.sparse.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
                                    (n * n, n * n)).tolil()
        edge = np.setdiff1d(np.arange(n * n), inner)
        m[edge, :] = 0
        m[edge, edge] = 1
        return m

    u = newton(residual, jacobian, np.zeros(n * n))
    assert np.abs(residual(u)).max() < 1e-9
    OUT.update({"nonlinear_poisson.a": a, "nonlinear_poisson.u": u.reshape(n, n)})


def wave(n=25, steps=20, length=1.0, duration=1.0):
    """u_tt = (c^2 u_x)_x on nodes, u = 0 at x = 0, u_x = 0 at x = 1, by Newmark's scheme, means of 1/4, 1/2, 1/4."""
    c = np.exp(0.5 * smooth(n))
    x = np.linspace(0, length, n)
    u0 = np.sin(np.pi * x / 2) * (1 + 0.3 * np.cos(5 * x))
    u0[0] = 0
    h, dt = length / (n - 1), duration / steps
    k = ((c[1:] + c[:-1]) / 2)**2
    m = np.zeros((n, n))
    for i in range(1, n - 1):
        m[i, i - 1:i + 2] = np.array([k[i - 1], -k[i - 1] - k[i], k[i]]) / h**2
    m[-1, -2:] = np.array([k[-1], -k[-1]]) * 2 / h**2  # half a cell, no flux through the wall
    free = slice(1, n)
    m = m[free, free]
    identity = np.eye(n - 1)
    left = identity / dt**2 - m / 4
    levels = [u0[free]]
    # u_{-1} = u_1 - 2 dt u'(0), at rest
    levels.append(np.linalg.solve(2 * left, (2 * identity / dt**2 + m / 2) @ levels[0]))
    for _ in range(steps - 1):
        levels.append(np.linalg.solve(left, (2 * identity / dt**2 + m / 2) @ levels[-1] - left @ levels[-2]))
    u = np.pad(np.stack(levels), ((0, 0), (1, 0)))
    OUT.update({"wave.c": c, "wave.u0": u0, "wave.u": u})


def at_wall(first, second):
    """Extrapolated from two cells, by a factor of 2 at most."""
    far, half, twice = 1.5 * first - 0.5 * second, 0.5 * first, 2 * first
    return np.clip(far, np.minimum(half, twice), np.maximum(half, twice))


def darcy_robin(n=12):
    """-div(a grad u) = 1, harmonic means of a on faces, a dn(u) + 20 u = 0 on the walls."""
    a, h = np.where(smooth(n, n) > 0, 12.0, 3.0), 1 / n
    matrix = scipy.sparse.lil_matrix((n * n, n * n))
    for i in range(n):
        for j in range(n):
            p = i * n + j
            for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                k, m = i + di, j + dj
                if 0 <= k < n and 0 <= m < n:
                    weight = 2 * a[i, j] * a[k, m] / (a[i, j] + a[k, m]) / h**2
                    matrix[p, k * n + m] -= weight
                else:
                    wall = at_wall(a[i, j], a[i - di, j - dj])
                    weight = wall * 20 / (wall + 20 * h / 2) / h  # outward flux -a dn(u) = weight h u
                matrix[p, p] += weight
    u = scipy.sparse.linalg.spsolve(matrix.tocsc(), np.ones(n * n)).reshape(n, n)
    OUT.update({"darcy_robin.a": a, "darcy_robin.u": u})


def gray_scott(n=32, steps=16, duration=40.0):
    v0, feed = 0.15 * (1 + np.tanh(ring(n))), 0.04
    du, dv, kill = 1.6e-4, 8e-5, 0.06
    lap = ring_matrix(n, 1 / n)

    def f(w):
        u, v = np.split(w, 2)
        return np.concatenate([du * lap @ u - u * v**2 + feed * (1 - u), dv * lap @ v + u * v**2 - (feed + kill) * v])

    def jacobian(w):
        u, v = np.split(w, 2)
        return np.block([[du * lap - np.diag(v**2 + feed), -np.diag(2 * u * v)],
                         [np.diag(v**2), dv * lap + np.diag(2 * u * v - feed - kill)]])

    w = bdf2(f, jacobian, np.concatenate([1 - 2 * v0, v0]), duration / steps, steps)
    OUT.update({"gray_scott.v0": v0, "gray_scott.F": feed, "gray_scott.u": w[:, :n], "gray_scott.v": w[:, n:]})


def allen_cahn(n=16, steps=4, duration=2.0, eps=0.05):
    u0 = np.tanh(2 * ring(n, n))
    one = ring_matrix(n, 1 / n)
    lap = np.kron(one, np.eye(n)) + np.kron(np.eye(n), one)
    f = lambda u: eps**2 * lap @ u + u - u**3
    jacobian = lambda u: eps**2 * lap + np.diag(1 - 3 * u**2)
    u = bdf2(f, jacobian, u0.ravel(), duration / steps, steps)
    OUT.update({"allen_cahn.u0": u0, "allen_cahn.u": u.reshape(-1, n, n)})


def advection_diffusion(n=16):
    """psi_y u_x - psi_x u_y = D lap u; u = 1 at x = 0, u_x + 2 u = 0 at x = 1, no flux along y. Central differences."""
    psi, d, h = 0.5 * smooth(n, n), 0.08, 1 / n

    def difference(field, low, high):
        """Along the first axis, walls with the values `low` and `high`."""
        faces = np.concatenate([low[None], (field[1:] + field[:-1]) / 2, high[None]])
        return (faces[1:] - faces[:-1]) / h

    psi_x = difference(psi, psi[0], at_wall(psi[-1], psi[-2]))  # the nearest cell's where u itself is given
    psi_y = difference(psi.T, at_wall(psi[:, 0], psi[:, 1]), at_wall(psi[:, -1], psi[:, -2])).T

    def residual(u):
        slope = -2 * u[-1] / (1 + h)  # dn(u) + 2 (u + h/2 dn(u)) = 0
        u_x = difference(u, np.ones(n), u[-1] + h / 2 * slope)
        u_y = difference(u.T, u[:, 0], u[:, -1]).T
        flux_x = np.concatenate([(u[:1] - 1) / (h / 2), (u[1:] - u[:-1]) / h, slope[None]])
        flux_y = np.pad((u[:, 1:] - u[:, :-1]) / h, ((0, 0), (1, 1)))
        lap = (flux_x[1:] - flux_x[:-1]) / h + (flux_y[:, 1:] - flux_y[:, :-1]) / h
        return psi_y * u_x - psi_x * u_y - d * lap

    zero = residual(np.zeros((n, n)))
    columns = [(residual(e.reshape(n, n)) - zero).ravel() for e in np.eye(n * n)]
    u = np.linalg.solve(np.stack(columns, 1), -zero.ravel()).reshape(n, n)
    OUT.update({"advection_diffusion.psi": psi, "advection_diffusion.D": d, "advection_diffusion.u": u})


for make in (fisher, nonlinear_poisson, wave, darcy_robin, gray_scott, allen_cahn, advection_diffusion):
    make()
np.savez_compressed("pde_text.npz", **{name: np.asarray(value, dtype=np.float64) for name, value in OUT.items()})
