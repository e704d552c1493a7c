// A catalog whose prices are measured: the one place where a profile becomes
// the price of a node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_PROFILED_CATALOG_H_
#define PARTITA_PLACEMENT_COST_PROFILED_CATALOG_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/kernel_catalog.h"
#include "placement/cost/measured_scale.h"
#include "placement/machine/profile.h"

namespace partita {

class NodeSignatures;  // node_signature.h

// Offers the choices of `all`, at these prices, best first:
//  1. The seconds measured for the choice's signature (node_signature.h). What
//     a step takes between warm and cold caches, CacheReuse says
//     (cache_reuse.h).
//  2. Else its roofline, which is what `all` states, scaled (measured_scale.h)
//     by the measurements of the same kernel for nodes of its family; a kernel
//     without any is scaled like the family's others, except plain loops
//     (`fallback`), which have little in common with them.
//  3. Else its roofline. That of plain loops is scaled like the node's fastest
//     other choice, if this makes it slower: a measured kernel does not lose to
//     plain loops that nobody measured.
// Planners, the choice of kernels and simulation all ask the catalog, so all
// read these prices. Thread safety: like KernelCatalog.
class ProfiledCatalog : public KernelCatalog {
 public:
  // `all` must outlive it.
  ProfiledCatalog(const KernelCatalog& all,
                  std::shared_ptr<const Profile> profile);

  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;
  // Of the `reorder` node that would be made.
  double ReorderSeconds(const TensorType& type, const Layout& layout,
                        const DeviceTraits& device) const override;

  // FailedPrecondition if a choice was offered whose library has another
  // version than the one that was measured. Call it after all other queries.
  absl::Status CheckVersions() const;

 private:
  // Of rooflines, to seconds() of what was measured, and to its seconds with
  // warm and cold caches, if any had both.
  struct Scales {
    MeasuredScale seconds;
    std::optional<MeasuredScale> warm;
    std::optional<MeasuredScale> cold;
  };
  // By kernel; the empty name: by all kernels of the family except plain loops.
  using FamilyKey = std::tuple<std::string, DType, DeviceKind, std::string>;

  // By rules 1 and 2, else `otherwise`.
  void SetMeasured(const NodeSignatures& node, KernelChoice& choice,
                   double otherwise) const;
  void AddScales(const FamilyKey& key,
                 absl::Span<const MeasuredNode* const> nodes);
  const Scales* FindScales(const KernelFamily& family,
                           const KernelChoice& choice) const;
  void NoteVersion(const KernelChoice& choice) const;

  const KernelCatalog& all_;
  const std::shared_ptr<const Profile> profile_;
  absl::flat_hash_map<absl::string_view, const MeasuredNode*> by_signature_;
  absl::btree_map<FamilyKey, Scales> scales_;
  // By library: the version that was measured.
  absl::flat_hash_map<absl::string_view, absl::string_view> versions_;
  mutable std::mutex mutex_;  // protects other_version_
  // What CheckVersions says; empty: nothing.
  mutable std::string other_version_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_PROFILED_CATALOG_H_
