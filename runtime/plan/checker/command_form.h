// One command and its node: what the checks of all kinds of commands share.
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

// Functions that use the node need an instance that exists; all ids must exist.
class CommandForm {
 public:
  CommandForm(const EntryView& view, CommandId c, Findings& findings)
      : view_(view), c_(c), command_(view.commands[c]), findings_(findings) {}

  const EntryView& view() const { return view_; }
  const Command& command() const { return command_; }
  // False for kinds of commands that neither compute nor copy a node's value.
  bool speaks_of_node() const;
  OpView node() const { return view_.graph().view(command_.instance.node); }
  std::string NodeText() const {
    return view_.NodeText(command_.instance.node);
  }
  // The ranks of the collective, or the devices of the node.
  size_t NumInstances() const;
  const std::string& InstanceDevice() const;
  const std::string& DeviceName(DeviceId id) const {
    return view_.device(id).traits.name;
  }

  // Reports `what` for this command.
  void Add(Rule rule, absl::string_view what);

  // The instance runs on the device of its stream, and all its buffers are
  // there.
  void CheckOwnDevice();
  // Expects a buffer of `bytes` bytes; `what` makes the text of what they hold.
  void ExpectBytes(BufferId id, int64_t bytes,
                   absl::FunctionRef<std::string()> what);
  // Expects the bytes of a rank's shard of a value, in one block.
  void ExpectValue(BufferId id, ValueId value, const Sharding& sharding,
                   int rank);
  // Expects an aligned address in every step, for any start of the arena.
  void ExpectAligned(BufferId id, int64_t alignment);

 private:
  void ExpectDense(BufferId id, DType dtype);

  const EntryView& view_;
  const CommandId c_;
  const Command& command_;
  Findings& findings_;
};

// The check of each kind of command. Needs: ids and an instance that exist.
void CheckKernelForm(CommandForm& form);
void CheckCopyForm(CommandForm& form);
void CheckPortForm(CommandForm& form, const PortSlices& ports);
void CheckCollectiveForm(CommandForm& form);
void CheckMessageForm(CommandForm& form);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_FORM_H_
