// Checks with the library that runs what the catalog builds.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/generated_kernels.h"

#include <utility>

#include "gtest/gtest.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/native_code/trusted_code.h"

namespace partita {

std::vector<std::string> Isas() {
  std::vector<std::string> isas;
  for (const char* isa : {"sse4", "avx2", "avx512"}) {
    if (ProcessorRuns(CodeTarget(isa))) isas.push_back(isa);
  }
  return isas;
}

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

Body::Body(std::vector<TensorType> inputs)
    : pool_(std::make_unique<LiteralPool>()),
      graph_(std::make_unique<Graph>("body", pool_.get())) {
  for (TensorType& type : inputs) {
    values_.push_back(graph_->AddInput("", std::move(type)));
  }
}

ValueId Body::Constant(float value) {
  HostTensor scalar(F32({}));
  scalar.data<float>()[0] = value;
  return graph_->AddConstant(pool_->Add(std::move(scalar)));
}

ValueId Body::Add(const OpDef& op, std::vector<ValueId> operands,
                  Attributes attributes) {
  NodeSpec spec{.op = &op, .operands = {}, .attributes = attributes};
  spec.operands.assign(operands.begin(), operands.end());
  absl::StatusOr<ValueId> value = graph_->AddValue(std::move(spec));
  EXPECT_TRUE(value.ok()) << value.status();
  return *value;
}

OneNode Body::Fuse(std::vector<ValueId> outputs) {
  graph_->SetOutputs(std::move(outputs));
  return OneNode(std::move(pool_), std::move(graph_));
}

CheckReport CheckOn(const std::string& isa, const OpView& node,
                    KernelCheckOptions options) {
  options.isa = isa;
  return CheckKernels(node, CodegenCatalog(), NativeCodeLibrary(), options);
}

void ExpectRight(const OpView& node, KernelCheckOptions options) {
  for (const std::string& isa : Isas()) {
    const CheckReport report = CheckOn(isa, node, options);
    EXPECT_TRUE(report.status.ok()) << isa << ": " << report.status;
    EXPECT_EQ(report.kernels.size(), 2u) << "one for each number of threads";
  }
}

}  // namespace partita
