// Transforms weights into tap matrices, and their gradient back. Weights are
// row-major.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_WEIGHT_TRANSFORMS_H_
#define PARTITA_KERNELS_WINOGRAD_WEIGHT_TRANSFORMS_H_

#include <cstdint>

#include "kernels/winograd/tap_matrices.h"

namespace partita {

// Multiples of 16 channels of weights [outputs, inputs, 3, 3].
struct WeightRange {
  int64_t inputs;  // of all weights
  int64_t first_output, outputs;
  int64_t first_input, num_inputs;
};

// G w G': a row of the matrices for each input, a column for each output.
void TransformWeights(const float* w, const WeightRange& range,
                      const TapMatrices& taps);

// The same for weights whose windows are rotated by 180 degrees, with a row for
// each output and a column for each input: those of a transposed convolution.
void TransformTurnedWeights(const float* w, const WeightRange& range,
                            const TapMatrices& taps);

// G' u G, into the range's part of `dw`, the gradient by the weights.
void TransformToWeightGradient(const TapMatrices& taps,
                               const WeightRange& range, float* dw);

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_WEIGHT_TRANSFORMS_H_
