// The gates of one step of one line of an f32 LSTM, GRU or RNN, after the
// product with its hidden state.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_RECURRENT_ROWS_H_
#define PARTITA_KERNELS_CPU_RECURRENT_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_split.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/recurrence.h"
#include "kernels/cpu/gate_functions.h"
#include "kernels/vector/float_vector.h"

namespace partita {

// From the names that recurrences have for activations; nullopt for others.
inline std::optional<VectorFunction> FunctionOf(absl::string_view name) {
  if (name == "sigmoid") return VectorFunction::kSigmoid;
  if (name == "tanh") return VectorFunction::kTanh;
  if (name == "relu") return VectorFunction::kRelu;
  return std::nullopt;
}

// What a node computes, the same for all launches.
struct RecurrentSettings {
  explicit RecurrentSettings(const OpView& node)
      : extents(node), clip(static_cast<float>(node.attr_float("clip"))) {
    for (absl::string_view name :
         absl::StrSplit(node.attr_string("activations"), ' ')) {
      functions.push_back(*FunctionOf(name));
    }
    reverse = node.attr_ints("reverse");
    reverse.resize(extents.directions, 0);
    coupled = node.is(kLstm) && node.attr_bool("input_forget");
    late = node.is(kGru) && node.attr_bool("linear_before_reset");
  }

  int64_t lines() const { return extents.directions * extents.batch; }
  // For one line: hidden state, cell or state after the reset, sums, and a
  // separate product.
  int64_t LineFloats() const { return 2 * extents.units + 2 * extents.width; }
  int UsedThreads(int threads) const {
    const int64_t products =
        lines() * extents.steps * extents.width * extents.units;
    return products < (int64_t{1} << 18) ? 1 : threads;
  }

  RecurrenceExtents extents;
  float clip;
  std::vector<VectorFunction> functions;
  std::vector<int64_t> reverse;
  bool coupled;
  bool late;
};

// One step of one line.
struct RecurrentRow {
  const float* gates;      // the inputs' part
  const float* peepholes;  // null if there are none; so is bias
  const float* bias;
  float* hidden;
  float* cell;  // a GRU's: the state after the reset
  float* sums;
  float* product;  // with the hidden state
  float* y;
};

// Columns [u, u + lanes) of the units, in one part of a row of gates.
struct UnitColumns {
  int64_t u;
  int64_t lanes;

  [[gnu::always_inline]] void LoadFrom(const float* row, Vector& v) const {
    LoadLanes(row + u, lanes, 0, v);
  }
  [[gnu::always_inline]] void StoreTo(const Vector& v, float* row) const {
    StoreLanes(v, lanes, row + u);
  }
};

struct RnnRow {
  [[gnu::always_inline]] static inline void Run(const RecurrentSettings* s,
                                                const RecurrentRow* row) {
    Vector sum;
    for (int64_t u = 0; u < s->extents.units; u += kVector) {
      const UnitColumns at = {u, std::min(kVector, s->extents.units - u)};
      at.LoadFrom(row->sums, sum);
      ApplyClipped(s->functions[0], s->clip, sum);
      at.StoreTo(sum, row->hidden);
      at.StoreTo(sum, row->y);
    }
  }
};

// Gates are in the order input, output, forget, candidate.
struct LstmRow {
  [[gnu::always_inline]] static inline void Run(const RecurrentSettings* s,
                                                const RecurrentRow* row) {
    const int64_t units = s->extents.units;
    Vector input, output, forget, candidate, cell;
    for (int64_t u = 0; u < units; u += kVector) {
      const UnitColumns at = {u, std::min(kVector, units - u)};
      at.LoadFrom(row->cell, cell);
      at.LoadFrom(row->sums, input);
      Open(s, row, 0, at, cell, input);
      if (s->coupled) {
        forget = 1.0f - input;
      } else {
        at.LoadFrom(row->sums + 2 * units, forget);
        Open(s, row, 2, at, cell, forget);
      }
      at.LoadFrom(row->sums + 3 * units, candidate);
      ApplyClipped(s->functions[1], s->clip, candidate);
      cell = forget * cell + input * candidate;
      at.StoreTo(cell, row->cell);
      at.LoadFrom(row->sums + units, output);
      Open(s, row, 1, at, cell, output);
      Apply(s->functions[2], cell);
      output *= cell;
      at.StoreTo(output, row->hidden);
      at.StoreTo(output, row->y);
    }
  }

 private:
  [[gnu::always_inline]] static inline void Open(
      const RecurrentSettings* s, const RecurrentRow* row, int64_t gate,
      const UnitColumns& at, const Vector& cell, Vector& sum) {
    if (row->peepholes != nullptr) {
      Vector peephole;
      at.LoadFrom(row->peepholes + gate * s->extents.units, peephole);
      sum += peephole * cell;
    }
    ApplyClipped(s->functions[0], s->clip, sum);
  }
};

// Gates are in the order update, reset, candidate. The sums of the first two
// become the gates. If the reset precedes the product, also computes the state
// after it.
struct GruGates {
  [[gnu::always_inline]] static inline void Run(const RecurrentSettings* s,
                                                const RecurrentRow* row) {
    const int64_t units = s->extents.units;
    Vector gate, hidden;
    for (int64_t u = 0; u < 2 * units; u += kVector) {
      const UnitColumns at = {u, std::min(kVector, 2 * units - u)};
      at.LoadFrom(row->sums, gate);
      ApplyClipped(s->functions[0], s->clip, gate);
      at.StoreTo(gate, row->sums);
    }
    if (s->late) return;
    for (int64_t u = 0; u < units; u += kVector) {
      const UnitColumns at = {u, std::min(kVector, units - u)};
      at.LoadFrom(row->sums + units, gate);
      at.LoadFrom(row->hidden, hidden);
      hidden *= gate;
      at.StoreTo(hidden, row->cell);
    }
  }
};

// With the state's part of the candidate in the row's product.
struct GruState {
  [[gnu::always_inline]] static inline void Run(const RecurrentSettings* s,
                                                const RecurrentRow* row) {
    const int64_t units = s->extents.units;
    Vector update, reset, candidate, share, hidden;
    for (int64_t u = 0; u < units; u += kVector) {
      const UnitColumns at = {u, std::min(kVector, units - u)};
      at.LoadFrom(row->product, share);
      if (row->bias != nullptr) {
        at.LoadFrom(row->bias, reset);
        share += reset;
      }
      if (s->late) {
        at.LoadFrom(row->sums + units, reset);
        share *= reset;
      }
      at.LoadFrom(row->sums + 2 * units, candidate);
      candidate += share;
      ApplyClipped(s->functions[1], s->clip, candidate);
      at.LoadFrom(row->sums, update);
      at.LoadFrom(row->hidden, hidden);
      hidden = (1.0f - update) * candidate + update * hidden;
      at.StoreTo(hidden, row->hidden);
      at.StoreTo(hidden, row->y);
    }
  }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_RECURRENT_ROWS_H_
