// What determines the bits of a kernel's results, besides operands and types.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ARITHMETIC_H_
#define PARTITA_GRAPH_ARITHMETIC_H_

#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "graph/dtype.h"

namespace partita {

// Results that differ from those of IEEE 754 in NaN, infinities or denormals:
// docs/internals/numerics.md.
struct IeeeViolations {
  bool any() const { return tiles || epilogue || denormals; }
  friend bool operator==(const IeeeViolations&,
                         const IeeeViolations&) = default;

  bool tiles = false;      // sums over tiles (Winograd)
  bool epilogue = false;   // activations after a product
  bool denormals = false;  // flushed to zero
};

// Two kernels with equal arithmetics compute equal bits from equal operands.
struct Arithmetic {
  friend bool operator==(const Arithmetic&, const Arithmetic&) = default;

  // What the text stands for. Any text is one: what is not recognised, such as
  // that of another version, is part of `source` or `implementation`.
  static Arithmetic Parse(absl::string_view text);
  // "onednn 2.6.3 jit:avx2 threads 2 tiles not ieee"
  std::string ToString() const;

  std::string source;          // library or loop with its version, in at most
                               // two words: "onednn 2.6.3", "exact"
  std::string implementation;  // which of the source's: "jit:avx2"; or empty
  int threads = 0;  // 0 if the order of additions does not depend on them
  IeeeViolations violates;
  bool relaid = false;              // between reorders, in layouts of its own
  std::optional<DType> rounded_to;  // from f32
};

// That of kernels with the bits of eval.
inline Arithmetic ExactArithmetic() { return {.source = "exact"}; }

// One if all ranks of a node's device set have the same; else each that
// differs, in the order of ranks. Empty: any.
using Arithmetics = absl::InlinedVector<Arithmetic, 1>;

// "onednn 2.6.3 jit:avx2 threads 2 | onednn 2.6.3 jit:avx2 threads 1"
std::string ArithmeticsText(const Arithmetics& arithmetics);
Arithmetics ParseArithmetics(absl::string_view text);

}  // namespace partita

#endif  // PARTITA_GRAPH_ARITHMETIC_H_
