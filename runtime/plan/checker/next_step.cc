// Compares persistent ranges at the end of a step with the graph's updates.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/next_step.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/shards.h"

namespace partita {
namespace {

class NextStep {
 public:
  NextStep(const EntryView& view, Names& names, NamedMemory& memory,
           Findings& findings)
      : view_(view),
        names_(names),
        memory_(memory),
        findings_(findings),
        kept_(view.graph().updates().size()) {
    const std::vector<VariableUpdate>& updates = view.graph().updates();
    for (size_t i = 0; i < updates.size(); ++i) {
      update_of_[updates[i].variable] = i;
    }
  }

  void Check() {
    for (const Entry& entry : view_.plan->entries) {
      for (const PersistentValue& value : entry.persistent) {
        CheckValue(entry, value);
      }
    }
    for (size_t i = 0; i < kept_.size(); ++i) {
      const VariableUpdate& update = view_.graph().updates()[i];
      if (!kept_[i]) ReportLost(update);
      if (view_.micro_batches() > 1 && names_.Varies(update.value)) {
        ReportOverwritten(update);
      }
    }
  }

 private:
  std::optional<size_t> UpdateOf(const OpView& node) const {
    if (!node.is(kVariable)) return std::nullopt;
    const auto it = update_of_.find(node.attr_string("name"));
    if (it == update_of_.end()) return std::nullopt;
    return it->second;
  }

  void CheckValue(const Entry& entry, const PersistentValue& value) {
    const std::optional<size_t> update =
        UpdateOf(entry.graph->view(value.node));
    if (update.has_value()) kept_[*update] = true;
    std::optional<Finding> finding =
        memory_.Mismatch(CommandId(), entry.buffers[value.buffer.index],
                         Expected(entry, value, update));
    if (!finding.has_value()) return;
    finding->rule = Rule::kNextStep;
    finding->message = absl::StrCat(
        view_.Prefix(), "the next step finds its variable or constant in ",
        finding->message);
    findings_.Add(*std::move(finding));
  }

  std::vector<NamedSegment> Expected(const Entry& entry,
                                     const PersistentValue& value,
                                     std::optional<size_t> update) {
    if (!update.has_value()) return names_.OfPersistent(entry, value);
    const OpView node = entry.graph->view(value.node);
    const ValueId updated = view_.graph().updates()[*update].value;
    if (view_.graph().type(updated) != node.result_type(0)) return {};
    return names_.Of(updated, ResultSharding(node.node(), 0), value.rank,
                     NumRanks(node.node().placement),
                     entry.buffers[value.buffer.index].device,
                     MicroBatchId(view_.micro_batches() - 1));
  }

  void ReportLost(const VariableUpdate& update) {
    findings_.Add(view_.Found(
        Rule::kNextStep,
        absl::StrCat("the update of variable ", update.variable,
                     ": found no persistent range that keeps it, or a second "
                     "update of the variable; expected a range and one update; "
                     "keep the variable in a persistent range")));
  }

  // A variable cannot hold the updates of all micro-batches.
  void ReportOverwritten(const VariableUpdate& update) {
    findings_.Add(view_.Found(
        Rule::kNextStep,
        absl::StrCat("the update of variable ", update.variable, ": found ",
                     view_.ValueText(update.value), ", which each of the ",
                     view_.micro_batches(),
                     " micro-batches makes anew, so that all but the last are "
                     "lost; expected one value a step; sum it up by "
                     "accumulate")));
  }

  const EntryView& view_;
  Names& names_;
  NamedMemory& memory_;
  Findings& findings_;
  absl::flat_hash_map<std::string, size_t> update_of_;  // by variable
  std::vector<bool> kept_;                              // by update
};

}  // namespace

void DefinePersistentValues(const EntryView& view, Names& names,
                            NamedMemory& memory) {
  for (const Entry& entry : view.plan->entries) {
    for (const PersistentValue& value : entry.persistent) {
      memory.DefinePersistent(entry.buffers[value.buffer.index],
                              names.OfPersistent(entry, value));
    }
  }
}

void CheckNextStep(const EntryView& view, Names& names, NamedMemory& memory,
                   Findings& findings) {
  NextStep(view, names, memory, findings).Check();
}

}  // namespace partita
