"""Files of other implementations for tests/files: NPY and NPZ by numpy, safetensors by the few lines below, and
archives that must be refused.

    python3 make_core_formats.py               writes core_formats/
    python3 make_core_formats.py check FOLDER  reads what the tests wrote there; exit status 0 if all is as expected
"""
import io
import json
import os
import struct
import sys
import warnings
import zipfile

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
         "U8": "|u1", "BOOL": "|b1"}


def array(descr):
    """0..5 in every type, negative where there is a sign, fractions where there are any."""
    x = np.arange(6).reshape(2, 3)
    if descr[1] == "b":
        return (x % 2).astype(descr)
    return ((x - 2) * (1 if descr[1] in "iu" else 0.25)).clip(0 if descr[1] == "u" else -9).astype(descr)


def bfloat16(x):
    return (x.astype("<f4").view("<u4") >> 16).astype("<u2")


def safetensors_bytes(tensors, metadata):
    """{name: (type, shape, raw bytes)}: largest items first, then by name; header padded to 8 bytes."""
    header, data = {"__metadata__": metadata}, b""
    size = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2}
    for name in sorted(tensors, key=lambda n: (-size.get(tensors[n][0], 1), n)):
        dtype, shape, raw = tensors[name]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def read_safetensors(path):
    raw = open(path, "rb").read()
    (n,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + n])
    header.pop("__metadata__", None)
    return {k: (v["dtype"], v["shape"], raw[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
            for k, v in header.items()}


def all_types():
    tensors = {"t." + name: (name, (2, 3), array(descr).tobytes()) for name, descr in TYPES.items()}
    tensors["t.BF16"] = ("BF16", (2, 3), bfloat16(array("<f4")).tobytes())
    tensors["empty"] = ("F32", (0, 4), b"")
    tensors["größe"] = ("F32", (), np.float32(1.5).tobytes())
    return tensors


def npy_bytes(x, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, x, **options)
    return out.getvalue()


def zip_file(path, members, method=zipfile.ZIP_STORED, zip64=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, content in members:
                info = zipfile.ZipInfo(name)
                info.compress_type = method
                with archive.open(info, "w", force_zip64=zip64) as out:
                    out.write(content)


def make(folder):
    def write(name, content):
        open(os.path.join(folder, name), "wb").write(content)

    def path(name):
        return os.path.join(folder, name)

    for name, descr in TYPES.items():
        write(f"{name}.npy", npy_bytes(array(descr)))
    grid = np.arange(24, dtype="<f8").reshape(2, 3, 4) / 8
    write("fortran.npy", npy_bytes(np.asfortranarray(grid)))
    write("fortran_bool.npy", npy_bytes(np.asfortranarray(array("|b1"))))
    write("scalar.npy", npy_bytes(np.array(2.5)))
    write("vector.npy", npy_bytes(np.arange(3, dtype="<i8")))
    write("empty.npy", npy_bytes(np.zeros((0, 3), "<f4")))
    write("version2.npy", npy_bytes(grid, version=(2, 0)))
    write("big_endian.npy", npy_bytes(grid.astype(">f8")))
    write("object.npy", npy_bytes(np.array([{}, 1], dtype=object)))
    write("record.npy", npy_bytes(np.zeros(2, [("a", "<f4")])))
    write("text.npy", npy_bytes(np.array(["ab"])))
    write("complex.npy", npy_bytes(np.zeros(2, "<c8")))
    write("unsigned.npy", npy_bytes(np.zeros(2, "<u4")))

    np.savez(path("savez.npz"), u=grid, a=array("<f4"))
    np.savez_compressed(path("savez_compressed.npz"), u=grid, a=array("<f4"), big=np.arange(20000, dtype="<i4"))
    u = npy_bytes(grid)
    zip_file(path("text.npz"), [("u.npy", u), ("description.json", b'{"pde":"darcy"}')], zipfile.ZIP_DEFLATED)
    zip_file(path("force64.npz"), [("u.npy", u)], zip64=True)
    zip_file(path("duplicate.npz"), [("u.npy", u), ("u.npy", u)])
    zip_file(path("absolute.npz"), [("/u.npy", u)])
    zip_file(path("dotdot.npz"), [("a/../../u.npy", u)])
    zip_file(path("backslash.npz"), [("a\\u.npy", u)])
    zip_file(path("bzip2.npz"), [("u.npy", u)], zipfile.ZIP_BZIP2)
    zip_file(path("bomb.npz"), [("u.npy", npy_bytes(np.zeros(1 << 20, "<f4")))], zipfile.ZIP_DEFLATED)
    zip_file(path("constant.npz"), [("u.npy", npy_bytes(np.zeros(1 << 13, "<f4")))], zipfile.ZIP_DEFLATED)
    write("all_types.safetensors", safetensors_bytes(all_types(), {"format": "pt", "note": "größe"}))


def check(folder):
    def path(name):
        return os.path.join(folder, name)

    grid = np.arange(24, dtype="<f8").reshape(2, 3, 4) / 8
    for name, descr in TYPES.items():
        x = np.load(path(f"{name}.npy"))
        assert x.dtype == np.dtype(descr) and np.array_equal(x, array(descr)), name
    for name in ("ours.npz", "ours64.npz"):
        assert zipfile.ZipFile(path(name)).testzip() is None
        npz = np.load(path(name))
        assert np.array_equal(npz["u"], grid), name
        assert npz["description.json"] == b'{"pde":"darcy"}', name
    assert read_safetensors(path("ours.safetensors")) == {k: (d, list(s), r) for k, (d, s, r) in all_types().items()}


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(sys.argv[2])
    else:
        target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "core_formats")
        os.makedirs(target, exist_ok=True)
        make(target)
