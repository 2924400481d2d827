"""Islands of two-phase fields by scipy.ndimage.label: islands.txt.

Each case is a line "H W islands" and then H lines of 0 and 1. Fields: random cells at several shares, smoothed random
fields cut at their median, and hard ones: one phase, a checkerboard, stripes, a spiral, a comb. Both phases count;
cells are connected through their four sides (scipy's default structure).

    apt-get install python3-scipy && /usr/bin/python3 tests/golden/make_islands.py
"""

import pathlib

import numpy as np
from scipy import ndimage


def spiral(n):
    field = np.zeros((n, n), dtype=int)
    i = j = 0
    di, dj = 0, 1
    field[0, 0] = 1
    while True:
        for _ in range(2):
            ni, nj = i + di, j + dj
            ai, aj = ni + di, nj + dj
            inside = 0 <= ni < n and 0 <= nj < n
            ahead = 0 <= ai < n and 0 <= aj < n and field[ai, aj]
            if inside and not field[ni, nj] and not ahead:
                break
            di, dj = dj, -di
        else:
            return field
        i, j = ni, nj
        field[i, j] = 1


def cases():
    rng = np.random.default_rng(22)
    for h, w in ((16, 16), (12, 31), (40, 9), (24, 24)):
        for share in (0.3, 0.5, 0.6):
            yield (rng.random((h, w)) < share).astype(int)
        smooth = ndimage.gaussian_filter(rng.standard_normal((h, w)), 1.5)
        yield (smooth > np.median(smooth)).astype(int)
    yield np.ones((5, 7), dtype=int)
    yield np.indices((6, 9)).sum(0) % 2
    yield np.indices((8, 8))[0] % 2
    yield spiral(21)
    comb = np.zeros((17, 16), dtype=int)
    comb[::2] = 1
    comb[:, -1] = 1
    yield comb


def islands(field):
    return ndimage.label(field)[1] + ndimage.label(1 - field)[1]


def main():
    with open(pathlib.Path(__file__).with_name("islands.txt"), "w", encoding="ascii") as out:
        for field in cases():
            print(*field.shape, islands(field), file=out)
            for row in field:
                print("".join(str(cell) for cell in row), file=out)


if __name__ == "__main__":
    main()
