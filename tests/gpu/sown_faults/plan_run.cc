// Loads, runs steps, ends, and asks the judges.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/plan_run.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "graph/builder/random_tensor.h"
#include "graph/dtype.h"
#include "graph/status_macros.h"
#include "partita/backends/backend.h"
#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/executor/stream_devices.h"
#include "tests/gpu/emulated_machine.h"
#include "tests/gpu/graph_proof.h"
#include "tests/gpu/sown_faults/faulty_driver.h"

namespace partita {
namespace {

// A step that does not end by then never does.
constexpr std::chrono::seconds kUntilItEnds(60);
// Steps of sessions have numbers of their own in the account.
constexpr uint64_t kStepsOfSession = 16;

using HostCommand = IssuedWork::HostCommand;

// Notes in the account which command a thread of one session performs, and
// knows which commands of CPUs may be performed.
class CommandAccount : public CommandObserver {
 public:
  CommandAccount(FaultyDriver& driver, int session)
      : driver_(driver),
        first_step_(kStepsOfSession * static_cast<uint64_t>(session)) {}

  // Once the devices are known, before the first step.
  absl::Status Prepare(const Entry& entry, const Devices& devices) {
    PARTITA_ASSIGN_OR_RETURN(expanded_, Expand(entry));
    PARTITA_ASSIGN_OR_RETURN(const StreamDevices stream_devices,
                             FindStreamDevices(entry, expanded_, devices));
    for (const CommandId id : expanded_.ids()) {
      const Command& command = expanded_[id];
      HostCommand host;
      host.is_work =
          !stream_devices[command.stream]->properties().runs_behind_host;
      if (command.kind == Command::Kind::kRecord) {
        host.records = command.event;
        recorders_[command.event] = id;
      }
      if (command.kind == Command::Kind::kWait) host.waits_for = command.event;
      commands_.Add(host);
    }
    return absl::OkStatus();
  }

  void BeginStep(uint64_t step) {
    driver_.Account(
        [&](IssuedWork& work) { work.BeginStep(first_step_ + step); });
    const std::lock_guard<std::mutex> held(lock_);
    Progress& progress = steps_[step];
    progress.begun.assign(commands_.size(), false);
    progress.done.assign(commands_.size(), false);
  }
  void EndStep(uint64_t step) {
    driver_.Account(
        [&](IssuedWork& work) { work.EndStep(first_step_ + step); });
    const std::lock_guard<std::mutex> held(lock_);
    steps_.erase(step);
  }

  void Before(uint64_t step, CommandId command) override {
    driver_.Account([&](IssuedWork& work) {
      work.BeginCommand(first_step_ + step, command, commands_[command]);
    });
    const std::lock_guard<std::mutex> held(lock_);
    steps_.at(step).begun[command.index] = true;
  }
  void After(uint64_t step, CommandId command) override {
    driver_.Account(
        [&](IssuedWork& work) { work.EndCommand(commands_[command]); });
    const std::lock_guard<std::mutex> held(lock_);
    steps_.at(step).done[command.index] = true;
    changed_.notify_all();
  }

  // A thread that waits for the GPU shows all threads what that wrote: a
  // command of the host that nothing holds back comes before that.
  void LetTheHostGoFirst(std::chrono::milliseconds head_start) {
    std::unique_lock<std::mutex> held(lock_);
    changed_.wait_for(held, head_start,
                      [&] { return stops_ || !HostHasWork(); });
  }
  void Stop() {
    const std::lock_guard<std::mutex> held(lock_);
    stops_ = true;
    changed_.notify_all();
  }

 private:
  struct Progress {
    std::vector<bool> begun;  // by command
    std::vector<bool> done;
  };

  // True if a command of the host is not done that needs nothing of a GPU
  // except what was issued to it.
  bool HostHasWork() const {
    std::set<StreamId> held_back;  // streams of the host
    for (const auto& [step, progress] : steps_) {
      std::vector<bool> may_be_done = progress.begun;
      for (const CommandId id : commands_.ids()) {
        if (!commands_[id].is_work) continue;
        const Command& command = expanded_[id];
        may_be_done[id.index] = !held_back.contains(command.stream) &&
                                !WaitsForOthers(command, may_be_done);
        if (!may_be_done[id.index]) {
          held_back.insert(command.stream);
        } else if (!progress.done[id.index]) {
          return true;
        }
      }
    }
    return false;
  }
  // A record is in front of its waits.
  bool WaitsForOthers(const Command& command,
                      const std::vector<bool>& may_be_done) const {
    switch (command.kind) {
      case Command::Kind::kSend:
      case Command::Kind::kRecv:
        return true;
      case Command::Kind::kWait: {
        const auto recorder = recorders_.find(command.event);
        return recorder != recorders_.end() &&
               !may_be_done[recorder->second.index];
      }
      default:
        return false;
    }
  }

  FaultyDriver& driver_;
  const uint64_t first_step_;
  CommandList expanded_;
  IdVector<CommandId, HostCommand> commands_;
  std::map<EventId, CommandId> recorders_;
  std::mutex lock_;  // guards what follows
  std::condition_variable changed_;
  std::map<uint64_t, Progress> steps_;  // in flight
  bool stops_ = false;
};

// Notes in the account which command each node of a graph is for.
void SetCommands(const GraphRun& run, const BuiltGraph& built,
                 FaultyDriver& driver) {
  const auto& graph = static_cast<const CudaGraph&>(*built.graph);
  for (size_t i = 0; i < run.actions().size(); ++i) {
    const CommandId command = run.actions()[i].action().command;
    for (int n = built.nodes_before[i]; n < built.nodes_before[i + 1]; ++n) {
      driver.SetCommand(graph.node(DeviceNodeId(n)), command);
    }
  }
}
void SetCommands(const EntryRunner& runner, FaultyDriver& driver) {
  for (const GraphRun* run : runner.Graphs()) {
    for (int slot = 0; slot < runner.context().entry->depth; ++slot) {
      SetCommands(*run, run->graph(slot), driver);
      if (const BuiltGraph* traced = run->traced_graph(slot)) {
        SetCommands(*run, *traced, driver);
      }
    }
  }
}

// Other ones in each step, so that what a step finds of the one before it is
// wrong. Integers are classes or tokens.
std::vector<HostTensor> InputsOf(const Entry& entry, uint64_t step) {
  std::vector<HostTensor> inputs;
  for (const Port& port : entry.inputs) {
    const bool is_float = IsFloat(port.type.dtype);
    inputs.push_back(RandomTensor(port.type, 100 * (step + 1) + inputs.size(),
                                  is_float ? -2 : 0, is_float ? 2 : 4));
  }
  return inputs;
}

// One session of the plan, and its steps in flight.
class PlanSession {
 public:
  PlanSession(const Workload& workload, FaultyDriver& driver, int number)
      : workload_(workload),
        driver_(driver),
        number_(number),
        commands_(driver, number) {}

  CommandAccount& commands() { return commands_; }
  const EntryRunner& runner() const { return executor_->runner(0); }

  absl::Status Load() {
    static const PlanLibraries& test = *new PlanLibraries;
    KernelLibraries libraries = test.all;
    for (const KernelLibrary* library :
         BackendOf(DeviceKind::kCpu).libraries()) {
      libraries.push_back(library);
    }
    PARTITA_ASSIGN_OR_RETURN(
        Devices devices,
        DevicesOf(*workload_.plan, driver_.api(), workload_.split));
    PARTITA_RETURN_IF_ERROR(commands_.Prepare(entry(), devices));
    PARTITA_ASSIGN_OR_RETURN(
        executor_,
        Executor::New(workload_.plan, std::move(devices), std::move(libraries),
                      {.launch_graphs = workload_.launches_graphs,
                       .observer = &commands_}));
    SetCommands(runner(), driver_);
    driver_.Account([](IssuedWork& work) { work.EndLoading(); });
    return absl::OkStatus();
  }

  // Waits for the oldest step first, if there are as many as may be in flight.
  absl::Status Submit(std::vector<HostTensor>& values) {
    if (static_cast<int>(pending_.size()) == workload_.in_flight) {
      PARTITA_RETURN_IF_ERROR(Wait(values));
    }
    PendingStep& step = pending_.emplace_back();
    step.number = submitted_++;
    step.inputs = InputsOf(entry(), step.number + kStepsOfSession * number_);
    for (const HostTensor& input : step.inputs) {
      step.in.push_back(input.bytes());
    }
    for (const Port& port : entry().outputs) {
      step.out.push_back(step.outputs.emplace_back(port.type).bytes());
    }
    RunOptions options;
    options.deadline = std::chrono::steady_clock::now() + kUntilItEnds;
    options.trace = workload_.traces;
    commands_.BeginStep(step.number);
    return executor_->Submit(0, {step.in, step.out}, options).status();
  }

  // For the oldest step.
  absl::Status Wait(std::vector<HostTensor>& values) {
    PendingStep& step = pending_.front();
    const absl::Status status = executor_->Wait(step.number);
    commands_.EndStep(step.number);
    PARTITA_RETURN_IF_ERROR(status);
    // Graphs of traced steps are made by the first one.
    if (workload_.traces) SetCommands(runner(), driver_);
    for (HostTensor& output : step.outputs) values.push_back(std::move(output));
    pending_.pop_front();
    return pending_.empty() ? ReadVariables(values) : absl::OkStatus();
  }
  void End() { executor_.reset(); }
  absl::Status WaitForAll(std::vector<HostTensor>& values) {
    while (!pending_.empty()) PARTITA_RETURN_IF_ERROR(Wait(values));
    return absl::OkStatus();
  }

 private:
  struct PendingStep {
    uint64_t number = 0;
    std::vector<HostTensor> inputs;
    std::vector<HostTensor> outputs;
    std::vector<const void*> in;
    std::vector<void*> out;
  };

  const Entry& entry() const { return workload_.plan->entries[0]; }

  absl::Status ReadVariables(std::vector<HostTensor>& values) {
    for (const Variable& variable : workload_.plan->module.variables()) {
      PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> replicas,
                               executor_->ReadReplicas(variable.name));
      for (HostTensor& value : replicas) values.push_back(std::move(value));
    }
    return absl::OkStatus();
  }

  const Workload& workload_;
  FaultyDriver& driver_;
  const uint64_t number_;
  CommandAccount commands_;
  std::deque<PendingStep> pending_;  // outlives the executor's work
  uint64_t submitted_ = 0;
  std::unique_ptr<Executor> executor_;
};

absl::Status LoadAndRun(const Workload& workload, bool is_faulty,
                        FaultyDriver& driver,
                        std::vector<std::unique_ptr<PlanSession>>& sessions,
                        PlanRun& run) {
  for (const auto& session : sessions) {
    PARTITA_RETURN_IF_ERROR(session->Load());
    run.graphs = static_cast<int>(session->runner().Graphs().size());
    if (!is_faulty)
      run.proof.Update(ProveGraphs(session->runner(), driver.api()));
  }
  for (uint64_t step = 0; step < workload.steps; ++step) {
    for (const auto& session : sessions) {
      PARTITA_RETURN_IF_ERROR(session->Submit(run.values));
      if (workload.in_flight > 1) continue;
      PARTITA_RETURN_IF_ERROR(session->Wait(run.values));
    }
  }
  for (const auto& session : sessions) {
    PARTITA_RETURN_IF_ERROR(session->WaitForAll(run.values));
  }
  return absl::OkStatus();
}

// What comes of all sessions, from load to end.
absl::Status RunSessions(const Workload& workload, bool is_faulty,
                         FaultyDriver& driver, PlanRun& run) {
  std::vector<std::unique_ptr<PlanSession>> sessions;
  for (int i = 0; i < workload.sessions; ++i) {
    sessions.push_back(std::make_unique<PlanSession>(workload, driver, i));
  }
  driver.BeforeWaits([&] {
    for (const auto& session : sessions) {
      session->commands().LetTheHostGoFirst(workload.head_start);
    }
  });
  driver.AfterErrors([&] {
    for (const auto& session : sessions) session->commands().Stop();
  });
  const absl::Status status =
      LoadAndRun(workload, is_faulty, driver, sessions, run);
  for (const auto& session : sessions) session->End();
  driver.BeforeWaits(nullptr);
  driver.AfterErrors(nullptr);
  return status;
}

}  // namespace

PlanRun RunPlan(const Workload& workload, std::optional<SownFault> fault) {
  PlanRun run;
  EmulatedMachine machine(workload.machine);
  {
    FaultyDriver driver(
        machine.api(),
        {.fault = fault,
         .fetches_wait = workload.machine.readings.pageable_fetches_wait});
    run.status = RunSessions(workload, fault.has_value(), driver, run);
    driver.Account([&](IssuedWork& work) {
      run.violations = work.Violations(workload.needed);
    });
    run.kept = driver.Kept();
    run.is_sown = driver.is_sown();
    for (int kind = 0; kind < kCallKinds; ++kind) {
      run.calls[kind] = driver.count(static_cast<CallKind>(kind));
    }
  }
  run.findings = machine.Faults();
  return run;
}

bool HaveEqualBits(const std::vector<HostTensor>& a,
                   const std::vector<HostTensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].byte_span() != b[i].byte_span()) return false;
  }
  return true;
}

}  // namespace partita
