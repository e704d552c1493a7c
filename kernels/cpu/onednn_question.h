// Questions to a process whose oneDNN uses other instructions, and its answers,
// as text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_QUESTION_H_
#define PARTITA_KERNELS_CPU_ONEDNN_QUESTION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"

namespace partita {

// One letter for each operand: 'c' for a constant, '-' for any other value.
// Weights in training have kernels of their own.
std::string ConstantOperands(const OpView& node);

// "Which kernels compute this node on that device?" Has the types of constant
// operands, and those properties of the device that change answers.
std::string OnednnQuestionText(const OpView& node, const DeviceTraits& device);

struct OnednnQuestion {
  OpView node() const { return module.functions().back()->view(id); }
  Module module;
  NodeId id;  // the last function's
  DeviceTraits device;
};
// InvalidArgument for any other text.
absl::StatusOr<OnednnQuestion> ParseOnednnQuestion(absl::string_view text);

std::string OnednnAnswerText(const std::vector<KernelChoice>& choices);
absl::StatusOr<std::vector<KernelChoice>> ParseOnednnAnswer(
    absl::string_view text, const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_QUESTION_H_
