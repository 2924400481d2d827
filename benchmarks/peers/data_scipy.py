"""The work of `piddm bench data`, done with numpy and scipy.

Coefficients are drawn and solutions computed, one sample after the other.

Each problem is solved on the same grid by the best of what scipy offers for it, to the same accuracy or better:
  darcy                sparse direct solve, the fastest of SuperLU's orderings (measured here, for this grid)
  poisson, helmholtz   sine transforms (scipy.fft.dstn), exact like ours
  burgers              Fourier modes and ETDRK4 with the same points and steps
  navier-stokes        likewise
  stokes, heat, pme, stefan   the closed forms

Prints one JSON object:
  {"scipy": version, "numpy": version, "pdes": {name: {"seconds_per_sample": s, "method": text}}}
Seconds are processor time.
"""
import argparse
import json
import statistics
import time

import numpy as np
import scipy
import scipy.fft
import scipy.optimize
import scipy.sparse as sparse
import scipy.special
from scipy.sparse.linalg import splu


def gaussian_field(rng, n):
    k2 = (np.pi * np.arange(n)) ** 2
    amplitude = 3.0 / (k2[:, None] + k2 + 9.0)
    amplitude[0, 0] = 0
    return scipy.fft.idctn(rng.standard_normal((n, n)) * amplitude * n, type=2, norm="ortho")


def darcy_matrix(a):
    n = a.shape[0]
    index = np.arange(n * n).reshape(n, n)
    diagonal = np.zeros((n, n))
    rows, columns, values = [], [], []
    for first, second in (((slice(0, -1), slice(None)), (slice(1, None), slice(None))),
                          ((slice(None), slice(0, -1)), (slice(None), slice(1, None)))):
        w = 0.5 * (a[first] + a[second]) * n * n
        diagonal[first] += w
        diagonal[second] += w
        rows += [index[first].ravel(), index[second].ravel()]
        columns += [index[second].ravel(), index[first].ravel()]
        values += [-w.ravel(), -w.ravel()]
    for wall in ((0, slice(None)), (-1, slice(None)), (slice(None), 0), (slice(None), -1)):
        diagonal[wall] += 2 * a[wall] * n * n
    rows.append(index.ravel())
    columns.append(index.ravel())
    values.append(diagonal.ravel())
    return sparse.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))


class Darcy:
    orderings = {"COLAMD": {}, "MMD_AT_PLUS_A": {"options": {"SymmetricMode": True}, "diag_pivot_thresh": 0.0}}

    def __init__(self, n):
        self.n = n
        a = self.coefficient(np.random.default_rng(0))
        seconds = {name: timed(lambda: self.direct(a, name)) for name in self.orderings}
        self.ordering = min(seconds, key=seconds.get)
        self.method = f"sparse direct, {self.ordering}"

    def coefficient(self, rng):
        return np.where(gaussian_field(rng, self.n) >= 0, 12.0, 3.0)

    def direct(self, a, ordering):
        return splu(darcy_matrix(a), permc_spec=ordering, **self.orderings[ordering]).solve(np.ones(a.size))

    def sample(self, rng):
        return self.direct(self.coefficient(rng), self.ordering)


class Poisson:
    method = "sine transforms"

    def __init__(self, n, k=0.0):
        self.n, h, m = n, 1.0 / (n - 1), np.arange(1, n - 1)
        eigenvalues = (2 / h * np.sin(np.pi * m * h / 2)) ** 2
        self.inverse = 1 / (k * k - eigenvalues[:, None] - eigenvalues)

    def sample(self, rng):
        a = gaussian_field(rng, self.n)
        u = np.zeros_like(a)
        modes = scipy.fft.dstn(a[1:-1, 1:-1], type=1, norm="ortho")
        u[1:-1, 1:-1] = scipy.fft.idstn(modes * self.inverse, type=1, norm="ortho")
        return u


class Helmholtz(Poisson):
    def __init__(self, n):
        super().__init__(n, k=1.0)


class Etdrk4:
    """Coefficients by the mean over a circle around z (Kassam and Trefethen)."""

    def __init__(self, linear, h):
        circle = np.exp(2j * np.pi * (np.arange(32) + 0.5) / 32)
        self.full, self.half = np.exp(h * linear), np.exp(h * linear / 2)
        self.q, self.f1, self.f2, self.f3 = (np.zeros_like(linear) for _ in range(4))
        for point in circle:
            z = h * linear + point
            e = np.exp(z)
            self.q += (h * (np.exp(z / 2) - 1) / z).real / 32
            self.f1 += (h * (-4 - z + e * (4 - 3 * z + z * z)) / z**3).real / 32
            self.f2 += (h * (4 + 2 * z + e * (2 * z - 4)) / z**3).real / 32
            self.f3 += (h * (-4 - 3 * z - z * z + e * (4 - z)) / z**3).real / 32

    def step(self, v, nonlinear):
        nv = nonlinear(v)
        a = self.half * v + self.q * nv
        na = nonlinear(a)
        b = self.half * v + self.q * na
        nb = nonlinear(b)
        c = self.half * a + self.q * (2 * nb - nv)
        return self.full * v + self.f1 * nv + self.f2 * (na + nb) + self.f3 * nonlinear(c)


class Burgers:
    method = "Fourier modes, ETDRK4"

    def __init__(self, n, nu=0.01):
        self.n, self.points = n, n * max(2, -(-256 // n))
        k = np.arange(self.points // 2 + 1)
        self.linear = -nu * (2 * np.pi * k) ** 2
        self.flux = np.where(3 * k < self.points, -1j * np.pi * k, 0)

    def nonlinear(self, v):
        return self.flux * scipy.fft.rfft(scipy.fft.irfft(v, self.points) ** 2)

    def sample(self, rng):
        n, points, dt = self.n, self.points, 1.0 / (self.n - 1)
        k = np.arange(1, n // 2 + 1)
        deviation = np.sqrt(2) * 49 * ((2 * np.pi * k) ** 2 + 49) ** -1.25
        v = np.zeros(points // 2 + 1, complex)
        v[1:n // 2 + 1] = 0.5 * points * deviation * (rng.standard_normal(n // 2) - 1j * rng.standard_normal(n // 2))
        largest = np.abs(scipy.fft.irfft(v, points)).max()
        steps = int(np.ceil(max(254, 500 * largest) * dt))
        later, first = Etdrk4(self.linear, dt / steps), Etdrk4(self.linear, dt / (4 * steps))
        out = [scipy.fft.irfft(v, points)[::points // n]]
        for column in range(1, n):
            for _ in range(4 * steps if column == 1 else steps):
                v = (first if column == 1 else later).step(v, self.nonlinear)
            out.append(scipy.fft.irfft(v, points)[::points // n])
        return np.stack(out, 1)


class NavierStokes:
    method = "Fourier modes, ETDRK4"

    def __init__(self, n, nu=1e-3):
        self.n, self.points = n, n * max(2, -(-256 // n))
        m = self.points
        kx, ky = np.fft.fftfreq(m, 1 / m)[:, None], np.arange(m // 2 + 1)[None, :]
        k2 = 4 * np.pi**2 * (kx**2 + ky**2)
        keep = (3 * np.abs(kx) < m) & (3 * ky < m)
        inverse = np.where(k2 > 0, 1 / np.where(k2 > 0, k2, 1), 0) * keep
        self.linear, self.keep = -nu * k2, keep
        self.to_v1, self.to_v2 = 2j * np.pi * ky * inverse, -2j * np.pi * kx * inverse
        self.product, self.squares = 4 * np.pi**2 * (kx**2 - ky**2) * keep, 4 * np.pi**2 * kx * ky * keep
        x = np.arange(m) / m
        self.phase = 2 * np.pi * (x[:, None] + x)

    def nonlinear(self, v):
        shape = (self.points, self.points)
        v1, v2 = scipy.fft.irfft2(self.to_v1 * v, shape), scipy.fft.irfft2(self.to_v2 * v, shape)
        return self.product * scipy.fft.rfft2(v1 * v2) + self.squares * scipy.fft.rfft2(v2 * v2 - v1 * v1) + self.force

    def sample(self, rng):
        n, m = self.n, self.points
        k = np.fft.fftfreq(n, 1 / n)
        deviation = np.sqrt(2) * 7**1.5 * (4 * np.pi**2 * (k[:, None] ** 2 + k**2) + 49) ** -1.25
        deviation[0, 0] = 0
        noise = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
        w0 = scipy.fft.ifft2(deviation * noise * n * n).real
        self.force = 0.1 * np.sqrt(2) * scipy.fft.rfft2(np.sin(self.phase + rng.uniform(0, np.pi / 2)))
        coarse, half = scipy.fft.rfft2(w0) * (m / n) ** 2, n // 2
        v = np.zeros((m, m // 2 + 1), complex)
        v[:half, :half], v[1 - half:, :half] = coarse[:half, :half], coarse[1 - half:, :half]
        steps = int(np.ceil(max(12, 28 * np.abs(w0).max())))
        method = Etdrk4(self.linear, 1.0 / steps)
        for _ in range(steps):
            v = method.step(v, self.nonlinear)
        return scipy.fft.irfft2(v, (m, m))[::m // n, ::m // n]


class ClosedForm:
    method = "closed form"

    def __init__(self, n):
        self.x, self.t = np.linspace(0, 1, n)[:, None], np.linspace(0, 1, n)
        self.n = n

    def sample(self, rng):
        scalar, u = self.field(rng)
        return u, np.full((self.n, self.n), scalar)


class Stokes(ClosedForm):
    def field(self, rng):
        omega = rng.uniform(2, 8)
        return omega, 2 * np.exp(-5 * self.x) * np.cos(5 * self.x - omega * self.t)


class Heat(ClosedForm):
    def field(self, rng):
        phi = rng.uniform(0, np.pi)
        x = 2 * np.pi * np.arange(self.n)[:, None] / self.n
        return phi, np.exp(-3 * self.t) * np.sin(x + phi)


class Pme(ClosedForm):
    def field(self, rng):
        m = rng.uniform(1, 5)
        return m, (m * np.maximum(self.t - self.x, 0)) ** (1 / m)


class Stefan(ClosedForm):
    def field(self, rng):
        u_star = rng.uniform(0.55, 0.7)
        right = (1 - u_star) / np.sqrt(np.pi)
        root = scipy.optimize.brentq(
            lambda z: u_star * scipy.special.erf(z) * z * np.exp(z * z) - right, 0, 10, xtol=1e-13)
        t = np.maximum(0.1 * self.t, 1e-300)
        u = 1 - (1 - u_star) * scipy.special.erf(self.x / (2 * np.sqrt(t))) / scipy.special.erf(root)
        return u_star, np.where(self.x <= 2 * root * np.sqrt(t), u, 0)


PROBLEMS = {"darcy": Darcy, "poisson": Poisson, "helmholtz": Helmholtz, "burgers": Burgers,
            "navier-stokes": NavierStokes, "stokes": Stokes, "heat": Heat, "pme": Pme, "stefan": Stefan}


def timed(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(problem, count, repeats):
    rng = np.random.default_rng(0)
    problem.sample(rng)
    seconds = [timed(lambda: [problem.sample(rng) for _ in range(count)]) / count for _ in range(repeats)]
    return {"seconds_per_sample": statistics.median(seconds), "method": problem.method}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pde", action="append", help="which; all if absent")
    parser.add_argument("--grid", type=int, default=128)
    parser.add_argument("--n", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    names = [name for name in options.pde or PROBLEMS if name in PROBLEMS]
    result = {name: measure(PROBLEMS[name](options.grid), options.n, options.repeats) for name in names}
    print(json.dumps({"scipy": scipy.__version__, "numpy": np.__version__, "pdes": result}))


if __name__ == "__main__":
    main()
