// One command beside its node: what the checks of every kind of command share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_FORM_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_FORM_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/ports.h"

namespace partita {

// What speaks of the node needs an instance that exists; ids exist always.
class CommandForm {
 public:
  CommandForm(const EntryView& view, int c, Findings& findings)
      : view_(view), c_(c), command_(view.commands[c]), findings_(findings) {}

  const EntryView& view() const { return view_; }
  const Command& command() const { return command_; }
  // False for kinds of commands that compute and move no node's value.
  bool speaks_of_node() const;
  OpView node() const { return view_.graph().view(command_.instance.node); }
  std::string NodeText() const {
    return view_.NodeText(command_.instance.node);
  }
  // Members of the collective, or devices of the node.
  size_t NumInstances() const;
  const std::string& InstanceDevice() const;
  const std::string& DeviceName(DeviceId id) const {
    return view_.device(id).traits.name;
  }

  // Reports `what` of this command.
  void Add(Rule rule, absl::string_view what);

  // The instance runs where its stream is, and all its buffers are there.
  void CheckOwnDevice();
  // `what` makes the text of what has the bytes.
  void ExpectBytes(BufferId id, int64_t bytes,
                   absl::FunctionRef<std::string()> what);
  // The bytes of a member's piece of a value, in one block.
  void ExpectValue(BufferId id, ValueId value, const Sharding& sharding,
                   int member);
  // Wherever the arena begins, and in the bytes of every step.
  void ExpectAligned(BufferId id, int64_t alignment);

 private:
  void ExpectDense(BufferId id, DType dtype);

  const EntryView& view_;
  const int c_;
  const Command& command_;
  Findings& findings_;
};

// By kind of command. Each is called with ids and an instance that exist.
void CheckKernelForm(CommandForm& form);
void CheckCopyForm(CommandForm& form);
void CheckPortForm(CommandForm& form, const PortSlices& ports);
void CheckCollectiveForm(CommandForm& form);
void CheckMessageForm(CommandForm& form);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_FORM_H_
