#!/usr/bin/env bash
# One small file of every kind that a release writes, for the tests that later versions read them with:
#   tests/golden/make_release_files.sh PIDDM tests/golden/VERSION
set -euo pipefail
piddm=$(realpath "$1") out=$2
mkdir -p "$out"
cd "$out"
options=(--threads 1 --quiet)
"$piddm" data make darcy --n 4 --grid 16 "${options[@]}" --out data.npz
"$piddm" data make darcy --n 2 --grid 16 "${options[@]}" --out data.safetensors
"$piddm" data make darcy --n 3 --grid 16 --shards 2 "${options[@]}" --out shards.npz
cat > experiment.toml <<'TOML'
pde = { name = "darcy", grid = 16 }
model = { type = "fno", width = 4, modes = [4, 4], layers = 2, lifting = 8, projection = 8, time_features = 8 }
[train]
steps = 4
batch = 2
[distill]
heads = { band_limited = true, smooth = true, bounded = true }
pairs = { steps = 2, chunk = 4, every = 2, pool = 1, held_out = 4 }
train = { steps = 4, batch = 2, validate_every = 2 }
TOML
"$piddm" train experiment.toml --data data.npz "${options[@]}" --out teacher
"$piddm" distill --teacher teacher --pairs pairs "${options[@]}" --out student
"$piddm" generate student --n 2 "${options[@]}" --out samples.npz
"$piddm" evaluate samples.npz --reference data.npz "${options[@]}" --out evaluation.json > /dev/null
"$piddm" reproduce table-diversity --scale smoke --set 'methods=["piddm-1"]' --set judge.resamples=5 "${options[@]}" \
  --out work > /dev/null
mkdir -p table step
cp work/table-diversity-smoke/report.json table/
cp work/steps/*generate*/{step.json,metrics.json,kept.safetensors} step/
rm -rf work
find . -name '*.png' -delete -o -name .lock -delete
