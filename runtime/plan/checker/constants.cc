// Compares what commands write with the bytes of constants.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/proof.h"

namespace partita {
namespace {

class ConstantWrites {
 public:
  ConstantWrites(const EntryView& view, Findings& findings)
      : view_(view), findings_(findings), ends_(view.plan->devices.size()) {
    for (const Entry& entry : view.plan->entries) {
      for (const PersistentValue& value : entry.persistent) {
        const Buffer& buffer = entry.buffers[value.buffer.index];
        if (!entry.graph->view(value.node).is(kConstant)) continue;
        if (buffer.range.empty()) continue;
        ends_[buffer.device.index][buffer.range.offset] = buffer.range.end();
      }
    }
  }

  void Check(CommandId c) {
    const Command& command = view_.commands[c];
    for (BufferId id : command.results) CheckWrite(c, id);
    if (command.workspace.valid()) CheckWrite(c, command.workspace);
  }

 private:
  void CheckWrite(CommandId c, BufferId id) {
    const Buffer& buffer = view_.buffer(id);
    if (!buffer.persistent) return;
    const auto& ends = ends_[buffer.device.index];
    ForEachBlock(buffer.range, 0, [&](ByteSpan block) {
      auto it = ends.lower_bound(block.end);
      if (it == ends.begin()) return;
      --it;
      if (it->second > block.begin) Report(c, id, {it->first, it->second});
    });
  }

  void Report(CommandId c, BufferId id, ByteSpan constant) {
    Finding finding = view_.Found(
        Rule::kPersistent, c,
        absl::StrCat(view_.places.Text(c), " writes ", view_.BufferText(id),
                     " over the constant in ",
                     view_.BytesText(view_.buffer(id), constant),
                     "; a constant is only read, in every step; use other "
                     "bytes"));
    finding.device = view_.buffer(id).device;
    finding.bytes = constant;
    findings_.Add(std::move(finding));
  }

  const EntryView& view_;
  Findings& findings_;
  // By device: from the first byte of each constant to one past its last.
  // Constants are disjoint or identical (CheckPersistent).
  std::vector<absl::btree_map<int64_t, int64_t>> ends_;
};

}  // namespace

void CheckConstants(const EntryView& view, Findings& findings) {
  ConstantWrites writes(view, findings);
  for (CommandId c : view.commands.ids()) {
    if (findings.full()) return;
    writes.Check(c);
  }
}

}  // namespace partita
