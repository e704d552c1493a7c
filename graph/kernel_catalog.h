// The interface by which planners, predictions and the choice of kernels find
// the kernels for a node on a device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_KERNEL_CATALOG_H_
#define PARTITA_GRAPH_KERNEL_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "graph/literal_pool.h"
#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// The alignment of a kernel's workspace in bytes.
inline constexpr int64_t kWorkspaceAlignment = 64;

// One way to compute a node: what a plan would bind, its layouts and its price.
// A catalog answers for one device, with one arithmetic; CommonChoices
// (graph/node_kernels.h) for all ranks of a node.
// Measured with the operands in the caches of the device, and with nothing
// there.
struct CacheSeconds {
  double warm = 0;
  double cold = 0;
};

struct KernelChoice : KernelBinding {
  std::vector<Layout> operands;  // required layouts, one per operand
  std::vector<Layout> results;   // layouts of the results
  double seconds = 0;            // launch included, of the slowest rank
  // `seconds` is between them; nothing where they were not both measured.
  std::optional<CacheSeconds> by_caches;
  // Plain loops, eval or a library's reference implementation: correct but
  // slow. The summary names such kernels.
  bool fallback = false;
  // `operands` and `results` are row-major, but all values with the extents of
  // result 0 may have any other common layout instead.
  bool any_layout = false;
};

// Native code for the fused nodes of a plan and one target.
struct CodeObject {
  friend bool operator==(const CodeObject&, const CodeObject&) = default;
  std::string target;            // "x86-64-avx512", "sm_90"
  std::vector<std::byte> bytes;  // a shared object, or PTX
  // Set if parsed from text, which has no bytes: their size and hash, or 0.
  int64_t declared_size = 0;
  ContentHash declared_hash;
};

// Thread safety: const calls may run in parallel.
class KernelCatalog {
 public:
  virtual ~KernelCatalog() = default;

  // Every way to compute `node` on `device`, best first; empty if there is
  // none. Depends on the op, attributes, regions and the extents and dtypes of
  // its operands and results, not on their present layouts.
  virtual std::vector<KernelChoice> Choices(
      const OpView& node, const DeviceTraits& device) const = 0;

  // Native code for those of `nodes` with a generated kernel. Unimplemented
  // (the default) if this catalog generates no code.
  virtual absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes, const DeviceTraits& device) const;

  // Seconds to store a value of `type` in `layout` instead, which the choice of
  // layouts weighs before there is a `reorder` node. Default: the launch, and
  // each byte read and written once at the memory's bandwidth.
  virtual double ReorderSeconds(const TensorType& type, const Layout& layout,
                                const DeviceTraits& device) const;
};

// Fallbacks last, then by seconds; equal ones keep their order.
void SortBestFirst(std::vector<KernelChoice>& choices);

}  // namespace partita

#endif  // PARTITA_GRAPH_KERNEL_CATALOG_H_
