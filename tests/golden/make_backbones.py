"""U-Net, auto-encoder, factorised FNO and MLP in float64, from explicit formulas: backbone_NAME.safetensors for
tests/model.

    python3 make_backbones.py
"""
import math
import os

import torch
import torch.nn.functional as F

from make_core_formats import safetensors_bytes
from make_fno import entry

CHANNELS, BATCH = 2, 2


class Weights(dict):
    """Drawn when first asked for: N(mean, 1/fan-in), nothing zero."""

    def __call__(self, name, *shape, mean=0.0):
        if name not in self:
            fan_in = max(1, math.prod(shape[1:]))
            self[name] = (torch.randn(*shape) * 0.8 / math.sqrt(fan_in) + mean).float().double()
        return self[name]


def conv(w, name, x, out, size=3):
    return F.conv2d(F.pad(x, [size // 2] * 4), w(name + "_weight", out, x.shape[1], size, size), w(name + "_bias", out))


def norm(w, name, x, groups):
    groups = math.gcd(groups, x.shape[1])
    parts = []
    for part in x.chunk(groups, 1):
        mean = part.mean((1, 2, 3), keepdim=True)
        variance = ((part - mean) ** 2).mean((1, 2, 3), keepdim=True)
        parts.append((part - mean) / torch.sqrt(variance + 1e-5))
    scale, shift = w(name + "_scale", x.shape[1], mean=1.0), w(name + "_shift", x.shape[1])
    return torch.cat(parts, 1) * scale[:, None, None] + shift[:, None, None]


def silu(x):
    return x / (1 + torch.exp(-x))


def encoding(t, features):
    n = features // 2
    phases = torch.stack([2000 * t * 2000 ** (-i / (n - 1)) for i in range(n)], 1)
    return torch.cat([phases.sin(), phases.cos()], 1)


def linear(w, name, x, out):
    return x @ w(name + "_weight", out, x.shape[1]).T + w(name + "_bias", out)


def embedding(w, t, o):
    hidden = silu(linear(w, "time1", encoding(t, o["time_features"]), 4 * o["width"]))
    return silu(linear(w, "time2", hidden, 4 * o["width"]))


def block(w, name, x, e, out, o):
    h = conv(w, name + "_conv1", silu(norm(w, name + "_norm1", x, o["groups"])), out)
    h = h + linear(w, name + "_time", e, out)[:, :, None, None]
    h = conv(w, name + "_conv2", silu(norm(w, name + "_norm2", h, o["groups"])), out)
    return h + (x if x.shape[1] == out else conv(w, name + "_shortcut", x, out, 1))


def attention(w, name, x, o):
    batch, channels, height, width = x.shape
    d = o["head_width"] if channels % o["head_width"] == 0 else channels
    q, k, v = conv(w, name + "_qkv", norm(w, name + "_norm", x, o["groups"]), 3 * channels, 1).flatten(2).chunk(3, 1)
    heads = []
    for at in range(0, channels, d):
        score = torch.einsum("bcp,bcq->bpq", q[:, at:at + d], k[:, at:at + d]) / math.sqrt(d)
        heads.append(torch.einsum("bpq,bcq->bcp", torch.softmax(score, 2), v[:, at:at + d]))
    return x + conv(w, name + "_out", torch.cat(heads, 1).view(x.shape), channels, 1)


def halved(w, name, x):
    return conv(w, name, x, x.shape[1])[:, :, ::2, ::2]


def doubled(x, like):
    return F.interpolate(x, scale_factor=2, mode="nearest")[:, :, :like.shape[2], :like.shape[3]]


def unet(w, x, t, o):
    e, levels = embedding(w, t, o), len(o["multipliers"])
    widths = [m * o["width"] for m in o["multipliers"]]

    def step(name, h, depth):
        h = block(w, name, h, e, widths[depth], o)
        return attention(w, name + "_attention", h, o) if depth >= levels - o["attention"] else h

    h = conv(w, "in", x, o["width"])
    skips = [h]
    for depth in range(levels):
        for i in range(o["blocks"]):
            h = step(f"down_{depth}_{i}", h, depth)
            skips.append(h)
        if depth < levels - 1:
            h = halved(w, f"down_{depth}_change", h)
            skips.append(h)
    h = block(w, "middle1", h, e, widths[-1], o)
    h = block(w, "middle2", attention(w, "attention", h, o), e, widths[-1], o)
    for depth in reversed(range(levels)):
        for i in range(o["blocks"] + 1):
            h = step(f"up_{depth}_{i}", torch.cat([h, skips.pop()], 1), depth)
        if depth > 0:
            h = conv(w, f"up_{depth}_change", doubled(h, skips[-1]), widths[depth])
    return conv(w, "out", silu(norm(w, "out_norm", h, o["groups"])), CHANNELS)


def autoencoder(w, x, t, o):
    e, widths, fine = embedding(w, t, o), [m * o["width"] for m in o["multipliers"]], []
    h = conv(w, "in", x, o["width"])
    for depth, width in enumerate(widths):
        for i in range(o["blocks"]):
            h = block(w, f"encoder_{depth}_{i}", h, e, width, o)
        if depth < len(widths) - 1:
            fine.append(h)
            h = halved(w, f"encoder_{depth}_change", h)
    for name in ("middle1", "middle2"):
        h = block(w, name, h, e, widths[-1], o)
    for depth in reversed(range(len(widths))):
        for i in range(o["blocks"]):
            h = block(w, f"decoder_{depth}_{i}", h, e, widths[depth], o)
        if depth > 0:
            h = conv(w, f"decoder_{depth}_change", doubled(h, fine.pop()), widths[depth])
    return conv(w, "out", silu(norm(w, "out_norm", h, o["groups"])), CHANNELS)


def gelu(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def pointwise(w, name, x, hidden, out):
    def one_by_one(part, value, width):
        product = torch.einsum("oi,bihw->bohw", w(f"{name}{part}_weight", width, value.shape[1]), value)
        return product + w(f"{name}{part}_bias", width)[:, None, None]

    return one_by_one(2, gelu(one_by_one(1, x, hidden)), out)


def spectral(w, name, x, modes, axis):
    """Real FFT along one axis, modes 0..m/2 mixed, the others zero."""
    x = x.movedim(axis, -1)
    modes_in = torch.fft.rfft(x)
    weight = w(name, modes // 2 + 1, 2, x.shape[1], x.shape[1])
    kept = min(modes // 2 + 1, modes_in.shape[-1])
    mixed = torch.zeros_like(modes_in)
    for k in range(kept):
        mixed[..., k] = torch.einsum("oi,bir->bor", torch.complex(weight[k, 0], weight[k, 1]), modes_in[..., k])
    return torch.fft.irfft(mixed, n=x.shape[-1]).movedim(-1, axis)


def ffno(w, x, t, o):
    batch, _, height, width = x.shape
    row = ((torch.arange(height).double() + 0.5) / height)[:, None].expand(height, width)
    column = ((torch.arange(width).double() + 0.5) / width)[None, :].expand(height, width)
    coordinates = torch.stack([row, column])[None].expand(batch, 2, height, width)
    time = encoding(t, o["time_features"])[:, :, None, None].expand(batch, o["time_features"], height, width)
    h = pointwise(w, "lift", torch.cat([x, coordinates, time], 1), o["lifting"], o["width"])
    for i in range(o["layers"]):
        k = spectral(w, f"layers_{i}_along_x", h, o["modes"][0], 2)
        k = k + spectral(w, f"layers_{i}_along_y", h, o["modes"][1], 3)
        h = h + pointwise(w, f"layers_{i}_", k, o["hidden"], o["width"])
    return pointwise(w, "project", h, o["projection"], CHANNELS)


def mlp(w, x, t, o):
    h = torch.cat([x.flatten(1), t[:, None]], 1)
    for i in range(o["layers"] + 1):
        out = x[0].numel() if i == o["layers"] else o["width"]
        h = h @ w(f"weight{i}", out, h.shape[1]).T + w(f"bias{i}", out)
        h = h.clamp(min=0) if i < o["layers"] else h
    return h.view(x.shape)


NETWORKS = {  # sizes as in tests/model/backbone_test.cpp
    "unet": (unet, {"width": 4, "multipliers": (1, 2, 3), "blocks": 1, "attention": 2, "head_width": 4, "groups": 2,
                    "time_features": 8},
             ((8, 8), (9, 7))),
    "autoencoder": (autoencoder, {"width": 4, "multipliers": (1, 2, 3), "blocks": 2, "groups": 2, "time_features": 8},
                    ((8, 8), (9, 7))),
    "ffno": (ffno, {"modes": (6, 4), "width": 5, "layers": 3, "hidden": 7, "lifting": 8, "projection": 6,
                    "time_features": 8},
             ((12, 10), (9, 7), (4, 3))),
    "mlp": (mlp, {"width": 9, "layers": 2}, ((4, 3),)),
}


if __name__ == "__main__":
    folder = os.path.dirname(os.path.abspath(__file__))
    for number, (name, (network, options, grids)) in enumerate(NETWORKS.items()):
        torch.manual_seed(number + 1)
        w, tensors = Weights(), {}
        for height, width in grids:
            x, t = torch.randn(BATCH, CHANNELS, height, width), torch.tensor([0.75, 0.125])
            g = torch.randn(BATCH, CHANNELS, height, width)
            x_double = x.double().requires_grad_()
            y = network(w, x_double, t.double(), options)
            (gradient,) = torch.autograd.grad(y, x_double, g.double())
            for key, value in {"x": x, "t": t, "y": y, "g": g, "x_grad": gradient}.items():
                tensors[f"{height}x{width}.{key}"] = entry(value)
        tensors.update({"weights." + key: entry(value.float()) for key, value in w.items()})
        with open(os.path.join(folder, f"backbone_{name}.safetensors"), "wb") as out:
            out.write(safetensors_bytes(tensors, {"made_by": "make_backbones.py"}))
