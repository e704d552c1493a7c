// Prints docs/reference/gpu_kernels.md: the ops and dtypes with generated GPU
// kernels, and what the host computes.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/dtype.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"
#include "graph/op_def.h"
#include "graph/ops/testing/op_samples.h"
#include "kernels/op_programs/read_any_program.h"
#include "tools/reference/print_page.h"

namespace partita {
namespace {

constexpr const char* kHead =
    R"(# GPU kernels by op

Generated from the samples of the ops' definitions by `bazel run --config=opt //tests/docs:reference_test -- --update`; a test compares.
CPUs run every op. *Kernel* is what codegen makes for a GPU ([how](../internals/gpu_kernels.md)), for operands of these dtypes (without
operands: for results). *Host* is what has no such kernel, with the cause that `WhyHostFallback` (`kernels/gpu/ptx_catalog.h`) gives: a
planner places it on the host, and counts the transfers between.

| op | kernel | dtypes | host |
|---|---|---|---|
)";

const char* KindName(ProgramKind kind) {
  constexpr const char* kNames[] = {"elementwise", "rows", "indices"};
  return kNames[static_cast<int>(kind)];
}

// "... found u8[4, 3] as operand; expected ..." is "such a dtype as operand".
std::string CauseOf(const OpView& op, const absl::Status& status) {
  absl::string_view text = status.message();
  const size_t found = text.find("found ");
  if (found != absl::string_view::npos) text.remove_prefix(found + 6);
  text = text.substr(0, text.find("; expected"));
  if (op.num_operands() == 0) return std::string(text);
  return absl::StrReplaceAll(text,
                             {{op.operand_type(0).ToString(), "such a dtype"}});
}

// What is known of one op.
struct OpKernels {
  std::set<std::string> kinds;
  std::set<DType> dtypes;                       // with a kernel
  std::map<std::string, std::set<DType>> host;  // by cause
};

std::string DTypesText(const std::set<DType>& dtypes) {
  return absl::StrJoin(dtypes, ", ", [](std::string* out, DType dtype) {
    absl::StrAppend(out, DTypeName(dtype));
  });
}

// The dtype that a sample is tried with others instead of: of an elementwise op
// that of the last operand (the first may be a condition), else f32, or without
// f32 that of the first.
std::optional<DType> VariedDType(const OpSample& sample) {
  if (sample.operands.empty()) return std::nullopt;
  if (sample.op->traits.elementwise) return sample.operands.back().dtype;
  const bool has_f32 =
      absl::c_any_of(sample.operands, [](const SampleOperand& operand) {
        return operand.dtype == DType::kF32;
      });
  return has_f32 ? DType::kF32 : sample.operands.front().dtype;
}

// The sample with each dtype that it may have.
std::vector<OpSample> OverOperands(const OpSample& sample) {
  const std::optional<DType> varied = VariedDType(sample);
  if (!varied.has_value()) return {sample};
  std::vector<OpSample> all;
  for (int i = 0; i < kNumDTypes; ++i) {
    all.push_back(sample);
    for (SampleOperand& operand : all.back().operands) {
      if (operand.dtype == *varied) operand.dtype = static_cast<DType>(i);
    }
  }
  return all;
}

// The same for attributes that are dtypes.
std::vector<OpSample> OverAttributes(const OpSample& sample) {
  std::vector<OpSample> all = {sample};
  for (const AttrDef& attr : sample.op->attrs) {
    if (attr.name == nullptr || attr.kind != AttributeKind::kDType) continue;
    for (int i = 0; i < kNumDTypes; ++i) {
      all.push_back(sample);
      all.back().attributes.Set(attr.name, static_cast<DType>(i));
    }
  }
  return all;
}

void AddTo(const OpSample& sample, OpKernels& kernels) {
  LiteralPool literals;
  Graph graph("sample", &literals);
  const absl::StatusOr<NodeId> node = AddSample(sample, graph);
  if (!node.ok()) return;
  const OpView op = graph.view(*node);
  const DType dtype = op.num_operands() > 0 ? op.operand_type(0).dtype
                                            : op.result_type(0).dtype;
  const absl::StatusOr<GpuWork> work = CountGpuWork(op);
  if (work.ok()) {
    kernels.kinds.insert(KindName(work->kind));
    kernels.dtypes.insert(dtype);
  } else {
    kernels.host[CauseOf(op, work.status())].insert(dtype);
  }
}

std::map<std::string, OpKernels> AllKernels() {
  std::map<std::string, OpKernels> all;
  for (const OpSample& sample : OpSamples()) {
    for (const OpSample& typed : OverOperands(sample)) {
      for (const OpSample& one : OverAttributes(typed)) {
        AddTo(one, all[sample.op->name]);
      }
    }
  }
  return all;
}

// Some attributes or operands may have a kernel where others have none.
std::string HostDTypesText(const OpKernels& kernels,
                           const std::set<DType>& dtypes) {
  return absl::StrJoin(dtypes, ", ", [&](std::string* out, DType dtype) {
    absl::StrAppend(out, kernels.dtypes.contains(dtype) ? "some " : "",
                    DTypeName(dtype));
  });
}

std::string HostText(const OpKernels& kernels) {
  std::vector<std::string> causes;
  for (const auto& [cause, dtypes] : kernels.host) {
    causes.push_back(
        kernels.dtypes.empty()
            ? cause
            : absl::StrCat(HostDTypesText(kernels, dtypes), ": ", cause));
  }
  return absl::StrJoin(causes, "; ");
}

std::string Page() {
  std::string text = kHead;
  for (const auto& [name, kernels] : AllKernels()) {
    absl::StrAppend(
        &text, "| `", name, "` | ", absl::StrJoin(kernels.kinds, ", "), " | ",
        DTypesText(kernels.dtypes), " | ", HostText(kernels), " |\n");
  }
  return text;
}

}  // namespace
}  // namespace partita

int main() { return partita::PrintPage(partita::Page()); }
