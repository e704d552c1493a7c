// Launches at the addresses that the host has mapped.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/late_kernels.h"

#include <memory>
#include <utility>
#include <vector>

#include "graph/device_kind_traits.h"
#include "graph/status_macros.h"
#include "runtime/device/late_device.h"

namespace partita {
namespace {

std::vector<void*> HostAddresses(absl::Span<void* const> addresses) {
  std::vector<void*> host;
  for (void* address : addresses) host.push_back(HostAddress(address));
  return host;
}

class LateKernel : public Kernel {
 public:
  explicit LateKernel(std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)) {}

  absl::Status Launch(const LaunchArgs& args) override {
    static_cast<LateQueue*>(args.stream)
        ->Issue([this, operands = HostAddresses(args.operands),
                 results = HostAddresses(args.results),
                 workspace = HostAddress(args.workspace)] {
          kernel_
              ->Launch({.operands = operands,
                        .results = results,
                        .workspace = workspace})
              .IgnoreError();
        });
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
};

}  // namespace

absl::StatusOr<BoundKernel> LateLibrary::Bind(
    const BindRequest& request) const {
  if (RunsHostCode(*request.device)) {
    return absl::UnimplementedError("found a CPU; expected a GPU");
  }
  DeviceTraits cpu = *request.device;
  cpu.kind = DeviceKind::kCpu;
  BindRequest on_host = request;
  on_host.device = &cpu;
  PARTITA_ASSIGN_OR_RETURN(BoundKernel bound, host_.Bind(on_host));
  bound.kernel = std::make_unique<LateKernel>(std::move(bound.kernel));
  return bound;
}

}  // namespace partita
