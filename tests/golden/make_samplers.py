"""ECI, DiffusionPDE and D-Flow on a tiny network in plain PyTorch, for tests/solve/methods/samplers_test.cpp:
python3 make_samplers.py (needs torch, numpy).

Poisson on 16x16 nodes, u = 0.5 z_u, a = 1 + 2 z_a; v(z, t) = W2 tanh(W1 z + b1 + c t) + b2 + 0.3 z with 3x3
convolutions, float64; linear process. Written from the formulas: nothing here is shared with the library.
"""
import pathlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
N, B, STEPS = 16, 2, 6
W1, b1, c = torch.randn(6, 2, 3, 3) * 0.2, torch.randn(6) * 0.1, torch.randn(6) * 0.3
W2, b2 = torch.randn(2, 6, 3, 3) * 0.2, torch.randn(2) * 0.1
noise, redraws = torch.randn(B, 2, N, N), torch.randn(8, B, 2, N, N)
values = torch.round(torch.randn(B, 2, N, N) * 64) / 64  # physical units, exact in float32
mask = (torch.rand(B, 2, N, N) < 0.3).double()
SHIFT, SCALE = torch.tensor([0.0, 1.0]).view(2, 1, 1), torch.tensor([0.5, 2.0]).view(2, 1, 1)
known = (values - SHIFT) / SCALE


def v(z, t):
    hidden = torch.tanh(torch.nn.functional.conv2d(z, W1, b1, padding=1) + (c * t).view(-1, 1, 1))
    return torch.nn.functional.conv2d(hidden, W2, b2, padding=1) + 0.3 * z


def impose_ring(z):
    z = z.clone()
    z[:, 0, 0] = z[:, 0, -1] = 0
    z[:, 0, :, 0] = z[:, 0, :, -1] = 0
    return z


def squared_residual(z):
    """Mean over the inner nodes of (h^2 (Laplace u - a))^2, one number a sample."""
    x = SHIFT + SCALE * z
    u, a, h = x[:, 0], x[:, 1], 1 / (N - 1)
    laplace = u[:, :-2, 1:-1] + u[:, 2:, 1:-1] + u[:, 1:-1, :-2] + u[:, 1:-1, 2:] - 4 * u[:, 1:-1, 1:-1]
    return ((laplace - h * h * a[:, 1:-1, 1:-1]) ** 2).mean((1, 2))


def eci(kind, mixing, every=0, observed=True):
    x, e, count = noise, noise, 0
    for k in range(STEPS):
        t, s = 1 - k / STEPS, 1 - (k + 1) / STEPS
        for m in range(mixing):
            velocity = v(x, t)
            estimate = x - t * velocity
            clean = impose_ring(estimate)
            if observed:
                clean = torch.where(mask > 0, known, clean)
            count += 1
            if kind == "ddim":
                e = estimate + (x - estimate) / t
            if kind == "resample" and count % every == 0:
                e = redraws[count // every - 1]
            time = s if m == mixing - 1 else t
            x = (1 - time) * clean + time * e
    return clean


def diffusionpde(zeta, eta, norm=False, heun=False, switch=0.0, late=1.0, hard=True):
    x, dt = noise, 1 / STEPS
    for k in range(STEPS):
        t = 1 - k / STEPS
        z = x.detach().requires_grad_(True)
        first = v(z, t)
        following, clean = z - dt * first, z - t * first
        if heun and k < STEPS - 1:
            second = v(following, t - dt)
            clean = following - (t - dt) * second
            following = z - dt / 2 * (first + second)
        active = k >= switch * STEPS
        loss = zeta * (late if active else 1) * (mask * (clean - known) ** 2).sum((1, 2, 3)).sqrt()
        if active:
            r = squared_residual(clean)
            loss = loss + eta * (r.sqrt() if norm else r)
        x = (following - torch.autograd.grad(loss.sum(), z)[0]).detach()
    return torch.where(mask > 0, known, x) if hard else x


def dflow_objective(lam):
    z = noise.clone().requires_grad_(True)
    x = z
    for k in range(STEPS):
        x = x - v(x, 1 - k / STEPS) / STEPS
    misfit = (mask * (x - known) ** 2).sum((1, 2, 3)) / mask.sum((1, 2, 3))
    value = misfit + lam * squared_residual(torch.where(mask > 0, known, x))
    return value.detach(), torch.autograd.grad(value.sum(), z)[0]


def physical(z):
    return SHIFT + SCALE * z


value, gradient = dflow_objective(5.0)
out = dict(
    W1=W1, b1=b1, c=c, W2=W2, b2=b2, noise=noise, redraws=redraws, values=values, mask=mask,
    eci_fixed=physical(eci("fixed", 2)), eci_resample=physical(eci("resample", 2, every=3)),
    eci_ddim=physical(eci("ddim", 1, observed=False)),
    diffusionpde_paper=physical(diffusionpde(1.0, 10.0)),
    diffusionpde_upstream=physical(diffusionpde(2.0, 3.0, norm=True, heun=True, switch=0.5, late=0.1, hard=False)),
    dflow_value=value, dflow_gradient=gradient)
np.savez_compressed(pathlib.Path(__file__).with_name("samplers.npz"), **{k: x.numpy() for k, x in out.items()})
