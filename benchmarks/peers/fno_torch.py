"""The work of `piddm bench spectral|fno|train|sample`, done with a plain PyTorch FNO of the same size.

The network is written as is usual with torch.fft:

  in      C fields, 2 coordinates, 32 features of t, all as channels      lift    1x1 -> lifting -> GELU -> 1x1 -> width
  layers  x <- gelu(irfft2(W rfft2(x)) + 1x1(x)), none after the last     out     1x1 -> projection -> GELU -> 1x1 -> C

Usage: fno_torch.py REQUEST, a JSON object:
  {"device": "cpu"|"cuda", "threads", "repeats", "steps",
   "sizes": {"channels", "modes", "width", "layers", "lifting", "projection", "time_features"},
   "cases": [{"bench": "spectral"|"fno", "what", "batch", "grid": [H, W], "tf32"}]}
On a GPU, forward passes and gradients run eagerly and as a CUDA graph; the faster counts. "tf32" allows it in matrix
products and convolutions.

Prints one JSON object, rows in the order of the cases:
  {"version", "device", "rows": [{"ms", "eager_ms", "graph"} or {"absent": why}]}
"""
import json
import math
import statistics
import sys
import time

import torch
from torch import nn

TURN_SECONDS = 0.03


class SpectralConv(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.m1, self.m2 = modes[0] // 2, modes[1] // 2 + 1
        self.weight = nn.ParameterList(
            [nn.Parameter(torch.randn(width, width, self.m1, self.m2, 2) / (2 * math.sqrt(width))) for _ in range(2)])

    def forward(self, x):
        b, c, h, w = x.shape
        m1, m2 = min(self.m1, h // 2), min(self.m2, w // 2 + 1)
        low, high = (torch.view_as_complex(p)[:, :, :m1, :m2] for p in self.weight)
        modes = torch.fft.rfft2(x, norm="forward")
        out = torch.zeros(b, c, h, w // 2 + 1, dtype=modes.dtype, device=x.device)
        out[:, :, :m1, :m2] = torch.einsum("bixy,ioxy->boxy", modes[:, :, :m1, :m2], low)
        out[:, :, -m1:, :m2] = torch.einsum("bixy,ioxy->boxy", modes[:, :, -m1:, :m2], high)
        return torch.fft.irfft2(out, s=(h, w), norm="forward")


class Layer(nn.Module):
    def __init__(self, width, modes, activate):
        super().__init__()
        self.spectral, self.skip, self.activate = SpectralConv(width, modes), nn.Conv2d(width, width, 1), activate

    def forward(self, x):
        y = self.spectral(x) + self.skip(x)
        return nn.functional.gelu(y) if self.activate else y


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Conv2d(inputs, hidden, 1), nn.GELU(), nn.Conv2d(hidden, outputs, 1))


class Fno(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.features = sizes["time_features"]
        self.lift = mlp(sizes["channels"] + 2 + self.features, sizes["lifting"], sizes["width"])
        last = sizes["layers"] - 1
        self.layers = nn.Sequential(*[Layer(sizes["width"], sizes["modes"], i < last) for i in range(last + 1)])
        self.project = mlp(sizes["width"], sizes["projection"], sizes["channels"])

    def forward(self, x, t):
        b, _, h, w = x.shape
        n = self.features // 2
        phase = t.view(-1, 1) * 2000.0 ** (1 - torch.arange(n, device=x.device) / (n - 1))
        encoding = torch.cat([phase.sin(), phase.cos()], 1)[:, :, None, None].expand(b, -1, h, w)
        i = ((torch.arange(h, device=x.device) + 0.5) / h).view(1, 1, h, 1).expand(b, 1, h, w)
        j = ((torch.arange(w, device=x.device) + 0.5) / w).view(1, 1, 1, w).expand(b, 1, h, w)
        return self.project(self.layers(self.lift(torch.cat([x, i, j, encoding], 1))))


class TrainStep:
    """Flow matching with Adam and a moving average of the weights."""

    def __init__(self, net, data):
        self.net, self.data, self.parameters = net, data, list(net.parameters())
        self.ema = [p.detach().clone() for p in self.parameters]
        options = {"fused": True} if data.is_cuda else {}
        self.adam = torch.optim.Adam(self.parameters, lr=1e-4, **options)

    def __call__(self):
        noise, t = torch.randn_like(self.data), torch.rand(len(self.data), device=self.data.device)
        s = t.view(-1, 1, 1, 1)
        self.adam.zero_grad(set_to_none=True)
        v = self.net((1 - s) * self.data + s * noise, t)
        (v - (noise - self.data)).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.adam.step()
        with torch.no_grad():
            torch._foreach_mul_(self.ema, 0.999)
            torch._foreach_add_(self.ema, self.parameters, alpha=0.001)


def euler(net, x, steps):
    for i in range(steps):
        x = x - net(x, torch.full((len(x),), 1 - i / steps, device=x.device)) / steps
    return x


def no_grad(work):
    def run():
        with torch.no_grad():
            work()
    return run


def make_work(case, request, device):
    """The work, and whether a CUDA graph can play it back."""
    sizes, batch, grid, what = request["sizes"], case["batch"], case["grid"], case["what"]
    if case["bench"] == "spectral":
        layer = Layer(sizes["width"], sizes["modes"], True).to(device)
        x = torch.randn(batch, sizes["width"], *grid, device=device, requires_grad=what == "train")
        inputs = [x, *layer.parameters()]
        if what == "forward":
            return no_grad(lambda: layer(x)), True
        return lambda: torch.autograd.grad(layer(x).square().mean(), inputs), True
    net = Fno(sizes).to(device)
    x, t = torch.randn(batch, sizes["channels"], *grid, device=device), torch.rand(batch, device=device)
    one, mask = torch.ones(batch, device=device), torch.zeros_like(x)
    mask[:, -1] = 1
    if what in ("input-gradient", "latent-optimisation"):
        net.requires_grad_(False)
        x.requires_grad_(True)
    parameters, observed = list(net.parameters()), torch.randn_like(x)
    return {"forward": lambda: (no_grad(lambda: net(x, t)), True),
            "train": lambda: (lambda: torch.autograd.grad(net(x, t).square().mean(), parameters), True),
            "input-gradient": lambda: (lambda: torch.autograd.grad(net(x, t).square().mean(), [x]), True),
            "step": lambda: (TrainStep(net, x), False),
            "teacher": lambda: (no_grad(lambda: euler(net, x, request["steps"])), False),
            "student": lambda: (no_grad(lambda: x - net(x, one)), True),
            "latent-optimisation": lambda: (
                lambda: torch.autograd.grad((mask * (x - net(x, one) - observed)).square().mean(), [x]), False)}[what]()


def captured(work):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def seconds_of(work, runs, device):
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    wait()
    begin = time.perf_counter()
    for _ in range(runs):
        work()
    wait()
    return (time.perf_counter() - begin) / runs


def milliseconds(work, repeats, device):
    first = seconds_of(work, 1, device)
    if first < 1:
        first = seconds_of(work, 1, device)
    runs = min(2000, max(1, math.ceil(TURN_SECONDS / first)))
    return 1e3 * statistics.median(seconds_of(work, runs, device) for _ in range(repeats))


def measure(case, request, device):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case["tf32"]
    try:
        work, capturable = make_work(case, request, device)
        eager = milliseconds(work, request["repeats"], device)
        if device.type != "cuda" or not capturable:
            return {"ms": eager, "eager_ms": eager, "graph": False}
        graph = milliseconds(captured(work), request["repeats"], device)
        return {"ms": min(eager, graph), "eager_ms": eager, "graph": graph < eager}
    except RuntimeError as error:  # most likely memory
        return {"absent": str(error).split("\n")[0]}
    finally:
        if device.type == "cuda":
            torch.cuda.empty_cache()


def main():
    request = json.loads(sys.argv[1])
    device = torch.device(request["device"])
    torch.set_num_threads(request["threads"])
    torch.manual_seed(0)
    rows, known = [], {}
    for case in request["cases"]:
        key = json.dumps(case, sort_keys=True)
        if key not in known:
            known[key] = measure(case, request, device)
        rows.append(known[key])
    print(json.dumps({"version": torch.__version__, "device": request["device"], "rows": rows}))


if __name__ == "__main__":
    main()
