// Compares generated kernels with eval, for their tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_GENERATED_KERNELS_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_GENERATED_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op_view.h"
#include "kernels/testing/kernel_check.h"

namespace partita {

// The instruction sets of generated code that this processor can run.
std::vector<std::string> Isas();

TensorType F32(Shape dims);

// A body over inputs of these types; Add appends an op.
class Body {
 public:
  explicit Body(std::vector<TensorType> inputs);
  ValueId input(int i) const { return values_[i]; }
  ValueId Constant(float value);
  ValueId Add(const OpDef& op, std::vector<ValueId> operands,
              Attributes attributes = {});
  const TensorType& type(ValueId value) const { return graph_->type(value); }
  OneNode Fuse(std::vector<ValueId> outputs);

 private:
  std::unique_ptr<LiteralPool> pool_;
  std::unique_ptr<Graph> graph_;
  std::vector<ValueId> values_;
};

CheckReport CheckOn(const std::string& isa, const OpView& node,
                    KernelCheckOptions options = {});

// With one thread and with two, for every available instruction set.
void ExpectRight(const OpView& node, KernelCheckOptions options = {});

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_GENERATED_KERNELS_H_
