"""Closed-form solutions and discrete residuals of Stokes, Heat, PME and Stefan by numpy and scipy: closed_forms.npz.

For each PDE P on an N x N grid: P.scalar [S], P.field [S,N,N] (the exact solution), P.noisy [S,N,N] (the field with
noise and, for Stefan and PME, negative values), P.noisy_scalar [S,N,N] (a channel that is not constant), and of the
noisy sample, point by point with plain loops: P.interior, P.boundary, P.smooth. stefan.u_star and stefan.z hold the
front's root over its whole range.
"""
import pathlib

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf

N = 17
SCALARS = {"stokes": [2.0, 4.7, 8.0], "heat": [0.0, 1.3, 3.1], "pme": [1.0, 2.5, 5.0], "stefan": [0.55, 0.61, 0.7]}


def stefan_root(u_star):
    return brentq(lambda z: u_star * erf(z) * z * np.exp(z * z) - (1 - u_star) / np.sqrt(np.pi), 0, 10,
                  xtol=1e-300, rtol=1e-15)


def nodes(name):
    x = 2 * np.pi * np.arange(N) / N if name == "heat" else np.linspace(0, 1, N)
    return x, np.linspace(0, 0.1 if name == "stefan" else 1, N)


def exact(name, s):
    x, t = nodes(name)
    x, t = x[:, None], t[None, :]
    if name == "stokes":
        return 2 * np.exp(-5 * x) * np.cos(5 * x - s * t)
    if name == "heat":
        return np.exp(-3 * t) * np.sin(x + s)
    if name == "pme":
        return (s * np.maximum(t - x, 0)) ** (1 / s)
    z = stefan_root(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(x <= 2 * z * np.sqrt(t), 1 - (1 - s) * erf(x / (2 * np.sqrt(t))) / erf(z), 0)
    u[0, :] = 1
    return u


def diffused(name, u, s):
    """(factor, f) of the term factor * f_xx."""
    if name == "stokes":
        return s / 50, u
    if name == "heat":
        return 3.0, u
    if name == "pme":
        return 1.0, np.maximum(u, 0) ** (s + 1) / (s + 1)
    return 1.0, np.maximum(u - s, 0)


def interior(name, u, s):
    x, t = nodes(name)
    dx, dt = x[1] - x[0], t[1] - t[0]
    factor, f = diffused(name, u, s)
    rows = range(N) if name == "heat" else range(1, N - 1)
    r = np.zeros((len(rows), N - 2))
    for a, i in enumerate(rows):
        for n in range(1, N - 1):
            f_xx = (f[(i + 1) % N, n] - 2 * f[i, n] + f[i - 1, n]) / dx**2
            r[a, n - 1] = (u[i, n + 1] - u[i, n - 1]) / (2 * dt) - factor * f_xx
    return r


def boundary(name, u, s):
    x, t = nodes(name)
    if name == "stokes":
        return np.concatenate([u[:, 0] - 2 * np.exp(-5 * x) * np.cos(5 * x), u[0, :] - 2 * np.cos(s * t)])
    if name == "heat":
        return u[:, 0] - np.sin(x + s)
    if name == "pme":
        return np.concatenate([u[:, 0], u[0, 1:] - (s * t[1:]) ** (1 / s), u[-1, :]])
    return np.concatenate([u[1:, 0], u[0, :] - 1, u[-1, :]])


def smooth(name, u, s):
    mask = np.zeros((N - 2, N - 2), bool)
    for i in range(1, N - 1):
        for n in range(1, N - 1):
            wet = u[i - 1:i + 2, n - 1:n + 2] > (0 if name == "pme" else s)
            mask[i - 1, n - 1] = wet.all() or (name == "stefan" and not wet.any())
            mask[i - 1, n - 1] &= name == "pme" or n > 5
    return mask


def main():
    rng = np.random.default_rng(3)
    out = {}
    for name, scalars in SCALARS.items():
        fields = np.stack([exact(name, s) for s in scalars])
        noisy = fields + 0.05 * rng.standard_normal(fields.shape)
        channel = np.array(scalars)[:, None, None] * (1 + 0.02 * rng.standard_normal(fields.shape))
        pairs = [(u, a.mean()) for u, a in zip(noisy, channel)]
        out[f"{name}.scalar"], out[f"{name}.field"] = np.array(scalars), fields
        out[f"{name}.noisy"], out[f"{name}.noisy_scalar"] = noisy, channel
        out[f"{name}.interior"] = np.stack([interior(name, u, s) for u, s in pairs])
        out[f"{name}.boundary"] = np.stack([boundary(name, u, s) for u, s in pairs])
        if name in ("pme", "stefan"):
            out[f"{name}.smooth"] = np.stack([smooth(name, u, s) for u, s in pairs])
    out["stefan.u_star"] = np.concatenate([np.linspace(0.05, 0.99, 48), [1e-6, 0.999999]])
    out["stefan.z"] = np.array([stefan_root(s) for s in out["stefan.u_star"]])
    np.savez(pathlib.Path(__file__).parent / "closed_forms.npz", **out)


if __name__ == "__main__":
    main()
