// Launches a primitive.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_primitive.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/winograd/small_tile_weights.h"
#include "oneapi/dnnl/dnnl_debug.h"

namespace partita {
namespace {

// Setting the pointer of a memory object writes zeros into its padding, but
// operands may be mapped read-only. The primitive uses its own descriptor, so
// operands get one without padding.
dnnl::memory::desc WithoutPadding(const dnnl::memory::desc& desc) {
  const int64_t elements =
      static_cast<int64_t>((desc.get_size() + 3) / sizeof(float));
  return RowMajorDesc({elements});
}

// The image as a part of the padded one.
dnnl::memory::desc Inside(const OnednnRecipe::Padded& padded) {
  dnnl::memory::dims offsets(padded.image.dims().size(), 0);
  offsets.back() = padded.before;
  return padded.whole.submemory_desc(padded.image.dims(), offsets);
}

// True if the primitive reads the value from the start of the workspace.
bool IsTransformed(const OnednnRecipe& recipe,
                   const OnednnRecipe::Argument& argument) {
  if (recipe.padded.has_value()) return argument.id == DNNL_ARG_SRC;
  return recipe.winograd.has_value() && argument.id == DNNL_ARG_WEIGHTS;
}

}  // namespace

absl::Status OnednnStatus(dnnl_status_t code, absl::string_view doing) {
  if (code == dnnl_success) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("onednn: ", dnnl_status2str(code), " while ", doing));
}

OnednnPrimitive::OnednnPrimitive(const OnednnRecipe& recipe, int threads)
    : threads_(threads),
      primitive_(recipe.primitive),
      stream_(CpuEngine()),
      scratchpad_(recipe.primitive.scratchpad_desc(), CpuEngine(),
                  DNNL_MEMORY_NONE),
      summed_operand_(recipe.summed_operand.value_or(-1)),
      winograd_(recipe.winograd),
      transformed_bytes_(TransformedBytes(recipe)) {
  for (const OnednnRecipe::Argument& argument : recipe.arguments) {
    const dnnl::memory::desc desc =
        argument.is_result ? argument.desc : WithoutPadding(argument.desc);
    if (argument.is_result) result_bytes_ = desc.get_size();
    slots_.push_back({argument.is_result, IsTransformed(recipe, argument),
                      argument.index,
                      dnnl::memory(desc, CpuEngine(), DNNL_MEMORY_NONE)});
    arguments_.push_back({argument.id, slots_.back().memory.get()});
  }
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.get()});
  if (!recipe.padded.has_value()) return;
  const OnednnRecipe::Padded& padded = *recipe.padded;
  const dnnl::memory::desc inside = Inside(padded);
  const dnnl::reorder::primitive_desc reorder(CpuEngine(), padded.image,
                                              CpuEngine(), inside);
  padding_ = {
      padded.operand, dnnl::reorder(reorder),
      dnnl::memory(WithoutPadding(padded.image), CpuEngine(), DNNL_MEMORY_NONE),
      dnnl::memory(WithoutPadding(padded.whole), CpuEngine(),
                   DNNL_MEMORY_NONE)};
}

absl::Status OnednnPrimitive::SetPlaces(const LaunchArgs& args) {
  std::byte* const workspace = static_cast<std::byte*>(args.workspace);
  for (Slot& slot : slots_) {
    void* place =
        slot.is_result ? args.results[slot.index] : args.operands[slot.index];
    if (slot.is_transformed) place = workspace;
    PARTITA_RETURN_IF_ERROR(
        OnednnStatus(dnnl_memory_set_data_handle(slot.memory.get(), place),
                     "placing an argument"));
  }
  return OnednnStatus(dnnl_memory_set_data_handle(
                          scratchpad_.get(), workspace + transformed_bytes_),
                      "placing the scratchpad");
}

void OnednnPrimitive::TransformWeights(const LaunchArgs& args) {
  if (!winograd_.has_value()) return;
  TransformWinogradWeights(
      static_cast<const float*>(args.operands[winograd_->operand]),
      static_cast<float*>(args.workspace), winograd_->pairs, threads_);
}

absl::Status OnednnPrimitive::PadImage(const LaunchArgs& args) {
  if (!padding_.has_value()) return absl::OkStatus();
  std::memset(args.workspace, 0, transformed_bytes_);
  PARTITA_RETURN_IF_ERROR(
      OnednnStatus(dnnl_memory_set_data_handle(
                       padding_->from.get(), args.operands[padding_->operand]),
                   "placing an image"));
  PARTITA_RETURN_IF_ERROR(OnednnStatus(
      dnnl_memory_set_data_handle(padding_->to.get(), args.workspace),
      "placing a padded image"));
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, padding_->from.get()},
                                       {DNNL_ARG_TO, padding_->to.get()}};
  return OnednnStatus(dnnl_primitive_execute(padding_->reorder.get(),
                                             stream_.get(), 2, arguments),
                      "padding an image");
}

absl::Status OnednnPrimitive::Launch(const LaunchArgs& args) {
  const ThreadScope threads(threads_);
  if (summed_operand_ >= 0 &&
      args.operands[summed_operand_] != args.results[0]) {
    std::memcpy(args.results[0], args.operands[summed_operand_], result_bytes_);
  }
  TransformWeights(args);
  PARTITA_RETURN_IF_ERROR(PadImage(args));
  PARTITA_RETURN_IF_ERROR(SetPlaces(args));
  return OnednnStatus(
      dnnl_primitive_execute(primitive_.get(), stream_.get(),
                             static_cast<int>(arguments_.size()),
                             arguments_.data()),
      "executing");
}

}  // namespace partita
