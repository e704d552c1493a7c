// Nodes drawn at random, by kind of op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_DRAWN_NODE_H_
#define PARTITA_TESTS_KERNELS_DRAWN_NODE_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "kernels/testing/kernel_check.h"
#include "tests/kernels/dice.h"

namespace partita {

struct DrawnNode {
  OneNode one;
  // Operands that random numbers do not suit, such as indices.
  std::vector<std::unique_ptr<HostTensor>> given = {};
  double tolerance = 0;  // see KernelCheckOptions
  double low = -2;
};

// Nodes that one kind of kernel computes: any extents, strides, paddings,
// groups and axes that its ops allow, small enough for eval.
struct NodeKind {
  const char* name;
  DrawnNode (*draw)(Dice& dice);
  int share = 1;  // how many are drawn for each of another kind
};

absl::Span<const NodeKind> ConvolutionKinds();
absl::Span<const NodeKind> ProductKinds();
absl::Span<const NodeKind> ImageKinds();
absl::Span<const NodeKind> LineKinds();
absl::Span<const NodeKind> MoveKinds();
std::vector<NodeKind> AllNodeKinds();

TensorType Type(DType dtype, const Shape& dims);
inline TensorType F32(const Shape& dims) { return Type(DType::kF32, dims); }

// A body over inputs of these types, fused into one node.
class DrawnBody {
 public:
  DrawnBody();
  ValueId Input(const TensorType& type);
  ValueId Add(const OpDef& op, std::vector<ValueId> operands,
              Attributes attributes = {});
  const Shape& dims(ValueId value) const { return graph_->type(value).dims; }
  // One or more of: a sum with one value per channel, or with a full tensor; a
  // function.
  ValueId AddEpilogue(ValueId value, int channel_dim, Dice& dice);
  OneNode Fuse(ValueId output);

 private:
  std::unique_ptr<LiteralPool> pool_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_DRAWN_NODE_H_
