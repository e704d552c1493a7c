// Feeds inputs, writes junk, and reads the results of steps.
// SPDX-License-Identifier: Apache-2.0

#include "tests/mutants/steps_runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

// Checks that all buffers are within the margins, wherever a mutation moved
// them.
absl::Status CheckInReach(const Plan& plan) {
  for (const Buffer& buffer : plan.entries[0].buffers) {
    const PlanDevice& device = plan.devices[buffer.device.index];
    const int64_t part =
        buffer.persistent ? device.persistent_bytes : device.step_bytes;
    const Range& range = buffer.range;
    if (range.offset >= 0 && range.block >= 0 && range.count >= 0 &&
        range.stride >= 0 &&
        (range.empty() || range.end() <= part + kMargin / 2)) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "found !", buffer.name, " far outside its arena; expected none"));
  }
  return absl::OkStatus();
}

// Checks that kernels fit their nodes, which the executor assumes.
absl::Status CheckOperands(const Entry& entry, const CommandList& commands) {
  for (const Command& command : commands) {
    if (command.kind != Command::Kind::kKernel) continue;
    const Node& node = entry.graph->node(command.instance.node);
    const bool adds = node.op == &kAccumulate &&
                      command.instance.micro_batch > kFirstMicroBatch;
    if (command.operands.size() == node.operands.size() + (adds ? 1 : 0)) {
      continue;
    }
    return absl::InvalidArgumentError(
        "found a kernel with other operands than its node has");
  }
  return absl::OkStatus();
}

// The same bytes for the same name and step, whatever the plan.
HostTensor InputOf(const Port& port, int step) {
  HostTensor tensor(port.type);
  std::mt19937 random(
      static_cast<uint32_t>(std::hash<std::string>()(port.name)) + 31 * step);
  FillWithJunk({tensor.bytes(), tensor.byte_span().size()}, random);
  return tensor;
}

std::set<std::string> VariableNames(const Entry& entry) {
  std::set<std::string> names;
  for (const OpView& node : entry.graph->ops(kVariable)) {
    names.insert(node.attr_string("name"));
  }
  for (const VariableUpdate& update : entry.graph->updates()) {
    names.insert(update.variable);
  }
  return names;
}

}  // namespace

StepsRunner::StepsRunner(const Plan& plan, std::vector<Port> inputs,
                         CommandList commands)
    : plan_(plan),
      entry_(plan.entries[0]),
      inputs_(std::move(inputs)),
      commands_(std::move(commands)),
      observer_(entry_, commands_, [this](uint64_t step, CommandId command) {
        MakeResultsJunk(step, command);
      }) {}

absl::StatusOr<std::unique_ptr<StepsRunner>> StepsRunner::Load(
    const Plan& plan, std::vector<Port> inputs) {
  PARTITA_RETURN_IF_ERROR(CheckInReach(plan));
  PARTITA_ASSIGN_OR_RETURN(CommandList commands, Expand(plan.entries[0]));
  PARTITA_RETURN_IF_ERROR(CheckOperands(plan.entries[0], commands));
  std::unique_ptr<StepsRunner> runner(
      new StepsRunner(plan, std::move(inputs), std::move(commands)));
  PARTITA_RETURN_IF_ERROR(runner->FindInputs());
  Devices devices;
  for (const PlanDevice& device : plan.devices) {
    auto virtual_device = std::make_unique<MarginDevice>(device);
    runner->devices_.push_back(virtual_device.get());
    devices.push_back(std::move(virtual_device));
  }
  const std::shared_ptr<const Plan> borrowed(&plan, [](const Plan*) {});
  PARTITA_ASSIGN_OR_RETURN(
      runner->executor_,
      Executor::New(borrowed, std::move(devices), {&runner->library_},
                    {.observer = &runner->observer_}));
  return runner;
}

absl::Status StepsRunner::FindInputs() {
  for (const Port& port : entry_.inputs) {
    const auto known = std::find_if(
        inputs_.begin(), inputs_.end(),
        [&](const Port& input) { return input.name == port.name; });
    if (known == inputs_.end() || known->type != port.type) {
      return absl::NotFoundError(
          absl::StrCat("found an input ", port.name, " of ",
                       port.type.ToString(), "; expected one of the caller's"));
    }
    input_of_port_.push_back(static_cast<int>(known - inputs_.begin()));
  }
  return absl::OkStatus();
}

StepsRunner::Ports StepsRunner::NewPorts(int step) {
  Ports ports;
  for (int input : input_of_port_) {
    ports.inputs.push_back(InputOf(inputs_[input], step));
  }
  for (const Port& output : entry_.outputs) {
    HostTensor& tensor = ports.outputs.emplace_back(output.type);
    FillWithJunk({tensor.bytes(), tensor.byte_span().size()}, random_);
  }
  return ports;
}

absl::StatusOr<StepsRun> StepsRunner::Run(int steps, const RunMode& mode) {
  PARTITA_RETURN_IF_ERROR(executor_->Restore());
  observer_.Begin(mode.hold, mode.patience);
  random_.seed(++runs_);
  for (MarginDevice* device : devices_) device->RenewMargins(random_);
  StepsRun run;
  std::vector<Ports> ports;
  for (int step = 0; step < steps; ++step) ports.push_back(NewPorts(step));
  const uint64_t first = next_step_;
  int waited = 0;
  absl::Status status;
  for (int step = 0; step < steps && status.ok(); ++step) {
    status = Submit(ports[step], mode);
    const bool last = step + 1 == steps;
    while (first + waited < next_step_ &&
           (last || step + 1 - waited == entry_.depth)) {
      status.Update(executor_->Wait(first + waited++));
    }
    if (status.ok() && (last || entry_.depth == 1)) {
      status = ReadVariables(run);
    }
  }
  while (first + waited < next_step_) {
    status.Update(executor_->Wait(first + waited++));
  }
  PARTITA_RETURN_IF_ERROR(status);
  if (observer_.stuck()) {
    return absl::DeadlineExceededError(
        "found commands served in launch order to wait for ever");
  }
  for (Ports& of_step : ports) {
    auto& inputs = run.inputs.emplace_back();
    for (size_t i = 0; i < entry_.inputs.size(); ++i) {
      inputs[entry_.inputs[i].name] = std::move(of_step.inputs[i]);
    }
    auto& outputs = run.outputs.emplace_back();
    for (size_t i = 0; i < entry_.outputs.size(); ++i) {
      outputs[entry_.outputs[i].name] = std::move(of_step.outputs[i]);
    }
  }
  return run;
}

absl::Status StepsRunner::Submit(const Ports& ports, const RunMode& mode) {
  MakeStepBytesJunk();
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const HostTensor& tensor : ports.inputs) {
    inputs.push_back(tensor.bytes());
  }
  for (const HostTensor& tensor : ports.outputs) {
    outputs.push_back(const_cast<std::byte*>(tensor.bytes()));
  }
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + mode.patience;
  options.chaos_seed = mode.chaos_seed;
  PARTITA_ASSIGN_OR_RETURN(const uint64_t number,
                           executor_->Submit(0, {inputs, outputs}, options));
  next_step_ = number + 1;
  return absl::OkStatus();
}

// All but persistent bytes are undefined when a step starts.
void StepsRunner::MakeStepBytesJunk() {
  const int depth = PlanDepth(plan_);
  for (size_t d = 0; d < devices_.size(); ++d) {
    const PlanDevice& device = plan_.devices[d];
    FillWithJunk(
        {devices_[d]->base() +
             PartOffset(device, false, static_cast<int64_t>(next_step_), depth),
         static_cast<size_t>(device.step_bytes)},
        random_);
  }
}

std::vector<std::byte*> StepsRunner::BytesOf(BufferId id, uint64_t step) const {
  const Buffer& buffer = entry_.buffers[id.index];
  const Range range =
      AbsoluteRange(plan_, entry_, buffer, static_cast<int64_t>(step));
  std::byte* const base = devices_[buffer.device.index]->base();
  std::vector<std::byte*> bytes;
  for (int64_t i = 0; i < range.count; ++i) {
    for (int64_t b = 0; b < range.block; ++b) {
      bytes.push_back(base + range.offset + i * range.stride + b);
    }
  }
  return bytes;
}

// The operands that a command may overwrite: in a kernel by its in-place pairs,
// in a collective by a shard that is in place.
std::set<std::byte*> StepsRunner::BytesInPlace(const Command& command,
                                               uint64_t step) const {
  std::set<std::byte*> in_place;
  const auto add = [&](const std::vector<std::byte*>& bytes) {
    in_place.insert(bytes.begin(), bytes.end());
  };
  if (command.kind == Command::Kind::kCollective) {
    for (BufferId id : command.operands) add(BytesOf(id, step));
  }
  if (command.kind != Command::Kind::kKernel) return in_place;
  const Node& node = entry_.graph->node(command.instance.node);
  for (const InPlacePair& pair : node.kernel->in_place) {
    const std::vector<std::byte*> read =
        BytesOf(command.operands[pair.operand], step);
    if (read == BytesOf(command.results[pair.result], step)) add(read);
  }
  return in_place;
}

// From its start on, a command may write anything to its results.
void StepsRunner::MakeResultsJunk(uint64_t step, CommandId c) {
  const Command& command = commands_[c];
  const std::set<std::byte*> in_place = BytesInPlace(command, step);
  const auto junk = [&](BufferId id) {
    for (std::byte* byte : BytesOf(id, step)) {
      if (!in_place.contains(byte)) *byte = static_cast<std::byte>(random_());
    }
  };
  for (BufferId id : command.results) junk(id);
  if (command.workspace.valid()) junk(command.workspace);
}

absl::Status StepsRunner::ReadVariables(StepsRun& run) {
  auto& variables = run.variables.emplace_back();
  for (const std::string& name : VariableNames(entry_)) {
    PARTITA_ASSIGN_OR_RETURN(variables[name], executor_->ReadReplicas(name));
  }
  return absl::OkStatus();
}

bool StepsRunner::WroteBeyondArenas() const {
  return !std::all_of(
      devices_.begin(), devices_.end(),
      [](const MarginDevice* device) { return device->MarginsAreWhole(); });
}

}  // namespace partita
