// Prices choices by a profile.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/profiled_catalog.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"
#include "placement/cost/node_signature.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Nothing if the node was seen in steps, whose caches are what they are.
std::optional<CacheSeconds> ByCaches(const MeasuredNode& node) {
  if (node.in_steps.has_value() || !node.warm || !node.cold) return {};
  return CacheSeconds{*node.warm, std::max(*node.warm, *node.cold)};
}

}  // namespace

ProfiledCatalog::ProfiledCatalog(const KernelCatalog& all,
                                 std::shared_ptr<const Profile> profile)
    : all_(all), profile_(std::move(profile)) {
  absl::btree_map<FamilyKey, std::vector<const MeasuredNode*>> measured;
  for (const MeasuredNode& node : profile_->nodes) {
    by_signature_.emplace(node.signature, &node);
    versions_.emplace(LibraryOf(node.version), node.version);
    const auto key = [&](const std::string& kernel) {
      return FamilyKey(node.family.op, node.family.dtype, node.family.device,
                       kernel);
    };
    measured[key(node.kernel)].push_back(&node);
    if (!node.fallback) measured[key("")].push_back(&node);
  }
  for (const auto& [key, nodes] : measured) AddScales(key, nodes);
}

void ProfiledCatalog::AddScales(const FamilyKey& key,
                                absl::Span<const MeasuredNode* const> nodes) {
  std::vector<MeasuredRoofline> seconds;
  std::vector<MeasuredRoofline> warm;
  std::vector<MeasuredRoofline> cold;
  for (const MeasuredNode* node : nodes) {
    seconds.push_back({node->roofline, node->seconds()});
    const std::optional<CacheSeconds> by_caches = ByCaches(*node);
    if (!by_caches.has_value()) continue;
    warm.push_back({node->roofline, by_caches->warm});
    cold.push_back({node->roofline, by_caches->cold});
  }
  Scales scales{.seconds = MeasuredScale(seconds)};
  if (!warm.empty()) {
    scales.warm = MeasuredScale(warm);
    scales.cold = MeasuredScale(cold);
  }
  scales_.emplace(key, std::move(scales));
}

std::vector<KernelChoice> ProfiledCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  std::vector<KernelChoice> choices = all_.Choices(node, device);
  if (choices.empty()) return choices;
  const NodeSignatures signatures(node, device);
  double roofline = kNever;  // of the fastest choice that is no fallback
  double seconds = kNever;   // and its price
  for (KernelChoice& choice : choices) {
    NoteVersion(choice);
    if (choice.fallback) continue;
    roofline = std::min(roofline, choice.seconds);
    SetMeasured(signatures, choice, choice.seconds);
    seconds = std::min(seconds, choice.seconds);
  }
  const double slower =
      roofline > 0 && roofline < kNever ? std::max(1.0, seconds / roofline) : 1;
  for (KernelChoice& choice : choices) {
    if (!choice.fallback) continue;
    SetMeasured(signatures, choice, slower * choice.seconds);
  }
  SortBestFirst(choices);
  return choices;
}

void ProfiledCatalog::SetMeasured(const NodeSignatures& node,
                                  KernelChoice& choice,
                                  double otherwise) const {
  const auto exact = by_signature_.find(node.Of(choice));
  if (exact != by_signature_.end()) {
    choice.seconds = exact->second->seconds();
    choice.by_caches = ByCaches(*exact->second);
    return;
  }
  const Scales* scales = FindScales(node.family(), choice);
  if (scales == nullptr) {
    choice.seconds = otherwise;
    return;
  }
  const double roofline = choice.seconds;
  choice.seconds = scales->seconds.Seconds(roofline);
  if (!scales->warm.has_value()) return;
  const double warm = scales->warm->Seconds(roofline);
  choice.by_caches = {.warm = warm,
                      .cold = std::max(warm, scales->cold->Seconds(roofline))};
}

const ProfiledCatalog::Scales* ProfiledCatalog::FindScales(
    const KernelFamily& family, const KernelChoice& choice) const {
  const auto find = [&](const std::string& kernel) -> const Scales* {
    const auto found =
        scales_.find(FamilyKey(family.op, family.dtype, family.device, kernel));
    return found == scales_.end() ? nullptr : &found->second;
  };
  const Scales* own = find(choice.kernel.ToString());
  if (own != nullptr || choice.fallback) return own;
  return find("");
}

void ProfiledCatalog::NoteVersion(const KernelChoice& choice) const {
  const std::string version = VersionOf(choice);
  const auto measured = versions_.find(LibraryOf(version));
  if (measured == versions_.end() || measured->second == version) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!other_version_.empty()) return;
  other_version_ = absl::StrCat(
      "profile: found measurements of ", measured->second, "; expected ",
      version,
      ", which this program has; measure again with `partita profile`");
}

absl::Status ProfiledCatalog::CheckVersions() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (other_version_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(other_version_);
}

absl::StatusOr<std::vector<CodeObject>> ProfiledCatalog::BuildCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  return all_.BuildCode(nodes, device);
}

double ProfiledCatalog::ReorderSeconds(const TensorType& type,
                                       const Layout& layout,
                                       const DeviceTraits& device) const {
  LiteralPool literals;
  Graph graph("reorder", &literals);
  const ValueId value = graph.AddInput("x", type);
  const absl::StatusOr<NodeId> node =
      graph.AddNode({.op = &kReorder,
                     .operands = {value},
                     .attributes = {{"layout", layout.ToString()}}});
  if (node.ok()) {
    graph.value(graph.node(*node).results[0]).type.layout = layout;
    const std::vector<KernelChoice> choices =
        Choices(graph.view(*node), device);
    if (!choices.empty()) return choices.front().seconds;
  }
  return all_.ReorderSeconds(type, layout, device);
}

}  // namespace partita
