// Blocks of 16 by 16 channels. The 144 adjacent numbers of one output channel
// become a column, so that the transform has outputs in its lanes.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/winograd/weight_transforms.h"

#include <array>

#include "kernels/copy/transpose_tile.h"
#include "kernels/vector/vector_code.h"
#include "kernels/winograd/tile_algebra.h"

namespace partita {
namespace {

constexpr int64_t kWindow = 9;
constexpr int64_t kColumn = kWindow * kVector;

// In a block: element (input, position in the window, output).
using Block = std::array<float, kColumn * kVector>;

template <size_t count>
constexpr std::array<int64_t, count> Steps(int64_t step) {
  std::array<int64_t, count> steps = {};
  for (size_t i = 0; i < count; ++i) steps[i] = static_cast<int64_t>(i) * step;
  return steps;
}

constexpr int64_t kLineBytes = kVector * sizeof(float);
constexpr std::array kColumnLines = Steps<kColumn>(kLineBytes);
constexpr std::array kLines = Steps<kVector>(kLineBytes);
constexpr std::array kWindows = Steps<kVector>(kWindow * kLineBytes);

const char* Bytes(const float* at) { return reinterpret_cast<const char*>(at); }
char* Bytes(float* at) { return reinterpret_cast<char*>(at); }

// Bytes from one output channel's weights to the next's.
std::array<int64_t, kVector> OutputSteps(const WeightRange& range) {
  return Steps<kVector>(range.inputs * kWindow *
                        static_cast<int64_t>(sizeof(float)));
}

int64_t WeightOffset(const WeightRange& range, int64_t output, int64_t input) {
  return ((range.first_output + output) * range.inputs + range.first_input +
          input) *
         kWindow;
}

// The transform's view of a block's weights: 16 rows, each with a vector for
// each of the window's nine positions.
struct Rows {
  const float* first;
  int64_t row_step;
  int64_t position_step;
};

// The memory of a block's weights: 9 lines for each of 16 output channels. They
// are too short for hardware prefetching, so they are prefetched during other
// computation.
struct Place {
  const float* first;
  int64_t output_step;

  [[gnu::always_inline]] void Fetch(int64_t output) const {
#pragma GCC unroll 9
    for (int64_t i = 0; i < kWindow; ++i) {
      __builtin_prefetch(first + output * output_step + i * kVector);
    }
  }
};

template <typename Floats>
struct SpreadRows {
  [[gnu::always_inline]] static inline void Run(const Rows* rows,
                                                const Place* next, float* to,
                                                int64_t tap_step) {
    constexpr int64_t kStep = sizeof(Floats) / sizeof(float);
    for (int64_t row = 0; row < kVector; ++row) {
      next->Fetch(row);
      for (int64_t lane = 0; lane < kVector; lane += kStep) {
        const float* from = rows->first + row * rows->row_step + lane;
        Floats taps[kTapsAlong][kTapsAlong];
        ApplyBothWays<WeightTaps, 3>(from, 3 * rows->position_step,
                                     rows->position_step, taps);
#pragma GCC unroll 36
        for (int k = 0; k < kTaps; ++k) {
          Store(taps[k / kTapsAlong][k % kTapsAlong],
                to + row * kChunk + lane + k * tap_step);
        }
      }
    }
  }
};

void Spread(const Rows& rows, const Place& next, float* to, int64_t tap_step) {
  RunByWidth<SpreadRows<Vector>, SpreadRows<HalfVector>>(&rows, &next, to,
                                                         tap_step);
}

template <typename Floats>
struct GatherRows {
  [[gnu::always_inline]] static inline void Run(const float* from,
                                                int64_t tap_step,
                                                const Place* result,
                                                float* block) {
    constexpr int64_t kStep = sizeof(Floats) / sizeof(float);
    for (int64_t row = 0; row < kVector; ++row) {
      result->Fetch(row);
      for (int64_t lane = 0; lane < kVector; lane += kStep) {
        Floats window[3][3];
        ApplyBothWays<WeightGradientOfTaps, kTapsAlong>(
            from + row * kChunk + lane, kTapsAlong * tap_step, tap_step,
            window);
#pragma GCC unroll 9
        for (int k = 0; k < kWindow; ++k) {
          Store(window[k / 3][k % 3],
                block + (row * kWindow + k) * kVector + lane);
        }
      }
    }
  }
};

// Calls visit(output, input) for each block of the range.
template <typename Visit>
void ForEachBlock(const WeightRange& range, const Visit& visit) {
  for (int64_t o = 0; o < range.outputs; o += kVector) {
    for (int64_t i = 0; i < range.num_inputs; i += kVector) visit(o, i);
  }
}

Place PlaceOf(const float* w, const WeightRange& range, int64_t output,
              int64_t input) {
  return {w + WeightOffset(range, output, input), range.inputs * kWindow};
}

// The block that ForEachBlock visits after this one; after the last, itself.
Place NextOf(const float* w, const WeightRange& range, int64_t output,
             int64_t input) {
  if (input + kVector < range.num_inputs) {
    input += kVector;
  } else if (output + kVector < range.outputs) {
    output += kVector;
    input = 0;
  }
  return PlaceOf(w, range, output, input);
}

}  // namespace

void TransformWeights(const float* w, const WeightRange& range,
                      const TapMatrices& taps) {
  const std::array outputs = OutputSteps(range);
  ForEachBlock(range, [&](int64_t o, int64_t i) {
    alignas(kLineBytes) Block block;
    TransposeTile(Bytes(w + WeightOffset(range, o, i)), Bytes(block.data()),
                  kColumnLines, outputs);
    Spread({block.data(), kColumn, kVector}, NextOf(w, range, o, i),
           taps.Element(i, o), taps.tap_step);
  });
}

void TransformTurnedWeights(const float* w, const WeightRange& range,
                            const TapMatrices& taps) {
  const std::array outputs = OutputSteps(range);
  ForEachBlock(range, [&](int64_t o, int64_t i) {
    alignas(kLineBytes) Block block;
    // Element (position, output, input).
    alignas(kLineBytes) Block turned;
    TransposeTile(Bytes(w + WeightOffset(range, o, i)), Bytes(block.data()),
                  kColumnLines, outputs);
    for (int64_t k = 0; k < kWindow; ++k) {
      TransposeTile(Bytes(block.data() + k * kVector),
                    Bytes(turned.data() + k * kVector * kVector), kLines,
                    kWindows);
    }
    const float* last = turned.data() + (kWindow - 1) * kVector * kVector;
    Spread({last, kVector, -kVector * kVector}, NextOf(w, range, o, i),
           taps.Element(o, i), taps.tap_step);
  });
}

void TransformToWeightGradient(const TapMatrices& taps,
                               const WeightRange& range, float* dw) {
  const std::array outputs = OutputSteps(range);
  ForEachBlock(range, [&](int64_t o, int64_t i) {
    alignas(kLineBytes) Block block;
    const Place result = PlaceOf(dw, range, o, i);
    RunByWidth<GatherRows<Vector>, GatherRows<HalfVector>>(
        taps.Element(i, o), taps.tap_step, &result, block.data());
    TransposeTile(Bytes(block.data()), Bytes(dw + WeightOffset(range, o, i)),
                  outputs, kColumnLines);
  });
}

}  // namespace partita
