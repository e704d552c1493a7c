// The question that planner, passes and lowering ask of kernels: what can run
// this node on that device, and how?
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_KERNEL_CATALOG_H_
#define PARTITA_GRAPH_KERNEL_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "graph/literal_pool.h"
#include "graph/op_view.h"

namespace partita {

// A kernel's workspace begins at a multiple of this many bytes.
inline constexpr int64_t kWorkspaceAlignment = 64;

// One way to compute a node.
struct KernelChoice {
  std::string kernel;            // "onednn.conv"; the part before the dot names
                                 // the library that binds it
  std::vector<Layout> operands;  // what the kernel wants, one per operand
  std::vector<Layout> results;   // what it gives
  int64_t workspace = 0;         // bytes
  std::vector<InPlacePair> in_place;
  double seconds = 0;      // on this device, launch included
  std::string arithmetic;  // see KernelBinding
  // Plain loops, eval's or a library's reference implementation: right but
  // slow, and named in the summary.
  bool fallback = false;
  // `operands` and `results` say row-major, but every value with the extents of
  // result 0 may have any one layout instead, as long as all have the same.
  bool any_layout = false;
};

// Native code for the fused nodes of a plan and one target.
struct KernelImage {
  friend bool operator==(const KernelImage&, const KernelImage&) = default;
  std::string target;            // "x86-64-avx512", "sm_90"
  std::vector<std::byte> bytes;  // a shared object, or PTX
  // Read back from text, which holds no bytes: their size and hash, or 0.
  int64_t declared_size = 0;
  ContentHash declared_hash;
};

// Thread safety: const calls may run in parallel.
class KernelCatalog {
 public:
  virtual ~KernelCatalog() = default;

  // Every way to compute `node` on `device`, best first; empty if there is
  // none. Looks at the op, attributes, regions and the extents and dtypes of
  // its operands and results, never at their present layouts.
  virtual std::vector<KernelChoice> Choices(
      const OpView& node, const DeviceTraits& device) const = 0;

  // Code for those of `nodes` that a generated kernel is bound to.
  // Unimplemented, as here, if this catalog generates none.
  virtual absl::StatusOr<std::vector<KernelImage>> BuildImages(
      absl::Span<const OpView> nodes, const DeviceTraits& device) const;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_KERNEL_CATALOG_H_
