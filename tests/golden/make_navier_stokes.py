"""A forced flow on the torus, advective form with full complex transforms and the classical Runge-Kutta method (numpy
only).

Writes navier_stokes_16.txt: phi, then w0 and w(1) at (i/16, j/16), row by row; one number a line. Computed on
64 x 64 points in 400 steps.
"""
import pathlib

import numpy as np

N, FINE, NU, PHI, STEPS = 16, 64, 1e-3, 0.7, 400
WAVES = [(1, 0, 0.4, -0.2), (0, 1, -0.3, 0.25), (1, 2, 0.2, 0.15), (3, -1, -0.1, 0.2), (2, 2, 0.15, 0.05),
         (-4, 5, 0.03, -0.05)]


def main():
    x = np.arange(FINE) / FINE
    x, y = x[:, None], x[None, :]
    w = sum(c * np.cos(2 * np.pi * (k * x + l * y)) + s * np.sin(2 * np.pi * (k * x + l * y)) for k, l, c, s in WAVES)
    force = 0.1 * np.sqrt(2) * np.sin(2 * np.pi * (x + y) + PHI)
    k = 2 * np.pi * np.fft.fftfreq(FINE, 1 / FINE)
    kx, ky = k[:, None], k[None, :]
    k2 = kx**2 + ky**2
    kept = (np.abs(kx) <= 2 * np.pi * (FINE / 3 - 1)) & (np.abs(ky) <= 2 * np.pi * (FINE / 3 - 1))
    inverse = np.where(k2 > 0, 1 / np.where(k2 > 0, k2, 1), 0)

    def rate(modes):
        real = lambda f: np.fft.ifft2(f).real
        velocity = real(1j * ky * inverse * modes), real(-1j * kx * inverse * modes)
        advected = velocity[0] * real(1j * kx * modes) + velocity[1] * real(1j * ky * modes)
        return kept * np.fft.fft2(force - advected) - NU * k2 * modes

    modes, h = np.fft.fft2(w), 1 / STEPS
    for _ in range(STEPS):
        k1 = rate(modes)
        k2_ = rate(modes + h / 2 * k1)
        k3 = rate(modes + h / 2 * k2_)
        k4 = rate(modes + h * k3)
        modes = modes + h / 6 * (k1 + 2 * k2_ + 2 * k3 + k4)
    step = FINE // N
    values = np.concatenate([[PHI], w[::step, ::step].ravel(), np.fft.ifft2(modes).real[::step, ::step].ravel()])
    (pathlib.Path(__file__).parent / "navier_stokes_16.txt").write_text("\n".join(f"{v:.17g}" for v in values) + "\n")


if __name__ == "__main__":
    main()
