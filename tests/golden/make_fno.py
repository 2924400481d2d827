"""The FNO by full complex FFTs and 1x1 convolutions over all concatenated channels, in float64: fno.safetensors for
tests/model.

    python3 make_fno.py
"""
import math
import os

import torch
import torch.nn.functional as F

from make_core_formats import safetensors_bytes

CHANNELS, WIDTH, LAYERS, LIFTING, PROJECTION, FEATURES, BATCH = 2, 6, 3, 10, 12, 32, 3
MODES = (6, 4)
GRIDS = ((12, 10), (9, 11), (5, 4), (4, 3))  # the last two have fewer modes than the layer


def weights():
    def draw(*shape):
        return (torch.randn(*shape) * 0.5 / math.sqrt(shape[-1])).float()

    inputs = CHANNELS + 2 + FEATURES
    w = {"lift1_weight": draw(LIFTING, inputs), "lift1_bias": draw(LIFTING),
         "lift2_weight": draw(WIDTH, LIFTING), "lift2_bias": draw(WIDTH)}
    for i in range(LAYERS):
        w[f"layers_{i}_spectral"] = draw(MODES[0], MODES[1] // 2 + 1, 2, WIDTH, WIDTH)
        w[f"layers_{i}_skip"] = draw(WIDTH, WIDTH)
        w[f"layers_{i}_bias"] = draw(WIDTH)
    w["project1_weight"], w["project1_bias"] = draw(PROJECTION, WIDTH), draw(PROJECTION)
    w["project2_weight"], w["project2_bias"] = draw(CHANNELS, PROJECTION), draw(CHANNELS)
    return w


def conv(x, weight, bias=None):
    return F.conv2d(x, weight[:, :, None, None], bias)


def spectral(x, weight):
    """y(i,j) = Re sum s(k2) W(k1,k2) X(k1,k2) exp(2 pi i (k1 i/H + k2 j/W)), mode by mode; negative k1 wrap around."""
    height, width = x.shape[-2:]
    modes = torch.fft.fft2(x, norm="forward")
    out = torch.zeros_like(modes)
    for a in range(MODES[0]):
        for k2 in range(MODES[1] // 2 + 1):
            k1 = a - MODES[0] // 2
            if not -height <= 2 * k1 < height or 2 * k2 > width:
                continue
            matrix = torch.complex(weight[a, k2, 0], weight[a, k2, 1])
            s = 1 if k2 == 0 or 2 * k2 == width else 2
            out[:, :, k1, k2] = s * modes[:, :, k1, k2] @ matrix.T
    return torch.fft.ifft2(out, norm="forward").real


def fno(x, t, w):
    batch, _, height, width = x.shape
    row = ((torch.arange(height, dtype=x.dtype) + 0.5) / height)[None, None, :, None].expand(batch, 1, height, width)
    column = ((torch.arange(width, dtype=x.dtype) + 0.5) / width)[None, None, None, :].expand(batch, 1, height, width)
    phases = torch.stack([2000 * t * 2000 ** (-i / (FEATURES // 2 - 1)) for i in range(FEATURES // 2)], 1)
    features = torch.cat([phases.sin(), phases.cos()], 1)[:, :, None, None].expand(batch, FEATURES, height, width)
    h = torch.cat([x, row, column, features], 1)
    h = conv(F.gelu(conv(h, w["lift1_weight"], w["lift1_bias"])), w["lift2_weight"], w["lift2_bias"])
    for i in range(LAYERS):
        h = spectral(h, w[f"layers_{i}_spectral"]) + conv(h, w[f"layers_{i}_skip"], w[f"layers_{i}_bias"])
        h = F.gelu(h) if i < LAYERS - 1 else h
    return conv(F.gelu(conv(h, w["project1_weight"], w["project1_bias"])), w["project2_weight"], w["project2_bias"])


def entry(x):
    return ("F64" if x.dtype == torch.float64 else "F32", tuple(x.shape), x.detach().contiguous().numpy().tobytes())


if __name__ == "__main__":
    torch.manual_seed(1)
    w = weights()
    double = {name: value.double() for name, value in w.items()}
    tensors = {"weights." + name: entry(value) for name, value in w.items()}
    for height, width in GRIDS:
        x, t = torch.randn(BATCH, CHANNELS, height, width), torch.tensor([1.0, 0.37, 0.0])
        x_double = x.double().requires_grad_()
        y = fno(x_double, t.double(), double)
        g = torch.randn(BATCH, CHANNELS, height, width)
        (gradient,) = torch.autograd.grad(y, x_double, g.double())
        name = f"{height}x{width}."
        for key, value in {"x": x, "t": t, "y": y, "g": g, "x_grad": gradient}.items():
            tensors[name + key] = entry(value)
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "fno.safetensors"), "wb") as out:
        out.write(safetensors_bytes(tensors, {"made_by": "make_fno.py"}))
