#!/usr/bin/env python3
"""tests/golden/scot-tiny: what the tests need of the reference data for ScOT, in files of less than 200 KB.

usage: make_scot_tiny.py REFERENCE   (the folder scot-tiny of the reference run, see scot-tiny/README.md)

The checkpoint keeps the weights of embedding and encoder and is split into shards with an index, as large published
ones are."""

import json
import pathlib
import shutil
import struct
import sys

LIMIT = 180_000
OUT = pathlib.Path(__file__).parent / "scot-tiny"


def read(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    body = data[8 + size:]
    return {k: (v["dtype"], v["shape"], body[slice(*v["data_offsets"])]) for k, v in header.items()}


def write(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, raw) in sorted(tensors.items(), key=lambda kv: (kv[1][0] not in ("F64", "I64"), kv[0])):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def parts(tensors):
    group, size = {}, 0
    for name, tensor in tensors.items():
        bytes_ = len(tensor[2]) + len(name) + 90
        if size + bytes_ > LIMIT:
            yield group
            group, size = {}, 0
        group[name] = tensor
        size += bytes_
    yield group


def main():
    reference = pathlib.Path(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    shutil.copyfile(reference / "config.json", OUT / "config.json")
    shutil.copyfile(reference / "expected.json", OUT / "expected.json")
    weights = {k: v for k, v in read(reference / "model.safetensors").items()
               if k.startswith(("embeddings.", "encoder."))}
    shards = list(parts(weights))
    index = {}
    for i, shard in enumerate(shards):
        name = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        write(OUT / name, shard)
        index.update({tensor: name for tensor in shard})
    (OUT / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}, indent=0))
    skip = ("t0.dec", "t0.skip", "t0.output", "t0.enc.stage0.block0", "t0.enc.stage0.down", "t1.output", "cln.",
            "fpd4d.a", "fpd4d.b")
    keep = ("fpd4d.a.feature", "fpd4d.b.feature")
    golden = {k: v for k, v in read(reference / "golden.safetensors").items() if k in keep or not k.startswith(skip)}
    for i, part in enumerate(parts(golden)):
        write(OUT / f"golden-{i + 1}.safetensors", part)


main()
