// Binds, launches and stamps.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/kernel_timer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "graph/host_tensor.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "partita/profile/this_host.h"
#include "runtime/executor/kernel_binder.h"

namespace partita {
namespace {

constexpr int64_t kAlignment = 256;
constexpr double kLeastSeconds = 1e-9;
// A warm measurement lasts about this long, within these launches.
constexpr double kWarmSeconds = 3e-4;
constexpr int kMostLaunches = 1000;
constexpr int kWarmRounds = 5;
constexpr int kColdRounds = 3;
// Kernels that take longer are not repeated as often.
constexpr double kLongSeconds = 0.05;
// At least twice the caches of a GPU.
constexpr int64_t kLeastScrub = int64_t{128} << 20;
constexpr int64_t kMostScrub = int64_t{512} << 20;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int64_t ScrubBytes() {
  return std::clamp(2 * LargestCacheBytes(), kLeastScrub, kMostScrub);
}

}  // namespace

// All memory of one kernel, in one arena.
struct KernelTimer::Buffers {
  std::unique_ptr<Arena> arena;
  std::vector<void*> operands;
  std::vector<void*> results;
  void* workspace = nullptr;
};

KernelTimer::KernelTimer(const Backend& backend, std::unique_ptr<Device> device,
                         std::unique_ptr<DeviceStream> stream,
                         std::unique_ptr<Arena> scrub)
    : backend_(backend),
      device_(std::move(device)),
      stream_(std::move(stream)),
      scrub_(std::move(scrub)),
      attached_(stream_->Attach()) {}

KernelTimer::~KernelTimer() { stream_->Detach(attached_); }

absl::StatusOr<std::unique_ptr<KernelTimer>> KernelTimer::On(
    const DeviceTraits& traits) {
  const Backend& backend = BackendOf(traits.kind);
  if (backend.new_device == nullptr || backend.libraries == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(traits.name,
                     ": found a device that this build does not "
                     "run; expected one that it does"));
  }
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Device> device,
                           backend.new_device(traits, /*split=*/{}));
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<DeviceStream> stream,
                           device->NewStream());
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Arena> scrub,
                           device->NewArena(ScrubBytes(), kAlignment));
  return std::unique_ptr<KernelTimer>(new KernelTimer(
      backend, std::move(device), std::move(stream), std::move(scrub)));
}

absl::StatusOr<KernelTimer::Buffers> KernelTimer::NewBuffers(
    const OpView& op, int64_t workspace) {
  std::vector<int64_t> offsets;
  int64_t total = 0;
  const auto reserve = [&](int64_t bytes) {
    offsets.push_back(total);
    total += RoundUp(std::max<int64_t>(bytes, 1), kAlignment);
  };
  for (int i = 0; i < op.num_operands(); ++i) {
    reserve(op.operand_type(i).num_bytes());
  }
  for (int i = 0; i < op.num_results(); ++i) {
    reserve(op.result_type(i).num_bytes());
  }
  reserve(workspace);
  Buffers buffers;
  PARTITA_ASSIGN_OR_RETURN(buffers.arena, device_->NewArena(total, kAlignment));
  size_t next = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    std::byte* at = buffers.arena->base() + offsets[next++];
    const TensorType& type = op.operand_type(i);
    // Integers may be indices: 0 is in range of every extent. No float slows
    // floating point down.
    const double most = IsFloat(type.dtype) ? 2 : 1;
    const HostTensor plain =
        RandomTensor(type.RowMajor(), /*seed=*/1 + i, 0, most);
    HostTensor laid_out(type);
    ConvertLayout(plain, laid_out);
    PARTITA_RETURN_IF_ERROR(
        device_->Upload(at, laid_out.bytes(), type.num_bytes()));
    buffers.operands.push_back(at);
  }
  for (int i = 0; i < op.num_results(); ++i) {
    buffers.results.push_back(buffers.arena->base() + offsets[next++]);
  }
  buffers.workspace = buffers.arena->base() + offsets[next];
  return buffers;
}

absl::StatusOr<KernelSeconds> KernelTimer::Time(const PlanKernel& kernel) {
  const KernelBinding& binding = *kernel.op.node().kernel;
  const BindRequest request = {
      .node = kernel.op, .binding = &binding, .device = &device_->traits()};
  PARTITA_ASSIGN_OR_RETURN(
      BoundKernel bound,
      BindKernel(request, backend_.libraries(), /*any_host_kernel=*/false));
  if (ReplacementOf(request, bound).has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        kernel.op.ToString(), ": found ", bound.id.ToString(), " (",
        bound.arithmetic.ToString(), ") bound on this host; expected ",
        binding.kernel.ToString(), " (", ArithmeticsText(binding.arithmetics),
        ")"));
  }
  PARTITA_ASSIGN_OR_RETURN(const Buffers buffers,
                           NewBuffers(kernel.op, binding.workspace));
  const LaunchArgs args = {.stream = stream_->native(),
                           .operands = buffers.operands,
                           .results = buffers.results,
                           .workspace = buffers.workspace};
  KernelSeconds seconds;
  PARTITA_ASSIGN_OR_RETURN(seconds.warm, Warm(*bound.kernel, args));
  PARTITA_ASSIGN_OR_RETURN(seconds.cold, Cold(*bound.kernel, args));
  return seconds;
}

absl::StatusOr<double> KernelTimer::Launch(Kernel& kernel,
                                           const LaunchArgs& args, int count) {
  SteadyTime begin;
  SteadyTime end;
  stream_->Stamp(begin);
  for (int i = 0; i < count; ++i) {
    PARTITA_RETURN_IF_ERROR(kernel.Launch(args));
  }
  stream_->Stamp(end);
  PARTITA_RETURN_IF_ERROR(stream_->Finish());
  const std::chrono::duration<double> taken = end - begin;
  return std::max(kLeastSeconds, taken.count() / count);
}

absl::StatusOr<double> KernelTimer::Warm(Kernel& kernel,
                                         const LaunchArgs& args) {
  // The first launch fills the caches, and pages of the arena.
  PARTITA_RETURN_IF_ERROR(Launch(kernel, args, 1).status());
  PARTITA_ASSIGN_OR_RETURN(const double one, Launch(kernel, args, 1));
  if (one > kLongSeconds) return one;
  const int count = static_cast<int>(
      std::clamp(kWarmSeconds / one, 1.0, double{kMostLaunches}));
  std::vector<double> rounds;
  for (int i = 0; i < kWarmRounds; ++i) {
    PARTITA_ASSIGN_OR_RETURN(rounds.emplace_back(),
                             Launch(kernel, args, count));
  }
  return Median(std::move(rounds));
}

absl::StatusOr<double> KernelTimer::Cold(Kernel& kernel,
                                         const LaunchArgs& args) {
  std::vector<double> rounds;
  for (int i = 0; i < kColdRounds; ++i) {
    PARTITA_RETURN_IF_ERROR(DisplaceCaches());
    PARTITA_ASSIGN_OR_RETURN(rounds.emplace_back(), Launch(kernel, args, 1));
    if (rounds.back() > kLongSeconds) break;
  }
  return Median(std::move(rounds));
}

absl::Status KernelTimer::DisplaceCaches() {
  const int64_t half = scrub_->size() / 2;
  PARTITA_RETURN_IF_ERROR(
      stream_->Copy({.base = scrub_->base(), .block = half},
                    {.base = scrub_->base() + half, .block = half}));
  return stream_->Finish();
}

}  // namespace partita
