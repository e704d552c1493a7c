// Reorders around a primitive.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/relaid_primitive.h"

#include <utility>

#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "kernels/cpu/memory_desc.h"

namespace partita {
namespace {

TensorType InLayout(TensorType type, const Layout& layout) {
  type.layout = layout;
  return type;
}

// Reserves memory for a value of the type; moves `offset` to its end.
int64_t Reserve(const TensorType& type, int64_t& offset) {
  const int64_t begin = offset;
  offset += RoundUp(type.num_bytes(), kWorkspaceAlignment);
  return begin;
}

// Setting the pointer of a memory object writes zeros into its padding, but
// operands are read-only. A reorder pads its result itself.
dnnl::memory Unpadded(const dnnl::memory::desc& desc) {
  const int64_t elements =
      static_cast<int64_t>((desc.get_size() + 3) / sizeof(float));
  return dnnl::memory(RowMajorDesc({elements}), CpuEngine(), DNNL_MEMORY_NONE);
}

}  // namespace

int64_t RelaidWorkspace(const OpView& node, const LayoutWish& given,
                        const OnednnRecipe& recipe) {
  int64_t bytes = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    if (recipe.results[i] == given.results[i]) continue;
    Reserve(InLayout(node.result_type(i), recipe.results[i]), bytes);
  }
  for (int i = 0; i < node.num_operands(); ++i) {
    if (recipe.operands[i] == given.operands[i]) continue;
    if (node.operand(i).constant() != nullptr) continue;
    Reserve(InLayout(node.operand_type(i), recipe.operands[i]), bytes);
  }
  return bytes + WorkspaceBytes(recipe);
}

RelaidPrimitive::RelaidPrimitive(const OpView& node, const OnednnRecipe& recipe,
                                 int threads)
    : threads_(threads),
      stream_(CpuEngine()),
      primitive_(recipe, threads),
      operands_(node.num_operands()),
      results_(node.num_results()) {
  int64_t offset = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType wanted = InLayout(node.result_type(i), recipe.results[i]);
    if (wanted == node.result_type(i)) continue;
    const int64_t place = Reserve(wanted, offset);
    after_.push_back(MakeRelayout(i, place, wanted, node.result_type(i)));
  }
  for (int i = 0; i < node.num_operands(); ++i) {
    AddOperand(node, recipe, i, offset);
  }
  scratchpad_offset_ = offset;
}

void RelaidPrimitive::AddOperand(const OpView& node, const OnednnRecipe& recipe,
                                 int index, int64_t& offset) {
  const TensorType& given = node.operand_type(index);
  const TensorType wanted = InLayout(given, recipe.operands[index]);
  if (wanted == given) return;
  if (node.operand(index).constant() != nullptr) {
    return Pack(node, index, wanted);
  }
  const int64_t place = Reserve(wanted, offset);
  before_.push_back(MakeRelayout(index, place, given, wanted));
}

void RelaidPrimitive::Pack(const OpView& node, int operand,
                           const TensorType& wanted) {
  const HostTensor& constant = *node.operand(operand).constant();
  packed_.push_back({operand, HostTensor(wanted)});
  ConvertLayout(constant, packed_.back().tensor);
}

RelaidPrimitive::Relayout RelaidPrimitive::MakeRelayout(
    int index, int64_t offset, const TensorType& from,
    const TensorType& to) const {
  // All layouts of a choice and of the node have descriptors.
  const dnnl::memory::desc source = *DescOf(from), target = *DescOf(to);
  const dnnl::reorder::primitive_desc reorder(CpuEngine(), source, CpuEngine(),
                                              target);
  return {index, offset, dnnl::reorder(reorder), Unpadded(source),
          Unpadded(target)};
}

absl::Status RelaidPrimitive::Run(Relayout& relayout, const void* from,
                                  void* to) {
  PARTITA_RETURN_IF_ERROR(OnednnStatus(
      dnnl_memory_set_data_handle(relayout.from.get(), const_cast<void*>(from)),
      "placing a value"));
  PARTITA_RETURN_IF_ERROR(OnednnStatus(
      dnnl_memory_set_data_handle(relayout.to.get(), to), "placing a value"));
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, relayout.from.get()},
                                       {DNNL_ARG_TO, relayout.to.get()}};
  return OnednnStatus(dnnl_primitive_execute(relayout.reorder.get(),
                                             stream_.get(), 2, arguments),
                      "reordering");
}

absl::Status RelaidPrimitive::Launch(const LaunchArgs& args) {
  const ThreadScope threads(threads_);
  std::byte* const workspace = static_cast<std::byte*>(args.workspace);
  operands_.assign(args.operands.begin(), args.operands.end());
  results_.assign(args.results.begin(), args.results.end());
  for (Packed& packed : packed_) {
    operands_[packed.operand] = packed.tensor.bytes();
  }
  for (Relayout& relayout : before_) {
    void*& operand = operands_[relayout.index];
    void* const place = workspace + relayout.offset;
    PARTITA_RETURN_IF_ERROR(Run(relayout, operand, place));
    operand = place;
  }
  for (const Relayout& relayout : after_) {
    results_[relayout.index] = workspace + relayout.offset;
  }
  LaunchArgs relaid = args;
  relaid.operands = operands_;
  relaid.results = results_;
  relaid.workspace = workspace + scratchpad_offset_;
  PARTITA_RETURN_IF_ERROR(primitive_.Launch(relaid));
  for (Relayout& relayout : after_) {
    PARTITA_RETURN_IF_ERROR(
        Run(relayout, results_[relayout.index], args.results[relayout.index]));
  }
  return absl::OkStatus();
}

}  // namespace partita
