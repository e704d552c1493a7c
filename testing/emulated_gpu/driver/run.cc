// The order of commands, and what each does.
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/access_report.h"
#include "testing/emulated_gpu/driver/driver.h"
#include "testing/emulated_gpu/driver/kernel_memory.h"

namespace partita::emulated_gpu {
namespace {

double HostSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Whether the allocation has these bytes.
bool Has(const Allocation* allocation, uint64_t address, uint64_t bytes) {
  return allocation != nullptr &&
         address - allocation->address + bytes <= allocation->bytes;
}

}  // namespace

CommandRef Driver::IssueIn(ChainId chain, Context* context, Action action,
                           const std::vector<CommandRef>& after,
                           VectorClock clock, bool behind_wait) {
  auto command = std::make_shared<Command>();
  command->chain = chain;
  command->context = context;
  command->behind_wait = behind_wait;
  clock.Join(host_clock_);
  command->id = timeline_.Add(chain, Describe(action), clock);
  command->action = std::move(action);
  command->clock = std::move(clock);
  context->clock.Join(command->clock);
  ++context->pending;
  if (std::holds_alternative<HostCall>(command->action)) ++open_host_calls_;
  BeginHostWrites(*command);
  scheduler_.Add(command, after);
  return command;
}

CommandRef Driver::Issue(Stream& stream, Action action,
                         const std::vector<CommandRef>& also_after,
                         const VectorClock& also_clock) {
  if (options_.readings.queues_are_short && stream.last != nullptr) {
    RunUntilDone(stream.last);
  }
  std::vector<CommandRef> after = also_after;
  VectorClock clock = stream.clock;
  clock.Join(also_clock);
  const auto follow = [&](const Stream& other) {
    if (other.last == nullptr) return;
    after.push_back(other.last);
    clock.Join(other.clock);
  };
  follow(stream);
  // cuda.h:14920: streams that are not NON_BLOCKING wait for the legacy stream,
  // and that for them.
  if (stream.legacy) {
    for (const Stream* other : streams_.live()) {
      if (other->blocking && other->context == stream.context) follow(*other);
    }
  } else if (stream.blocking) {
    follow(*stream.context->legacy);
  }
  const Marker* marker = std::get_if<Marker>(&action);
  if (marker != nullptr && marker->waits) stream.waits = true;
  const bool behind_wait = stream.waits;
  if (marker == nullptr) stream.waits = false;
  stream.last = IssueIn(stream.chain, stream.context, std::move(action), after,
                        std::move(clock), behind_wait);
  stream.clock = stream.last->clock;
  const CommandRef issued = stream.last;
  if (scheduler_.runs_at_once()) RunAll();
  return issued;
}

CUresult Driver::Submit(Stream& stream, Action action, CUgraphNodeType type,
                        CommandRef* issued) {
  if (CUresult bad = CheckCapture(stream); bad != CUDA_SUCCESS) return bad;
  if (stream.capture != nullptr) {
    AddCapturedNode(stream, std::move(action), type);
    return CUDA_SUCCESS;
  }
  const CommandRef command = Issue(stream, std::move(action), {}, {});
  if (issued != nullptr) *issued = command;
  return CUDA_SUCCESS;
}

bool Driver::RunOne() {
  const CommandRef command = scheduler_.Take();
  if (command == nullptr) return false;
  ++running_;
  if (command->context->device->sticky == CUDA_SUCCESS) {
    Execute(*command);
    MayArrive(command->id);
  }
  if (std::holds_alternative<HostCall>(command->action)) --open_host_calls_;
  --running_;
  command->seconds = HostSeconds();
  command->action = Marker{};
  --command->context->pending;
  scheduler_.Finish(command);
  done_.notify_all();
  return true;
}

void Driver::RunUntilDone(const CommandRef& command) {
  while (!command->done) {
    if (RunOne()) continue;
    // Another thread runs a host function.
    done_.wait(lock_);
  }
}

CUresult Driver::MayWait(const CommandRef& launch) {
  if (!options_.readings.launches_wait) return CUDA_SUCCESS;
  RunUntilDone(launch);
  return launch->context->device->sticky;
}

void Driver::RunContext(Context& context) {
  while (context.pending > 0) {
    if (!RunOne()) done_.wait(lock_);
  }
}

void Driver::RunAll() {
  while (RunOne()) {
  }
}

void Driver::RunSome() {
  constexpr uint64_t kMost = 8;
  if (scheduler_.Draw(2) == 0) return;
  for (uint64_t i = scheduler_.Draw(kMost) + 1; i > 0 && RunOne(); --i) {
  }
}

void Driver::Execute(Command& command) {
  std::visit(
      [&](const auto& work) {
        using Work = std::decay_t<decltype(work)>;
        if constexpr (std::is_same_v<Work, KernelLaunch>) {
          ExecuteKernel(command, work);
        } else if constexpr (std::is_same_v<Work, Copy>) {
          ExecuteCopy(command, work);
        } else if constexpr (std::is_same_v<Work, Fill>) {
          ExecuteFill(command, work);
        } else if constexpr (std::is_same_v<Work, HostCall>) {
          ExecuteHostCall(command, work);
        }
      },
      command.action);
}

// error.other_context: the error ends all contexts of the device, for good.
void Driver::EndContexts(const Command& command, CUresult error) {
  command.context->device->sticky = error;
  unseen_.Abandon(command.context->device);
}

void Driver::ExecuteKernel(const Command& command, const KernelLaunch& launch) {
  AccessReport report(command.id, timeline_, findings_);
  KernelMemory memory(command, launch.block.count(), memory_, unseen_, report);
  const ptx::LaunchOptions options{
      .nan = ptx::NanRules::kH100,
      // Blocks and threads in order at seed 0.
      .seed = options_.seed == 0 ? 0 : scheduler_.Draw(UINT64_MAX),
      .most_instructions = options_.most_instructions};
  const absl::Status status =
      ptx::Launch(*launch.code->kernel, launch.grid, launch.block,
                  launch.parameters, memory, options);
  if (status.ok()) return;
  if (memory.strayed()) return EndContexts(command, CUDA_ERROR_ILLEGAL_ADDRESS);
  switch (status.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      report.Add(FindingKind::kDeadlock,
                 absl::StrCat(" does not end: ", status.message()));
      return EndContexts(command, CUDA_ERROR_LAUNCH_TIMEOUT);
    case absl::StatusCode::kDataLoss:
      report.Add(FindingKind::kUndefined, absl::StrCat(": ", status.message()));
      return EndContexts(command, CUDA_ERROR_LAUNCH_FAILED);
    case absl::StatusCode::kAborted:
      report.Add(FindingKind::kRace, absl::StrCat(": ", status.message()));
      return EndContexts(command, CUDA_ERROR_LAUNCH_FAILED);
    case absl::StatusCode::kOutOfRange:
      report.Add(FindingKind::kBounds, absl::StrCat(": ", status.message()));
      return EndContexts(command, CUDA_ERROR_ILLEGAL_ADDRESS);
    case absl::StatusCode::kFailedPrecondition:
      report.Add(FindingKind::kBounds, absl::StrCat(": ", status.message()));
      return EndContexts(command, CUDA_ERROR_MISALIGNED_ADDRESS);
    default:
      report.Add(FindingKind::kNotEmulated,
                 absl::StrCat(": ", status.message()));
      return EndContexts(command, CUDA_ERROR_LAUNCH_FAILED);
  }
}

void Driver::ExecuteCopy(const Command& command, const Copy& copy) {
  AccessReport report(command.id, timeline_, findings_);
  const Accessor by{command.id, &command.clock};
  std::vector<Conflict> conflicts;
  Allocation* from = copy.from_pageable ? nullptr : memory_.Find(copy.from);
  Allocation* to = copy.to_pageable ? nullptr : memory_.Find(copy.to);
  for (const auto& [pageable, allocation, address] :
       {std::tuple(copy.from_pageable, from, copy.from),
        std::tuple(copy.to_pageable, to, copy.to)}) {
    if (pageable || Has(allocation, address, copy.bytes)) continue;
    report.Add(FindingKind::kBounds,
               absl::StrCat(address == copy.from ? " reads " : " writes ",
                            memory_.Describe(address)));
    return EndContexts(command, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  std::vector<std::byte> bytes(copy.bytes);
  if (from != nullptr) {
    const uint64_t offset = copy.from - from->address;
    if (from->is_host()) {
      unseen_.Read(copy.from, copy.bytes, bytes.data());
    } else {
      ReadBytes(*from, offset, copy.bytes, bytes.data());
    }
    // No command of ours wrote it meanwhile: the host did.
    if (copy.is_watched && from->writes + host_calls_ == copy.source_writes &&
        HashOfBytes(bytes.data(), copy.bytes) != copy.source_hash) {
      report.Add(FindingKind::kRace,
                 absl::StrCat(" reads ", memory_.Describe(copy.from),
                              ", which the host changed after the call"));
    }
    from->shadow.Read(offset, copy.bytes, by, conflicts);
    report.Races(/*is_write=*/false, *from, "", conflicts);
  } else if (copy.staged != nullptr) {
    bytes = *copy.staged;
  } else {
    std::memcpy(bytes.data(), reinterpret_cast<const void*>(copy.from),
                copy.bytes);
  }
  // What is undefined stays so on devices, and is of no use on the host.
  const bool checked = from != nullptr && !from->is_host();
  for (uint64_t i = 0; i < copy.bytes;) {
    bool defined = true;
    const uint64_t run =
        checked ? from->shadow.DefinedRun(copy.from - from->address + i,
                                          copy.bytes - i, defined)
                : copy.bytes;
    if (to != nullptr && !to->is_host()) {
      to->shadow.SetDefined(copy.to - to->address + i, run, defined);
    } else if (!defined) {
      report.Undefined(copy.from - from->address + i, *from, " for the host");
    }
    i += run;
  }
  if (to != nullptr) {
    to->shadow.Write(copy.to - to->address, copy.bytes, by, conflicts);
    report.Races(/*is_write=*/true, *to, "", conflicts);
  }
  Store(command, to, copy.to, bytes.data(), copy.bytes);
}

void Driver::ExecuteFill(const Command& command, const Fill& fill) {
  AccessReport report(command.id, timeline_, findings_);
  const Accessor by{command.id, &command.clock};
  std::vector<Conflict> conflicts;
  const uint64_t row = fill.width * fill.element_bytes;
  std::vector<std::byte> bytes(row, static_cast<std::byte>(fill.value));
  for (uint64_t i = 0; fill.element_bytes > 1 && i < row;
       i += fill.element_bytes) {
    std::memcpy(bytes.data() + i, &fill.value, fill.element_bytes);
  }
  for (uint64_t i = 0; i < fill.height; ++i) {
    const uint64_t address = fill.to + i * fill.pitch;
    Allocation* to = memory_.Find(address);
    if (!Has(to, address, row)) {
      report.Add(FindingKind::kBounds,
                 absl::StrCat(" writes ", memory_.Describe(address)));
      return EndContexts(command, CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    const uint64_t offset = address - to->address;
    to->shadow.Write(offset, row, by, conflicts);
    report.Races(/*is_write=*/true, *to, "", conflicts);
    if (!to->is_host()) to->shadow.SetDefined(offset, row, true);
    Store(command, to, address, bytes.data(), row);
  }
}

// The function knows that what is in front of it is over. Other threads may
// make calls meanwhile.
void Driver::ExecuteHostCall(const Command& command, const HostCall& call) {
  ShowWhatIsOver(command.clock);
  const HostCall copy = call;
  ThreadState& thread = Thread();
  thread.in_host_function = true;
  lock_.unlock();
  copy.function(copy.argument);
  lock_.lock();
  ++host_calls_;
  thread.in_host_function = false;
}

}  // namespace partita::emulated_gpu
