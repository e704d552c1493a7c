// Where the taps of a window are, as formulas (graph/ops/window.h).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_WINDOW_TAPS_H_
#define PARTITA_KERNELS_OP_PROGRAMS_WINDOW_TAPS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ops/window.h"
#include "kernels/op_programs/index_node.h"

namespace partita {

// Unimplemented for numbers that do not fit into 30 bits.
absl::Status CheckWindow(const IndexNode& node, const Window& window);

// Coordinates on one side of a window, and whether such an element exists.
struct TapPlace {
  std::vector<Register> at;
  Conditions exists;
};

// The element of the large side at tap `kernel` of position `small`.
TapPlace LargeOf(const IndexReader& read, const Window& window,
                 absl::Span<const Register> small,
                 absl::Span<const Register> kernel);
// The position that reads element `large` at tap `kernel`.
TapPlace SmallOf(const IndexReader& read, const Window& window,
                 absl::Span<const Register> large,
                 absl::Span<const Register> kernel);

// True if the tap counts as an element of an average: pads do if `with_pads`.
Conditions Counts(const IndexReader& read, const Window& window,
                  absl::Span<const Register> small,
                  absl::Span<const Register> kernel, bool with_pads);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_WINDOW_TAPS_H_
