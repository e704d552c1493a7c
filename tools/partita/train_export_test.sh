#!/bin/bash
# `partita run` with the exported model gives the results of the training's
# evaluation on the test images; a trained ONNX model is exported as the same model
# with other weights.
# SPDX-License-Identifier: Apache-2.0
set -eu
partita=$PWD/$1
cpus=$PWD/$2
mlp_onnx=$PWD/$3
scratch=${TEST_TMPDIR:-$(mktemp -d)}

# Four images of random bytes, for the training and as `partita run` takes them.
python3 - "$scratch" << 'END'
import array, random, struct, sys

def npy(name, dims, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {dims}, }}"
    head = head.ljust(117) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(array.array("f", values).tobytes())

random.seed(1)
pixels = bytes(random.randrange(256) for _ in range(4 * 784))
with open(sys.argv[1] + "/images.idx", "wb") as file:
    file.write(struct.pack(">4i", 0x803, 4, 28, 28) + pixels)
with open(sys.argv[1] + "/labels.idx", "wb") as file:
    file.write(struct.pack(">2i", 0x801, 4) + bytes([3, 1, 4, 1]))
normalized = [(p / 255 - 0.1307) / 0.3081 for p in pixels]
npy("images", (4, 1, 28, 28), normalized)
npy("two_images", (2, 1, 28, 28), normalized[:2 * 784])
END

cd "$scratch"
"$partita" train builtin:mnist --images images.idx --labels labels.idx \
  --test-images images.idx --test-labels labels.idx --batch 4 --epochs 3 \
  --machine "$cpus" --strategy data --virtual --export digits.onnx --json > report.json
"$partita" run digits.onnx --machine "$cpus" --strategy single --virtual \
  --input images=images.npy --output results

python3 - << 'END'
import array, json

with open("report.json") as file:
    test = json.load(file)["test"]
with open("results/log_probabilities.npy", "rb") as file:
    content = file.read()
results = array.array("f", content[content.index(b"\n") + 1:])
labels = [3, 1, 4, 1]
lines = [results[10 * i:10 * i + 10] for i in range(4)]
loss = -sum(line[label] for line, label in zip(lines, labels)) / 4
correct = sum(max(line) == line[label] for line, label in zip(lines, labels))
print("loss", loss, test["loss"], "correct", correct, test["correct"])
assert abs(loss - test["loss"]) < 1e-5, "the exported model has another loss"
assert correct == test["correct"], "the exported model has another accuracy"
END

# With another batch the model gives the same results for the first two of four.
"$partita" train builtin:mnist --images images.idx --labels labels.idx \
  --batch 4 --epochs 3 --machine "$cpus" --strategy data --virtual \
  --export two.onnx --export-batch 2 --json > /dev/null
"$partita" run two.onnx --machine "$cpus" --strategy single --virtual \
  --input images=two_images.npy --output two_results

python3 - << 'END'
import array

def floats(path):
    with open(path, "rb") as file:
        content = file.read()
    return array.array("f", content[content.index(b"\n") + 1:])

four, two = floats("results/log_probabilities.npy"), floats("two_results/log_probabilities.npy")
assert len(two) == 20, len(two)
assert all(abs(a - b) < 1e-4 for a, b in zip(four, two)), "two images have other results"
END

# For eight samples, with the output's own name: probabilities, as in the original.
python3 "$mlp_onnx" mlp.onnx x.npy
printf '\0\0\10\1\0\0\0\10\3\1\4\1\5\2\6\5' > eight.idx
mlp() {
  "$partita" train mlp.onnx --dim batch=8 --input x=x.npy --labels eight.idx \
    --test-input x=x.npy --test-labels eight.idx --epochs 2 \
    --machine "$cpus" --strategy single --virtual --json "$@"
}
mlp --learning-rate 0 --export same.onnx > same.json
mlp --learning-rate 0.5 --export trained.onnx > trained.json
mlp --learning-rate 0.5 --export one.onnx --export-batch 1 > /dev/null
head -c 2176 x.npy | LC_ALL=C sed 's/(8, /(1, /' > first.npy
"$partita" run one.onnx --machine "$cpus" --strategy single --virtual \
  --input x=first.npy --output one
for model in "mlp --dim batch=8" same trained; do
  set -- $model
  "$partita" run "$1.onnx" "${@:2}" --machine "$cpus" --strategy single \
    --virtual --input x=x.npy --output "$1"
done
cmp mlp/p.npy same/p.npy
if cmp -s mlp/p.npy trained/p.npy; then
  echo "the trained model has the results of the untrained one"
  exit 1
fi

python3 - << 'END'
import array, json, math

with open("trained.json") as file:
    test = json.load(file)["test"]
with open("trained/p.npy", "rb") as file:
    content = file.read()
results = array.array("f", content[content.index(b"\n") + 1:])
labels = [3, 1, 4, 1, 5, 2, 6, 5]
with open("one/p.npy", "rb") as file:
    content = file.read()
one = array.array("f", content[content.index(b"\n") + 1:])
# Logits reach 35, where an f32 is rounded by up to 2e-6, in each of four layers' sums. Of the first sample's probabilities
# in float64 those of a batch of 8 are 8e-7 off (AVX2), those of a batch of 1, which another kernel sums up, 3.8e-6.
assert len(one) == 512 and all(abs(a - b) < 2e-5 for a, b in zip(one, results))
loss = -sum(math.log(results[512 * i + label]) for i, label in enumerate(labels)) / 8
print("loss", loss, test["loss"])
assert abs(loss - test["loss"]) < 1e-4, "the exported model has another loss"
END
