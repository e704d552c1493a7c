// Looks for what has no code yet, instruction set by instruction set.
// SPDX-License-Identifier: Apache-2.0

#include "partita/generated_code.h"

#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/image/image_library.h"
#include "kernels/image/image_store.h"

namespace partita {
namespace {

struct MissingCode {
  const DeviceTraits* device = nullptr;  // one of those with the set
  std::vector<OpView> nodes;
};
using MissingByIsa = absl::btree_map<std::string, MissingCode>;

absl::btree_map<std::string, const DeviceTraits*> TraitsByName(
    const Plan& plan) {
  absl::btree_map<std::string, const DeviceTraits*> devices;
  for (const PlanDevice& device : plan.devices) {
    devices.emplace(device.traits.name, &device.traits);
  }
  return devices;
}

// The generated kernels of an entry without code. Those of divided nodes have
// none: images hold code for whole ones.
void AddMissing(const Plan& plan, const Entry& entry, MissingByIsa& missing) {
  const auto devices = TraitsByName(plan);
  for (const OpView& node : entry.graph->ops()) {
    const auto& kernel = node.node().kernel;
    const auto& members = node.node().placement.devices;
    if (!kernel.has_value() || !absl::StartsWith(kernel->kernel, "codegen.") ||
        members.size() != 1) {
      continue;
    }
    const auto device = devices.find(members[0]);
    if (device == devices.end() || HasCode(node, *device->second)) continue;
    MissingCode& missing_here = missing[device->second->isa];
    missing_here.device = device->second;
    missing_here.nodes.push_back(node);
  }
}

MissingByIsa FindMissing(const Plan& plan) {
  MissingByIsa missing;
  for (const Entry& entry : plan.entries) AddMissing(plan, entry, missing);
  return missing;
}

size_t Count(const MissingByIsa& missing) {
  size_t count = 0;
  for (const auto& [isa, code] : missing) count += code.nodes.size();
  return count;
}

// Elementwise nodes of GPUs that the host plays: it binds them as a CPU of the
// least instruction set would.
MissingCode FindPlayed(const Plan& plan) {
  static const DeviceTraits& host = *new DeviceTraits;
  const auto devices = TraitsByName(plan);
  MissingCode played = {&host, {}};
  for (const Entry& entry : plan.entries) {
    for (const OpView& node : entry.graph->ops()) {
      const auto& members = node.node().placement.devices;
      if (!node.node().kernel.has_value() || members.size() != 1) continue;
      const auto device = devices.find(members[0]);
      if (device != devices.end() && device->second->kind != DeviceKind::kCpu &&
          CountInstructions(node).has_value() && !HasCode(node, host)) {
        played.nodes.push_back(node);
      }
    }
  }
  return played;
}

}  // namespace

absl::StatusOr<std::string> PreparePlayedCode(const Plan& plan) {
  const MissingCode played = FindPlayed(plan);
  if (played.nodes.empty()) return std::string();
  const auto images = BuildImagesOf(played.nodes, *played.device);
  if (images.ok()) return std::string();
  if (!absl::IsUnavailable(images.status())) return images.status();
  return absl::StrCat("an interpreter, which is slow, stands in for up to ",
                      played.nodes.size(),
                      " kernels of GPUs: ", images.status().message());
}

absl::StatusOr<std::string> PrepareGeneratedCode(const Plan& plan,
                                                 bool trust_code) {
  if (trust_code) {
    for (const KernelImage& image : plan.images) {
      PARTITA_RETURN_IF_ERROR(TrustImage(image));
    }
  }
  const MissingByIsa missing = FindMissing(plan);
  if (missing.empty()) return std::string();
  std::string why = "this processor lacks its instructions";
  for (const auto& [isa, code] : missing) {
    const auto images = CodegenCatalog().BuildImages(code.nodes, *code.device);
    if (!images.ok()) why = std::string(images.status().message());
  }
  const size_t left = Count(FindMissing(plan));
  if (left == 0) {
    return absl::StrCat("built ", Count(missing),
                        " generated kernels again: the plan's code ",
                        plan.images.empty() ? "is not in it"
                        : trust_code        ? "is of another version"
                                     : "is not trusted (--trust-code runs it)");
  }
  return absl::StrCat("an interpreter, which is slow, computes ", left,
                      " generated kernels: ",
                      trust_code || plan.images.empty()
                          ? ""
                          : "the plan's code is not trusted (--trust-code runs "
                            "it), and ",
                      why);
}

}  // namespace partita
