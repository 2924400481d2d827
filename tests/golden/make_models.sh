#!/usr/bin/env bash
# How tests/golden/models was made, with version 0.1.0 of the program: a tiny teacher, its student, and what they gave.
#   tests/golden/make_models.sh PIDDM OUT
set -euo pipefail
piddm=$1 out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
settings=(pde.grid=16 data.n=64 model.width=8 'model.modes=[6,6]' model.layers=2 model.lifting=16 model.projection=16
  train.steps=40 train.batch=16 distill.train.steps=40 distill.train.batch=16 distill.train.validate_every=0
  distill.pairs.chunk=64 distill.pairs.euler_steps=10 distill.pairs.held_out=16)
options=(--threads 1 --quiet)
"$piddm" train stefan-32 "${settings[@]/#/--set=}" "${options[@]}" --out "$work/teacher"
"$piddm" distill --teacher "$work/teacher" "${options[@]}" --out "$work/student"
"$piddm" data make stefan --n 2 --grid 16 --first 1000000 "${options[@]}" --out "$out/truth.npz"
for model in teacher student; do
  mkdir -p "$out/$model"
  cp "$work/$model/model/"* "$out/$model/"
  "$piddm" generate "$work/$model" --n 2 "${options[@]}" --out "$out/$model/samples.npz"
done
"$piddm" solve "$work/student" --task inverse --observe "$out/truth.npz" "${options[@]}" \
  --out "$out/student/inverse.npz"
