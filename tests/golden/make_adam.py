"""torch.optim.Adam on given gradients, with clipping by the norm of all of them and a moving average: adam.json."""
import json
import os

import torch

torch.manual_seed(7)
STEPS, CLIP, DECAY = 8, 1.5, 0.6
rates = [1e-2 * (1 + k) / STEPS for k in range(STEPS)]
first = torch.randn(3, 2, dtype=torch.float64).requires_grad_()
second = torch.randn(4, dtype=torch.float64).requires_grad_()
optimizer = torch.optim.Adam([first, second], lr=1.0, betas=(0.9, 0.98), eps=1e-6)
flat = lambda: torch.cat([first.detach().flatten(), second.detach().flatten()]).clone()
ema = flat()
record = {"start": flat().tolist(), "clip": CLIP, "ema_decay": DECAY, "beta1": 0.9, "beta2": 0.98, "eps": 1e-6,
          "steps": []}
for k in range(STEPS):
    gradient = torch.randn(10, dtype=torch.float64) * (0.2 if k % 2 else 2.0)
    clipped = gradient * min(1.0, CLIP / gradient.norm().item())
    first.grad, second.grad = clipped[:6].view(3, 2), clipped[6:].clone()
    optimizer.param_groups[0]["lr"] = rates[k]
    optimizer.step()
    decay = min(DECAY, (2.0 + k) / (11.0 + k))
    ema = decay * ema + (1 - decay) * flat()
    record["steps"].append({"lr": rates[k], "gradient": gradient.tolist(), "weights": flat().tolist(),
                            "ema": ema.tolist()})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "adam.json"), "w") as out:
    json.dump(record, out, indent=1)
    out.write("\n")
