// Searches the runs of the loose machine for one that goes wrong.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/oracle.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/testing/oracle/loose_machine.h"
#include "runtime/plan/checker/testing/oracle/port_offsets.h"
#include "runtime/plan/checker/testing/oracle/reference.h"
#include "runtime/plan/checker/testing/oracle/roles.h"
#include "runtime/plan/checker/testing/oracle/semantics.h"
#include "runtime/plan/checker/testing/oracle/tight_machine.h"
#include "runtime/plan/checker/testing/oracle/unrolled.h"

namespace partita {
namespace {

using Kind = Command::Kind;

class Search {
 public:
  Search(const Unrolled& program, TermTable& terms, const Reference& reference,
         const OracleOptions& options)
      : program_(program),
        options_(options),
        machine_(program, terms, reference),
        random_(options.seed) {}

  // True if all runs were searched, or if a run did harm.
  bool All() {
    std::vector<MachineState> open = {machine_.Initial()};
    absl::flat_hash_set<std::string> seen = {open[0].Key()};
    while (!open.empty() && harm().empty()) {
      if (static_cast<int64_t>(seen.size()) > options_.max_states) return false;
      const MachineState state = std::move(open.back());
      open.pop_back();
      const std::vector<int> possible = Possible(state);
      if (possible.empty()) Finish(state);
      for (int op : possible) {
        MachineState next = state;
        Act(next, op);
        if (seen.insert(next.Key()).second) open.push_back(std::move(next));
      }
    }
    return true;
  }

  // For every op, the run that starts it as early and ends it as late as
  // possible.
  void Extremes() {
    for (int op = 0; op < NumOps() && harm().empty(); ++op) {
      MachineState state = machine_.Initial();
      std::vector<bool> asked(NumOps());
      if (!Started(state, op, asked)) continue;
      RunAllBut(state, op);
      RunAllBut(state, -1);
      Finish(state);
    }
  }

  void Random() {
    for (int i = 0; i < options_.random_runs && harm().empty(); ++i) {
      MachineState state = machine_.Initial();
      RunAllBut(state, -1);
      Finish(state);
    }
  }

  const std::string& harm() const {
    return stuck_.empty() ? machine_.harm() : stuck_;
  }

 private:
  int NumOps() const { return static_cast<int>(program_.ops.size()); }

  std::vector<int> Possible(const MachineState& state) const {
    std::vector<int> possible;
    for (int op = 0; op < NumOps(); ++op) {
      if (machine_.CanStart(state, op) || machine_.CanEnd(state, op)) {
        possible.push_back(op);
      }
    }
    return possible;
  }

  void Act(MachineState& state, int op) {
    if (machine_.CanStart(state, op)) {
      machine_.Start(state, op);
    } else {
      machine_.End(state, op);
    }
  }

  void Finish(const MachineState& state) {
    if (machine_.Done(state)) {
      machine_.CheckEnd(state);
    } else if (stuck_.empty() && harm().empty()) {
      stuck_ = "a loose run gets stuck";
    }
  }

  // Performs random actions until the end of `held` is the only one left.
  void RunAllBut(MachineState& state, int held) {
    while (harm().empty()) {
      std::vector<int> possible = Possible(state);
      if (held >= 0) {
        std::erase_if(possible, [&](int op) {
          return op == held && machine_.CanEnd(state, op);
        });
      }
      if (possible.empty()) return;
      Act(state, possible[random_() % possible.size()]);
    }
  }

  // Performs only what must happen before `op` can start, or end. False if that
  // depends on itself.
  bool Started(MachineState& state, int op, std::vector<bool>& asked) {
    if (state.phase[op] != MachineState::kQueued) return true;
    if (asked[op]) return false;
    asked[op] = true;
    const Op& what = program_.ops[op];
    if (what.previous >= 0 && !Ended(state, what.previous, asked)) return false;
    const int before = what.step - program_.depth;
    for (int c = 0; before >= 0 && c < program_.num_commands(); ++c) {
      if (!Ended(state, before * program_.num_commands() + c, asked)) {
        return false;
      }
    }
    if (what.what->kind == Kind::kWait) {
      if (what.partners.empty() || !Ended(state, what.partners[0], asked)) {
        return false;
      }
    }
    if (!machine_.CanStart(state, op)) return false;
    machine_.Start(state, op);
    return true;
  }

  bool Ended(MachineState& state, int op, std::vector<bool>& asked) {
    if (!Started(state, op, asked)) return false;
    if (state.phase[op] == MachineState::kEnded) return true;
    for (int partner : program_.ops[op].awaited) {
      if (!Started(state, partner, asked)) return false;
    }
    if (!machine_.CanEnd(state, op)) return false;
    machine_.End(state, op);
    return true;
  }

  const Unrolled& program_;
  const OracleOptions& options_;
  LooseMachine machine_;
  std::mt19937 random_;
  std::string stuck_;
};

// Reports outputs with a byte that a step does not fetch exactly once.
std::string FetchHarm(const Unrolled& program) {
  std::vector<std::vector<int>> fetched;
  for (const Port& port : program.entry->outputs) {
    fetched.emplace_back(port.type.num_bytes());
  }
  for (const Command& command : program.commands) {
    if (command.kind != Kind::kFetch) continue;
    std::vector<int>& bytes = fetched[command.port];
    for (int64_t offset : OffsetsInPort(program, command)) {
      if (offset >= static_cast<int64_t>(bytes.size())) {
        return "bytes beyond an output are fetched";
      }
      ++bytes[offset];
    }
  }
  for (const std::vector<int>& bytes : fetched) {
    for (int times : bytes) {
      if (times != 1) return "an output byte is not fetched once";
    }
  }
  return "";
}

// Each byte of a variable that the graph reads or updates must be persistent:
// else the next step and the caller cannot find it.
std::string LossHarm(const Plan& plan, const Entry& entry) {
  std::map<std::string, std::vector<bool>> kept;
  for (const VariableUpdate& update : entry.graph->updates()) {
    kept[update.variable].resize(
        entry.graph->type(update.value).RowMajor().num_bytes());
  }
  for (const OpView& node : entry.graph->ops(kVariable)) {
    kept[node.attr_string("name")].resize(
        node.result_type(0).RowMajor().num_bytes());
  }
  for (const Entry& any : plan.entries) {
    for (const PersistentValue& value : any.persistent) {
      const OpView node = any.graph->view(value.node);
      if (!node.is(kVariable)) continue;
      std::vector<bool>& bytes = kept[node.attr_string("name")];
      for (int64_t offset :
           OffsetsInWhole(node.result_type(0),
                          ResultValueSharding(node.node(), 0), value.rank)) {
        if (offset == kPadding) continue;
        if (offset < static_cast<int64_t>(bytes.size())) bytes[offset] = true;
      }
    }
  }
  for (const auto& [name, bytes] : kept) {
    if (std::find(bytes.begin(), bytes.end(), false) != bytes.end()) {
      return absl::StrCat("a byte of variable ", name, " is kept nowhere");
    }
  }
  return "";
}

// Reference values exist only for instances of the graph.
bool InstancesExist(const Unrolled& program) {
  for (const Command& command : program.commands) {
    if (command.kind != Kind::kKernel && command.kind != Kind::kCollective) {
      continue;
    }
    const OpView node = program.entry->graph->view(command.instance.node);
    const size_t ranks = command.kind == Kind::kCollective
                             ? RolesIn(node).size()
                             : node.node().placement.devices.size();
    if (command.instance.rank < 0 || !command.instance.micro_batch.valid() ||
        static_cast<size_t>(command.instance.rank) >= ranks) {
      return false;
    }
  }
  return true;
}

}  // namespace

Verdict Judge(const Plan& plan, int entry, const OracleOptions& options) {
  Verdict verdict;
  const absl::StatusOr<Unrolled> program = Unroll(plan, entry, options.steps);
  if (!program.ok() || !InstancesExist(*program)) {
    verdict.runnable = false;
    verdict.harm = "no machine can run it";
    return verdict;
  }
  verdict.harm = FetchHarm(*program);
  if (verdict.harmful()) return verdict;
  verdict.harm = LossHarm(plan, *program->entry);
  if (verdict.harmful()) return verdict;
  verdict.harm = WhereTightMachineSticks(*program);
  if (verdict.harmful()) return verdict;
  TermTable terms;
  const Reference reference(terms, *program->entry, options.steps,
                            program->micro_batches);
  Search search(*program, terms, reference, options);
  search.Extremes();
  if (search.harm().empty()) verdict.exhaustive = search.All();
  if (!verdict.exhaustive) search.Random();
  verdict.harm = search.harm();
  return verdict;
}

}  // namespace partita
