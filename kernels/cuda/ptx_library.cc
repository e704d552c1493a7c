// Passes addresses to the driver.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cuda/ptx_library.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/in_place.h"
#include "graph/status_macros.h"
#include "kernels/codegen/read_program.h"
#include "kernels/cuda/trusted_ptx.h"
#include "kernels/gpu/ptx_catalog.h"
#include "third_party/cuda_loader/process_driver.h"

namespace partita {
namespace {

// The parameters are the addresses of operands and results
// (kernels/codegen/gpu_kernel.h).
class PtxKernel : public Kernel {
 public:
  PtxKernel(const DriverApi& api, LoadedPtx code, GpuLaunch grid,
            size_t parameters)
      : api_(api), code_(std::move(code)), grid_(grid), addresses_(parameters) {
    for (CUdeviceptr& address : addresses_) parameters_.push_back(&address);
  }

  absl::Status Launch(const LaunchArgs& args) override {
    SetAddresses(args);
    return CudaStatus(
        api_,
        api_.LaunchKernel(code_.function, grid_.blocks, 1, 1, grid_.threads, 1,
                          1, /*sharedMemBytes=*/0,
                          static_cast<CUstream>(args.stream),
                          parameters_.data(), /*extra=*/nullptr),
        "cuLaunchKernel");
  }

  std::optional<LaunchDescription> Describe(const LaunchArgs& args) override {
    SetAddresses(args);
    return LaunchDescription{.function = code_.function,
                             .blocks = grid_.blocks,
                             .threads = grid_.threads,
                             .parameters = absl::MakeSpan(parameters_)};
  }

 private:
  void SetAddresses(const LaunchArgs& args) {
    size_t next = 0;
    for (const auto& buffers : {args.operands, args.results}) {
      for (void* const buffer : buffers) {
        addresses_[next++] = reinterpret_cast<CUdeviceptr>(buffer);
      }
    }
  }

  const DriverApi& api_;
  const LoadedPtx code_;
  const GpuLaunch grid_;
  std::vector<CUdeviceptr> addresses_;
  std::vector<void*> parameters_;  // the elements of addresses_
};

// Of the GPU whose context is current.
absl::StatusOr<int> Multiprocessors(const DriverApi& api) {
  CUdevice device = 0;
  int count = 0;
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.CtxGetDevice(&device), "cuCtxGetDevice"));
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api,
                 api.DeviceGetAttribute(
                     &count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
                 "cuDeviceGetAttribute"));
  return count;
}

absl::Status NotPtx(const BindRequest& request) {
  return absl::UnimplementedError(absl::StrCat(
      request.node.ToString(), ": found kernel ",
      request.binding->kernel.ToString(), "; expected ptx.* on a GPU"));
}

// Code that is in no trusted text is built: a micro-batch's own, or that of a
// kernel which is bound in place of the plan's.
absl::StatusOr<LoadedPtx> LoadOrBuild(const DriverApi& api,
                                      const BindRequest& request,
                                      const PtxEntry& kernel) {
  const std::string target = CodeTargetOf(*request.device);
  absl::StatusOr<LoadedPtx> known = LoadPtx(api, target, kernel, request.code);
  if (!absl::IsNotFound(known.status())) return known;
  const absl::StatusOr<std::vector<CodeObject>> built =
      PtxCatalog().BuildCode({request.node}, *request.device);
  if (!built.ok()) return known;
  for (const CodeObject& code : *built) {
    PARTITA_RETURN_IF_ERROR(TrustPtx(code));
  }
  return LoadPtx(api, target, kernel);
}

absl::Status NoCode(const BindRequest& request, const absl::Status& status) {
  const char* remedy = absl::IsNotFound(status)
                           ? "; trust the plan's code (--trust-code), or "
                             "install the code generator"
                           : "";
  return absl::FailedPreconditionError(
      absl::StrCat(request.node.ToString(), ": ", status.message(), remedy));
}

// Those of the catalog.
std::vector<InPlacePair> InPlacePairs(const OpView& node) {
  const bool elementwise = node.node().kernel.has_value() &&
                           node.node().kernel->kernel.name == "elementwise";
  std::vector<InPlacePair> pairs;
  if (elementwise) pairs = ElementwiseInPlace(node);
  // In another order elements would be overwritten before they are read.
  std::erase_if(pairs, [&](const InPlacePair& pair) {
    return node.operand_type(pair.operand).layout !=
           node.result_type(pair.result).layout;
  });
  return pairs;
}

}  // namespace

absl::StatusOr<BoundKernel> PtxLibrary::Bind(const BindRequest& request) const {
  const OpView& node = request.node;
  if (RunsHostCode(*request.device) || request.emulates ||
      !request.binding->kernel.Is(name())) {
    return NotPtx(request);
  }
  if (request.code != nullptr) PARTITA_RETURN_IF_ERROR(TrustPtx(*request.code));
  PARTITA_ASSIGN_OR_RETURN(const DriverApi* api, ProcessDriver());
  PARTITA_ASSIGN_OR_RETURN(const int multiprocessors, Multiprocessors(*api));
  PARTITA_ASSIGN_OR_RETURN(const PtxLaunch launch,
                           LaunchOfNode(node, multiprocessors));
  const size_t addresses =
      static_cast<size_t>(node.num_operands() + node.num_results());
  absl::StatusOr<LoadedPtx> code =
      LoadOrBuild(*api, request, {launch.kernel, addresses});
  if (!code.ok()) return NoCode(request, code.status());
  BoundKernel bound;
  bound.id = request.binding->kernel;
  bound.arithmetic = PtxArithmetic();
  bound.in_place = InPlacePairs(node);
  bound.kernel = std::make_unique<PtxKernel>(*api, *std::move(code),
                                             launch.grid, addresses);
  return bound;
}

bool HasPtx(const OpView& node, const DeviceTraits& device) {
  const absl::StatusOr<PtxLaunch> launch =
      LaunchOfNode(node, /*multiprocessors=*/1);
  return launch.ok() && HasTrustedPtx(CodeTargetOf(device), launch->kernel);
}

}  // namespace partita
