// Loads, runs two steps, ends, and asks the judges.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/plan_run.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
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
constexpr uint64_t kSteps = 2;

// For how long the other threads wait for the host's commands, which may never
// end: once in a step.
constexpr std::chrono::seconds kHeadStart(2);

using HostCommand = IssuedWork::HostCommand;

// Notes in the account which command a thread performs, and lets the commands
// of the host go first.
class CommandAccount : public CommandObserver {
 public:
  explicit CommandAccount(FaultyDriver& driver) : driver_(driver) {
    driver.BeforeWaits([this] { LetTheHostGoFirst(); });
  }
  ~CommandAccount() override { driver_.BeforeWaits(nullptr); }

  // Once the devices are known, before the first step.
  absl::Status Prepare(const Entry& entry, const Devices& devices) {
    PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
    PARTITA_ASSIGN_OR_RETURN(const StreamDevices stream_devices,
                             FindStreamDevices(entry, commands, devices));
    for (const Command& command : commands) {
      HostCommand host;
      host.is_work =
          !stream_devices[command.stream]->properties().runs_behind_host;
      if (command.kind == Command::Kind::kRecord) host.records = command.event;
      if (command.kind == Command::Kind::kWait) host.waits_for = command.event;
      commands_.Add(host);
      if (host.is_work) ++host_commands_;
    }
    return absl::OkStatus();
  }

  void BeginStep() {
    driver_.Account([](IssuedWork& work) { work.BeginStep(); });
    const std::lock_guard<std::mutex> held(lock_);
    open_host_commands_ = host_commands_;
  }
  void EndStep() {
    driver_.Account([](IssuedWork& work) { work.EndStep(); });
    const std::lock_guard<std::mutex> held(lock_);
    open_host_commands_ = 0;
  }

  void Before(uint64_t step, CommandId command) override {
    driver_.Account([&](IssuedWork& work) {
      work.BeginCommand(step, command, commands_[command]);
    });
  }
  void After(uint64_t step, CommandId command) override {
    driver_.Account(
        [&](IssuedWork& work) { work.EndCommand(commands_[command]); });
    if (!commands_[command].is_work) return;
    const std::lock_guard<std::mutex> held(lock_);
    --open_host_commands_;
    changed_.notify_all();
  }

 private:
  // A thread that waits for the GPU shows all threads what that wrote: a
  // command of the host that nothing holds back comes before that.
  void LetTheHostGoFirst() {
    std::unique_lock<std::mutex> held(lock_);
    if (!changed_.wait_for(held, kHeadStart,
                           [&] { return open_host_commands_ <= 0; })) {
      open_host_commands_ = 0;
    }
  }

  FaultyDriver& driver_;
  IdVector<CommandId, HostCommand> commands_;
  int64_t host_commands_ = 0;  // those that are work
  std::mutex lock_;
  std::condition_variable changed_;
  int64_t open_host_commands_ = 0;  // of the step
};

// Notes in the account which command each node of the graphs is for.
void SetCommands(const EntryRunner& runner, FaultyDriver& driver) {
  for (const GraphRun* run : runner.Graphs()) {
    for (int slot = 0; slot < runner.context().entry->depth; ++slot) {
      const BuiltGraph& built = run->graph(slot);
      const auto& graph = static_cast<const CudaGraph&>(*built.graph);
      for (size_t i = 0; i < run->actions().size(); ++i) {
        const CommandId command = run->actions()[i].action().command;
        for (int n = built.nodes_before[i]; n < built.nodes_before[i + 1];
             ++n) {
          driver.SetCommand(graph.node(DeviceNodeId(n)), command);
        }
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

absl::Status RunStep(Executor& executor, uint64_t step,
                     CommandAccount& commands,
                     std::vector<HostTensor>& values) {
  const Plan& plan = executor.plan();
  const Entry& entry = plan.entries[0];
  const std::vector<HostTensor> inputs = InputsOf(entry, step);
  std::vector<const void*> in;
  for (const HostTensor& input : inputs) in.push_back(input.bytes());
  std::vector<HostTensor> outputs;
  std::vector<void*> out;
  for (const Port& port : entry.outputs) {
    out.push_back(outputs.emplace_back(port.type).bytes());
  }
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + kUntilItEnds;
  commands.BeginStep();
  const absl::Status status = executor.Run(0, {in, out}, options);
  commands.EndStep();
  PARTITA_RETURN_IF_ERROR(status);
  for (HostTensor& output : outputs) values.push_back(std::move(output));
  for (const Variable& variable : plan.module.variables()) {
    PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> replicas,
                             executor.ReadReplicas(variable.name));
    for (HostTensor& value : replicas) values.push_back(std::move(value));
  }
  return absl::OkStatus();
}

absl::Status LoadAndRun(const Workload& workload, bool is_faulty,
                        FaultyDriver& driver, PlanRun& run) {
  static const PlanLibraries& test = *new PlanLibraries;
  KernelLibraries libraries = test.all;
  for (const KernelLibrary* library : BackendOf(DeviceKind::kCpu).libraries()) {
    libraries.push_back(library);
  }
  CommandAccount commands(driver);
  PARTITA_ASSIGN_OR_RETURN(Devices devices,
                           DevicesOf(*workload.plan, driver.api()));
  PARTITA_RETURN_IF_ERROR(commands.Prepare(workload.plan->entries[0], devices));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Executor> executor,
      Executor::New(
          workload.plan, std::move(devices), std::move(libraries),
          {.launch_graphs = workload.launches_graphs, .observer = &commands}));
  SetCommands(executor->runner(0), driver);
  run.graphs = static_cast<int>(executor->runner(0).Graphs().size());
  if (!is_faulty) run.proof = ProveGraphs(executor->runner(0), driver.api());
  commands.EndStep();  // of loading
  for (uint64_t step = 0; step < kSteps; ++step) {
    PARTITA_RETURN_IF_ERROR(RunStep(*executor, step, commands, run.values));
  }
  return absl::OkStatus();
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
    run.status = LoadAndRun(workload, fault.has_value(), driver, run);
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
