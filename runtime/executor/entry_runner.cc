// Submits steps to launchers and waits for the streams.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/entry_runner.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/host_capacity.h"
#include "graph/status_macros.h"
#include "runtime/executor/thread_count.h"

namespace partita {
namespace {

// Polls before a waiting thread parks, if every thread has a core: about two
// thirds of a millisecond. A parked core wakes slowly, above all in a virtual
// machine.
constexpr int kSpins = 20000;

// True if OpenMP's threads are to release their core when they wait.
bool AreWaitsPassive() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  return policy != nullptr && absl::EqualsIgnoreCase(policy, "passive");
}

int SpinsFor(int64_t threads) {
  static const int cores = ThisHost().threads;
  return threads <= cores && !AreWaitsPassive() ? kSpins : 0;
}

using Events = std::vector<std::unique_ptr<DeviceEvent>>;

// Events belong to the device whose stream records them.
absl::StatusOr<Events> NewEvents(const Entry& entry,
                                 const CommandList& commands,
                                 const StreamDevices& devices) {
  std::vector<Device*> device_of(entry.num_events);
  for (const Command& command : commands) {
    if (command.kind != Command::Kind::kRecord) continue;
    device_of[command.event.index] = devices[command.stream];
  }
  Events events;
  for (Device* device : device_of) {
    if (device == nullptr) {  // nothing records it
      events.push_back(std::make_unique<DeviceEvent>());
      continue;
    }
    PARTITA_ASSIGN_OR_RETURN(events.emplace_back(), device->NewEvent());
  }
  return events;
}

}  // namespace

EntryRunner::EntryRunner(const Plan& plan, int entry, const Devices& devices,
                         const SessionMemory& memory,
                         const KernelLibraries& libraries)
    : plan_(plan), entry_(plan.entries[entry]), cancels_(entry_.depth) {
  state_.context.plan = &plan;
  state_.context.entry = &entry_;
  state_.context.commands = &commands_;
  state_.context.of_stream = &of_stream_;
  state_.context.devices = &devices;
  state_.context.stream_devices = &stream_devices_;
  state_.context.memory = &memory;
  state_.context.events = &events_;
  state_.context.communications = &communications_;
  state_.context.communicators = &communicators_;
  if (plan.notes.has_value() && !plan.notes->entries.empty()) {
    state_.context.notes = &plan.notes->entries[entry];
  }
  state_.libraries = &libraries;
  state_.steps.resize(entry_.depth);
  for (Step& step : state_.steps) {
    step.inputs.resize(entry_.inputs.size());
    step.outputs.resize(entry_.outputs.size());
  }
}

absl::StatusOr<std::unique_ptr<EntryRunner>> EntryRunner::New(
    const Plan& plan, int entry, const Devices& devices,
    const SessionMemory& memory, const KernelLibraries& libraries,
    const ExecutorOptions& options) {
  std::unique_ptr<EntryRunner> runner(
      new EntryRunner(plan, entry, devices, memory, libraries));
  runner->state_.trust_code = options.trust_code;
  runner->state_.observer = options.observer;
  runner->state_.launch_blocking = options.launch_blocking;
  runner->state_.launch_graphs = options.launch_graphs;
  PARTITA_RETURN_IF_ERROR(runner->Prepare(options.transports));
  return runner;
}

absl::Status EntryRunner::Prepare(const Transports& transports) {
  PARTITA_ASSIGN_OR_RETURN(commands_, Expand(entry_));
  const Devices& devices = *state_.context.devices;
  for (const auto& device : devices) {
    if (device->properties().computed_by == ComputedBy::kNothing &&
        (state_.context.notes == nullptr ||
         state_.context.notes->predicted.size() != commands_.size())) {
      return absl::FailedPreconditionError(
          absl::StrCat("entry @", entry_.name,
                       ": found no predicted times in the plan; timed virtual "
                       "devices sleep for them; use a plan with its notes"));
    }
  }
  of_stream_ =
      IdVector<StreamId, std::vector<CommandId>>(entry_.streams.size());
  for (CommandId c : commands_.ids()) {
    of_stream_[commands_[c].stream].push_back(c);
  }
  PARTITA_ASSIGN_OR_RETURN(stream_devices_,
                           FindStreamDevices(entry_, commands_, devices));
  PARTITA_ASSIGN_OR_RETURN(events_,
                           NewEvents(entry_, commands_, stream_devices_));
  PARTITA_ASSIGN_OR_RETURN(communications_,
                           Communications::Find(entry_, commands_));
  PARTITA_ASSIGN_OR_RETURN(
      communicators_, Communicators::New(entry_, commands_, communications_,
                                         devices, transports));
  for (size_t s = 0; s < entry_.streams.size(); ++s) {
    PARTITA_ASSIGN_OR_RETURN(
        streams_.emplace_back(),
        StreamReplay::New(state_, StreamId(static_cast<int32_t>(s))));
  }
  launchers_ = NewLaunchers(state_, streams_);
  on_caller_ = MayRunOnCaller();
  state_.spins = SpinsFor(ThreadsOf(entry_, devices) + (on_caller_ ? 0 : 1));
  return StartLaunchers();
}

// If steps do not overlap, the caller would only wait and compete with the
// streams for a core; so it runs the first stream.
bool EntryRunner::MayRunOnCaller() const {
  if (streams_.empty()) return false;
  return stream_devices_[StreamId(0)]->properties().streams_run_on_caller &&
         (streams_.size() == 1 || entry_.depth == 1);
}

absl::Status EntryRunner::StartLaunchers() {
  const size_t first_thread = on_caller_ ? 1 : 0;
  for (size_t i = first_thread; i < launchers_.size(); ++i) {
    launchers_[i]->Start();
  }
  absl::Status first;
  if (on_caller_) first = launchers_[0]->PrepareInline();
  for (size_t i = first_thread; i < launchers_.size(); ++i) {
    first.Update(launchers_[i]->WaitUntilPrepared());
  }
  return first;
}

EntryRunner::~EntryRunner() {
  if (in_flight() > 0) {
    state_.Fail(absl::CancelledError("the session ended"),
                {.entry = entry_.name});
  }
  state_.closing = true;
  state_.submitted.Interrupt();
  for (auto& cancel : cancels_) cancel.reset();
}

absl::Status EntryRunner::CheckSubmit(const StepPorts& ports) const {
  if (ports.inputs.size() != entry_.inputs.size() ||
      ports.outputs.size() != entry_.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "entry @", entry_.name, ": found ", ports.inputs.size(), " inputs and ",
        ports.outputs.size(), " outputs; expected ", entry_.inputs.size(),
        " and ", entry_.outputs.size()));
  }
  if (in_flight() >= entry_.depth) {
    return absl::FailedPreconditionError(
        absl::StrCat("entry @", entry_.name, ": found ", in_flight(),
                     in_flight() == 1 ? " step" : " steps",
                     " in flight; expected fewer than the plan's depth of ",
                     entry_.depth, "; wait for step ", waited_, " first"));
  }
  if (in_flight() > 0 && state_.failure.stopped()) {
    return absl::FailedPreconditionError(
        absl::StrCat("entry @", entry_.name,
                     ": found a failed step in flight; wait for "
                     "the ",
                     in_flight(), " steps in flight first"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> EntryRunner::Submit(const StepPorts& ports,
                                             const RunOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckSubmit(ports));
  const uint64_t number = submitted_;
  Step& step = state_.steps[number % state_.steps.size()];
  step.number = number;
  absl::c_copy(ports.inputs, step.inputs.begin());
  absl::c_copy(ports.outputs, step.outputs.begin());
  step.deadline = options.deadline;
  step.trace = options.trace;
  step.chaos_seed = options.chaos_seed;
  if (options.cancel.stop_possible()) {
    cancels_[number % cancels_.size()].emplace(options.cancel, [this] {
      state_.Fail(absl::CancelledError("found the run cancelled by its caller"),
                  {.entry = entry_.name});
    });
  }
  ++submitted_;
  most_in_flight_ = std::max(most_in_flight_, in_flight());
  state_.submitted.Raise(submitted_);
  if (on_caller_) launchers_[0]->RunInline(step);
  return number;
}

absl::Status EntryRunner::Wait(uint64_t step) {
  if (in_flight() == 0 || step != waited_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "entry @", entry_.name, ": found a wait for step ", step,
        "; expected the oldest in flight, ",
        in_flight() == 0 ? "but there is none" : absl::StrCat(waited_)));
  }
  const WaitPolicy policy = {
      .spins = state_.spins,
      .deadline = state_.steps[step % state_.steps.size()].deadline};
  for (auto& stream : streams_) {
    if (stream->finished().Wait(step + 1, policy)) continue;
    state_.Fail(
        absl::DeadlineExceededError(
            "found the deadline of the run passed; expected the step to end "
            "before"),
        Straggler());
    stream->finished().Wait(step + 1, {});
  }
  cancels_[step % cancels_.size()].reset();
  ++waited_;
  return state_.failure.stopped() ? EndOfFailedStep() : absl::OkStatus();
}

// The stalled command: the first in launch order among the commands that
// streams are at. All others may be waiting for it.
FailedCommand EntryRunner::Straggler() const {
  CommandId first;
  for (const auto& stream : streams_) {
    const CommandId at = stream->at();
    if (at.valid() && (!first.valid() || at < first)) first = at;
  }
  if (!first.valid()) return {.entry = entry_.name};
  return DescribeCommand(plan_, entry_, commands_[first], first);
}

// Called when the last step in flight has ended. Sets events and rendezvous to
// the state that good steps would have left.
absl::Status EntryRunner::EndOfFailedStep() {
  const absl::Status status = state_.failure.status();
  last_failure_ = state_.failure.where();
  if (in_flight() == 0) {
    for (auto& event : events_) event->steps().Raise(submitted_);
    communications_.ArriveAll(submitted_);
    communicators_.ResumeAt(submitted_);
    state_.failure.Reset();
  }
  return status;
}

// "input x" and "output y" of the stream's feeds and fetches.
std::vector<std::string> EntryRunner::PortsOf(StreamId stream) const {
  std::vector<std::string> ports;
  for (const CommandId c : of_stream_[stream]) {
    const Command& command = commands_[c];
    const bool feeds = command.kind == Command::Kind::kFeed;
    if (!feeds && command.kind != Command::Kind::kFetch) continue;
    const Port& port = (feeds ? entry_.inputs : entry_.outputs)[command.port];
    std::string name = absl::StrCat(feeds ? "input " : "output ", port.name);
    // Micro-batches feed one port in turn.
    if (!absl::c_linear_search(ports, name)) ports.push_back(std::move(name));
  }
  return ports;
}

std::vector<StagingUse> EntryRunner::Staging() const {
  std::vector<StagingUse> all;
  for (size_t s = 0; s < streams_.size(); ++s) {
    const Arena* staging = streams_[s]->staging();
    if (staging == nullptr) continue;
    all.push_back({&streams_[s]->device(), staging->ReservedBytes(),
                   entry_.depth, PortsOf(StreamId(static_cast<int32_t>(s)))});
  }
  const Devices& devices = *state_.context.devices;
  for (size_t g = 0; g < entry_.groups.size(); ++g) {
    const std::vector<StreamId>& ranks = entry_.groups[g].ranks;
    const Communicator& communicator =
        communicators_.of(GroupId(static_cast<int32_t>(g)));
    for (size_t p = 0; p < ranks.size(); ++p) {
      const int64_t bytes = communicator.StagingBytes(static_cast<int>(p));
      if (bytes == 0) continue;
      const DeviceId device = entry_.streams[ranks[p].index].device;
      all.push_back({devices[device.index].get(),
                     bytes,
                     /*copies=*/1,
                     {absl::StrCat("collectives of group ", g)}});
    }
  }
  for (const GraphRun* graph : Graphs()) {
    const int64_t bytes = graph->StagingBytes();
    if (bytes == 0) continue;
    all.push_back(
        {&graph->launches(), bytes, entry_.depth, {"copies between devices"}});
  }
  return all;
}

std::vector<ReplacedKernel> EntryRunner::ReplacedKernels() const {
  std::vector<ReplacedKernel> all;
  for (const auto& stream : streams_) {
    AddReplacedKernels(stream->replaced_kernels(), all);
  }
  return all;
}

// One launcher feeds all streams behind the host.
std::optional<StepLaunches> EntryRunner::Launches() const {
  for (const auto& launcher : launchers_) {
    std::optional<StepLaunches> launches = launcher->Launches();
    if (!launches.has_value()) continue;
    launches->entry = entry_.name;
    return launches;
  }
  return std::nullopt;
}

std::vector<const GraphRun*> EntryRunner::Graphs() const {
  std::vector<const GraphRun*> all;
  for (const auto& launcher : launchers_) {
    for (const GraphRun* graph : launcher->graphs()) all.push_back(graph);
  }
  return all;
}

std::vector<MeasuredCommand> EntryRunner::Trace(uint64_t step) const {
  IdVector<CommandId, MeasuredTime> times(commands_.size());
  for (const auto& stream : streams_) {
    stream->AppendTrace(static_cast<int>(step % state_.steps.size()), times);
  }
  SteadyTime first = SteadyTime::max();
  for (const MeasuredTime& time : times) first = std::min(first, time.start);
  std::vector<MeasuredCommand> trace;
  for (CommandId c : times.ids()) {
    const std::chrono::duration<double> start = times[c].start - first;
    const std::chrono::duration<double> end = times[c].end - first;
    trace.push_back({c.index, start.count(), end.count()});
  }
  return trace;
}

}  // namespace partita
