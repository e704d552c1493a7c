// Sessions of a plan: refuses calls out of order, and keeps the state after a
// failure.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/executor.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "graph/thread_limits.h"
#include "runtime/executor/busy_guard.h"
#include "runtime/executor/memory_report.h"
#include "runtime/executor/thread_count.h"

namespace partita {
namespace {

struct PlacedVariable {
  const Entry* entry;
  const PersistentValue* value;
};

std::vector<PlacedVariable> FindVariable(const Plan& plan,
                                         absl::string_view name) {
  std::vector<PlacedVariable> found;
  for (const Entry& entry : plan.entries) {
    for (const PersistentValue& value : entry.persistent) {
      const OpView node = entry.graph->view(value.node);
      if (node.op().traits.reads_variable && node.attr_string("name") == name) {
        found.push_back({&entry, &value});
      }
    }
  }
  return found;
}

absl::Status NoSuchVariable(const Plan& plan, absl::string_view name) {
  return absl::NotFoundError(absl::StrCat("plan @", plan.name,
                                          ": found no variable @", name,
                                          "; expected one of the plan's"));
}

// Gathers a variable from the shards of its ranks.
absl::StatusOr<HostTensor> GatherVariable(const SessionMemory& memory,
                                          const Entry& entry,
                                          const OpView& node) {
  const Placement& placement = node.node().placement;
  const int ranks = static_cast<int>(placement.devices.size());
  const Sharding sharding = ShardingOf(placement.results, 0);
  std::vector<HostTensor> shards(ranks);
  for (const PersistentValue& value : entry.persistent) {
    if (value.node != node.id()) continue;
    HostTensor& shard = shards[value.rank];
    shard =
        HostTensor(ShardType(node.result_type(0), sharding, value.rank, ranks));
    PARTITA_RETURN_IF_ERROR(memory.ReadPersistent(entry, value, shard.bytes()));
  }
  std::vector<const HostTensor*> pointers;
  for (const HostTensor& shard : shards) {
    if (shard.bytes() == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          node.ToString(), ": found ranks without a shard in entry @",
          entry.name, "; expected one each; compile the plan again"));
    }
    pointers.push_back(&shard);
  }
  return JoinShards(node.result_type(0), sharding, pointers);
}

}  // namespace

Executor::Executor(std::shared_ptr<const Plan> plan, Devices devices,
                   KernelLibraries libraries)
    : plan_(std::move(plan)),
      devices_(std::move(devices)),
      libraries_(std::move(libraries)) {}

absl::StatusOr<std::unique_ptr<Executor>> Executor::New(
    std::shared_ptr<const Plan> plan, Devices devices,
    KernelLibraries libraries, const ExecutorOptions& options) {
  std::unique_ptr<Executor> executor(
      new Executor(std::move(plan), std::move(devices), std::move(libraries)));
  const Plan& contents = *executor->plan_;
  PARTITA_RETURN_IF_ERROR(
      CheckThreads(contents, executor->devices_, MostThreads()));
  PARTITA_ASSIGN_OR_RETURN(executor->memory_,
                           SessionMemory::New(contents, executor->devices_,
                                              options.constants_in_place));
  for (size_t e = 0; e < contents.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<EntryRunner> runner,
        EntryRunner::New(contents, static_cast<int>(e), executor->devices_,
                         *executor->memory_, executor->libraries_, options));
    executor->runners_.push_back(std::move(runner));
  }
  return executor;
}

absl::Status Executor::Run(int entry, const StepPorts& ports,
                           const RunOptions& options) {
  BusyGuard guard(busy_);
  PARTITA_RETURN_IF_ERROR(guard.status());
  PARTITA_RETURN_IF_ERROR(CheckIdle());
  PARTITA_ASSIGN_OR_RETURN(const uint64_t step,
                           SubmitStep(entry, ports, options));
  return WaitForStep(step);
}

absl::StatusOr<uint64_t> Executor::Submit(int entry, const StepPorts& ports,
                                          const RunOptions& options) {
  BusyGuard guard(busy_);
  PARTITA_RETURN_IF_ERROR(guard.status());
  return SubmitStep(entry, ports, options);
}

absl::Status Executor::Wait(uint64_t step) {
  BusyGuard guard(busy_);
  PARTITA_RETURN_IF_ERROR(guard.status());
  return WaitForStep(step);
}

absl::StatusOr<uint64_t> Executor::SubmitStep(int entry, const StepPorts& ports,
                                              const RunOptions& options) {
  if (!failed_.ok()) return failed_;
  if (entry < 0 || entry >= static_cast<int>(runners_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan @", plan_->name, ": found entry ", entry,
                     "; expected one of the plan's ", runners_.size()));
  }
  if (active_ != entry) PARTITA_RETURN_IF_ERROR(CheckIdle());
  active_ = entry;
  return runners_[entry]->Submit(ports, options);
}

absl::Status Executor::WaitForStep(uint64_t step) {
  if (active_ < 0) {
    return absl::FailedPreconditionError(
        "session: found a wait before any step was submitted; expected one "
        "after Submit()");
  }
  EntryRunner& runner = *runners_[active_];
  const int in_flight = runner.in_flight();
  absl::Status status = runner.Wait(step);
  if (runner.in_flight() == in_flight) return status;  // refused
  last_waited_ = step;
  if (status.ok()) return status;
  last_failure_ = runner.last_failure();
  if (!plan_->entries[active_].graph->updates().empty()) {
    failed_ = absl::FailedPreconditionError(absl::StrCat(
        "session: found its variables undefined after a failed step (",
        status.message(),
        "); expected its variables restored before the next call"));
  }
  return status;
}

absl::Status Executor::CheckIdle() const {
  if (!failed_.ok()) return failed_;
  if (active_ < 0 || runners_[active_]->in_flight() == 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("session: found ", runners_[active_]->in_flight(),
                   " steps of entry @", plan_->entries[active_].name,
                   " in flight; expected none; wait for them first"));
}

absl::Status Executor::Restore() {
  BusyGuard guard(busy_);
  PARTITA_RETURN_IF_ERROR(guard.status());
  if (active_ >= 0 && runners_[active_]->in_flight() > 0) {
    return absl::FailedPreconditionError(
        "session: found steps in flight; expected none; wait for them before "
        "Restore()");
  }
  PARTITA_RETURN_IF_ERROR(memory_->RestoreVariables());
  failed_ = absl::OkStatus();
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> Executor::ReadVariable(absl::string_view name) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> replicas,
                           ReadReplicas(name));
  return std::move(replicas.front());
}

absl::StatusOr<std::vector<HostTensor>> Executor::ReadReplicas(
    absl::string_view name) {
  BusyGuard guard(busy_);
  PARTITA_RETURN_IF_ERROR(guard.status());
  PARTITA_RETURN_IF_ERROR(CheckIdle());
  const std::vector<PlacedVariable> found = FindVariable(*plan_, name);
  if (found.empty()) return NoSuchVariable(*plan_, name);
  std::vector<HostTensor> replicas;
  for (const PlacedVariable& variable : found) {
    // Entries share variables, so the replicas of the first entry are all.
    if (variable.entry != found.front().entry) break;
    const OpView node = variable.entry->graph->view(variable.value->node);
    if (IsSharded(node)) {
      PARTITA_ASSIGN_OR_RETURN(replicas.emplace_back(),
                               GatherVariable(*memory_, *variable.entry, node));
      break;
    }
    HostTensor& value = replicas.emplace_back(node.result_type(0));
    PARTITA_RETURN_IF_ERROR(memory_->ReadPersistent(
        *variable.entry, *variable.value, value.bytes()));
  }
  return replicas;
}

absl::Status Executor::WriteVariable(absl::string_view name,
                                     const HostTensor& value) {
  BusyGuard guard(busy_);
  PARTITA_RETURN_IF_ERROR(guard.status());
  PARTITA_RETURN_IF_ERROR(CheckIdle());
  const std::vector<PlacedVariable> found = FindVariable(*plan_, name);
  if (found.empty()) return NoSuchVariable(*plan_, name);
  for (const PlacedVariable& variable : found) {
    const OpView node = variable.entry->graph->view(variable.value->node);
    if (value.type() != node.result_type(0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable @", name, ": found ", value.type().ToString(),
                       "; expected ", node.result_type(0).ToString()));
    }
    const Placement& placement = node.node().placement;
    const HostTensor shard =
        ShardOf(value, ShardingOf(placement.results, 0), variable.value->rank,
                static_cast<int>(placement.devices.size()));
    PARTITA_RETURN_IF_ERROR(memory_->WritePersistent(
        *variable.entry, *variable.value, shard.bytes()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DeviceMemory>> Executor::MemoryUse() const {
  return MemoryUseOf({*plan_, devices_, *memory_, runners_});
}

absl::StatusOr<std::vector<MemorySnapshot>> Executor::Snapshot() const {
  return MemorySnapshotOf({*plan_, devices_, *memory_, runners_});
}

std::vector<ReplacedKernel> Executor::ReplacedKernels() const {
  std::vector<ReplacedKernel> all;
  for (const auto& runner : runners_) {
    AddReplacedKernels(runner->ReplacedKernels(), all);
  }
  return all;
}

std::vector<StepLaunches> Executor::Launches() const {
  std::vector<StepLaunches> all;
  for (const auto& runner : runners_) {
    std::optional<StepLaunches> launches = runner->Launches();
    if (launches.has_value()) all.push_back(*std::move(launches));
  }
  return all;
}

std::vector<MeasuredCommand> Executor::LastTrace() const {
  if (active_ < 0) return {};
  return runners_[active_]->Trace(last_waited_);
}

}  // namespace partita
