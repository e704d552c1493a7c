// The launch interface between executor and kernels: plain data.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_KERNEL_H_
#define PARTITA_KERNELS_KERNEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/arithmetic.h"
#include "graph/device_traits.h"
#include "graph/kernel_catalog.h"
#include "graph/kernel_id.h"
#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// The memory of one launch. Pointers are to memory of the kernel's device;
// sizes and layouts are those of the node's types, fixed at binding.
struct LaunchArgs {
  void* stream = nullptr;  // the device's native stream; null on the CPU
  absl::Span<void* const> operands;
  absl::Span<void* const> results;
  void* workspace = nullptr;  // aligned to kWorkspaceAlignment
};

// A launch of a GPU's kernel as data, for a node of a driver's graph.
struct LaunchDescription {
  void* function = nullptr;  // the driver's, in the device's context
  uint32_t blocks = 0;
  uint32_t threads = 0;  // of a block
  // Where each parameter is: all are addresses of memory, of 8 bytes.
  absl::Span<void*> parameters;
};

// Computes one node. Launch allocates nothing, reads and writes only the bytes
// of `args`, keeps no state between launches, and on the CPU returns when its
// results are written. Launches of one object never overlap.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual absl::Status Launch(const LaunchArgs& args) = 0;
  // What Launch(args) launches, without the stream; valid until the next call.
  // None: the kernel is no single launch, or not of a GPU.
  virtual std::optional<LaunchDescription> Describe(const LaunchArgs& args) {
    return std::nullopt;
  }
};

struct BindRequest {
  OpView node;                       // types, layouts, attributes, body
  const KernelBinding* binding;      // kernel, workspace budget, in-place pairs
  const DeviceTraits* device;        // threads and instruction set to bind for
  const CodeObject* code = nullptr;  // this device's generated code, if any
  // True for a host kernel that emulates another device's: its workspace is
  // outside the arena, and it may keep constants in layouts of its own.
  bool emulates = false;
};

// What is bound to a node at load: it states what it is and allows, whatever
// the plan asked for.
struct BoundKernel {
  std::unique_ptr<Kernel> kernel;
  KernelId id;
  Arithmetic arithmetic;
  // Which results may overwrite which operands. All other memory is disjoint.
  std::vector<InPlacePair> in_place;
  // Bytes of scratch outside the arena that each launch needs instead of the
  // plan's workspace, as for kernels that emulate a GPU's; 0: none.
  int64_t outside_scratch = 0;
};

// One library of kernels, found by KernelId::library. Thread safety: Bind may
// be called in parallel.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  virtual absl::string_view name() const = 0;
  // KernelBinding::kernel is one of this library's, or only its name: then any
  // kernel that computes the node. Called on the thread that will launch.
  // ResourceExhausted, with both numbers, if the kernel needs more than the
  // budget; Unimplemented if this library cannot compute the node as the plan
  // binds it.
  virtual absl::StatusOr<BoundKernel> Bind(
      const BindRequest& request) const = 0;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_KERNEL_H_
