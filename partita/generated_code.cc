// Finds generated kernels without code, for each instruction set.
// SPDX-License-Identifier: Apache-2.0

#include "partita/generated_code.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/unfused/body_segments.h"

namespace partita {
namespace {

// A device of the plan, and what loads its code.
struct CodeDevice {
  const DeviceTraits* traits = nullptr;
  const CodeLoader* loader = nullptr;  // or null
};
using CodeDevices = absl::btree_map<std::string, CodeDevice>;  // by name

// What one device computes of a node: all of it, or its rank's shard.
struct PlacedOp {
  OpView op;
  CodeDevice device;
  std::unique_ptr<Graph> shard;  // owns `op`; null: the plan's graph does
};

struct MissingCode {
  CodeDevice device;  // one of those with the target
  std::vector<OpView> nodes;
};
using MissingByTarget = absl::btree_map<std::string, MissingCode>;
using PlacedOps = std::vector<PlacedOp>;

CodeDevices DevicesOf(const Plan& plan, const CodeLoaders& loaders) {
  CodeDevices devices;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    const DeviceTraits& traits = plan.devices[d].traits;
    devices.emplace(traits.name, CodeDevice{&traits, loaders[d]});
  }
  return devices;
}

absl::StatusOr<PlacedOp> PlacedOpOf(const OpView& node, int rank,
                                    const CodeDevice& device) {
  if (!HasOwnShards(node)) return PlacedOp{node, device, nullptr};
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Graph> shard,
                           ShardOfNode(node, rank, kTypicalMicroBatch));
  const OpView op = shard->ops().front();
  return PlacedOp{op, device, std::move(shard)};
}

// The selected nodes among all nodes with kernels, in all entries.
absl::StatusOr<PlacedOps> FindPlacedOps(
    const Plan& plan, const CodeDevices& devices,
    absl::FunctionRef<bool(const OpView&, const CodeDevice&)> wanted) {
  PlacedOps found;
  for (const Entry& entry : plan.entries) {
    for (const OpView& node : entry.graph->ops()) {
      if (!node.node().kernel.has_value()) continue;
      const auto& ranks = node.node().placement.devices;
      for (size_t m = 0; m < ranks.size(); ++m) {
        const auto device = devices.find(ranks[m]);
        if (device == devices.end()) continue;
        PARTITA_ASSIGN_OR_RETURN(
            PlacedOp placed,
            PlacedOpOf(node, static_cast<int>(m), device->second));
        if (!wanted(placed.op, device->second)) continue;
        found.push_back(std::move(placed));
      }
    }
  }
  return found;
}

// Generated kernels without code.
absl::StatusOr<PlacedOps> FindMissing(const Plan& plan,
                                      const CodeDevices& devices) {
  return FindPlacedOps(
      plan, devices, [](const OpView& op, const CodeDevice& device) {
        return device.loader != nullptr && device.loader->is_generated(op) &&
               !device.loader->has_code(op, *device.traits);
      });
}

MissingByTarget ByTarget(const PlacedOps& ops) {
  MissingByTarget missing;
  for (const PlacedOp& placed : ops) {
    MissingCode& here = missing[CodeTargetOf(*placed.device.traits)];
    here.device = placed.device;
    here.nodes.push_back(placed.op);
  }
  return missing;
}

// The host emulates GPUs as a CPU with its best instruction set.
const DeviceTraits& EmulatingCpu() {
  static const DeviceTraits& host = *new DeviceTraits;
  return host;
}

bool LacksEmulatingCode(const OpView& op) {
  return CountInstructions(op).has_value() && !HasCode(op, EmulatingCpu());
}

// Adds what the host may compute of a GPU's node by generated code that it does
// not have: the node, or elementwise segments of a fused one.
absl::Status AddEmulated(PlacedOp placed, PlacedOps& emulated) {
  if (LacksEmulatingCode(placed.op)) {
    emulated.push_back(std::move(placed));
    return absl::OkStatus();
  }
  if (!placed.op.is(kFused) || CountInstructions(placed.op).has_value()) {
    return absl::OkStatus();
  }
  PARTITA_ASSIGN_OR_RETURN(std::vector<BodySegment> segments,
                           SegmentsOf(placed.op));
  for (BodySegment& segment : segments) {
    const OpView op = segment.node();
    if (!LacksEmulatingCode(op)) continue;
    emulated.push_back({op, placed.device, std::move(segment.graph)});
  }
  return absl::OkStatus();
}

absl::StatusOr<PlacedOps> FindEmulated(const Plan& plan,
                                       const CodeDevices& devices) {
  PARTITA_ASSIGN_OR_RETURN(
      PlacedOps all,
      FindPlacedOps(plan, devices, [](const OpView&, const CodeDevice& device) {
        return !RunsHostCode(*device.traits);
      }));
  PlacedOps emulated;
  for (PlacedOp& placed : all) {
    PARTITA_RETURN_IF_ERROR(AddEmulated(std::move(placed), emulated));
  }
  return emulated;
}

std::string WhyNotRun(const Plan& plan, const PlacedOps& missing,
                      bool trust_code) {
  if (plan.code_objects.empty()) return "is not in it";
  for (const PlacedOp& placed : missing) {
    const std::string& isa = placed.device.traits->isa;
    if (placed.device.loader->executable_isa(isa) == isa) continue;
    return absl::StrCat("is for ", isa, ", which this processor lacks");
  }
  return trust_code ? "is of another version"
                    : "is not trusted (--trust-code runs it)";
}

// Builds code for a device of `missing`, and loads it.
absl::Status BuildAgain(const MissingCode& missing) {
  const CodeLoader& loader = *missing.device.loader;
  DeviceTraits device = *missing.device.traits;
  device.isa = loader.executable_isa(device.isa);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<CodeObject> code_objects,
                           loader.build(missing.nodes, device));
  for (const CodeObject& code : code_objects) {
    PARTITA_RETURN_IF_ERROR(loader.load(code));
  }
  return absl::OkStatus();
}

absl::Status LoadOnDevices(const CodeObject& code, const CodeDevices& devices) {
  for (const auto& [name, device] : devices) {
    const bool is_its_code = CodeTargetOf(*device.traits) == code.target;
    if (!is_its_code || device.loader == nullptr) continue;
    PARTITA_RETURN_IF_ERROR(device.loader->load(code));
  }
  return absl::OkStatus();
}

absl::Status LoadCodeOf(const Plan& plan, const CodeDevices& devices) {
  for (const CodeObject& code : plan.code_objects) {
    if (code.bytes.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "plan @", plan.name,
          ": found generated code of no bytes to trust, "
          "as the text of a plan has none; expected a plan file; or do not "
          "trust the code: it is then built again"));
    }
    PARTITA_RETURN_IF_ERROR(LoadOnDevices(code, devices));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PrepareEmulatedCode(const Plan& plan) {
  const CodeLoaders none(plan.devices.size(), nullptr);
  PARTITA_ASSIGN_OR_RETURN(const PlacedOps emulated,
                           FindEmulated(plan, DevicesOf(plan, none)));
  std::vector<OpView> nodes;
  for (const PlacedOp& placed : emulated) nodes.push_back(placed.op);
  if (nodes.empty()) return std::string();
  const auto code_objects = BuildCodeOf(nodes, EmulatingCpu());
  if (code_objects.ok()) return std::string();
  if (!absl::IsUnavailable(code_objects.status())) return code_objects.status();
  return absl::StrCat("an interpreter, which is slow, replaces up to ",
                      nodes.size(),
                      " kernels of GPUs: ", code_objects.status().message());
}

absl::StatusOr<std::string> PrepareGeneratedCode(const Plan& plan,
                                                 const CodeLoaders& loaders,
                                                 bool trust_code) {
  const bool runs_code = absl::c_any_of(
      loaders, [](const CodeLoader* loader) { return loader != nullptr; });
  if (!runs_code) return std::string();
  const CodeDevices devices = DevicesOf(plan, loaders);
  if (trust_code) PARTITA_RETURN_IF_ERROR(LoadCodeOf(plan, devices));
  PARTITA_ASSIGN_OR_RETURN(const PlacedOps missing, FindMissing(plan, devices));
  if (missing.empty()) return std::string();
  std::string why = "this processor lacks its instructions";
  for (const auto& [target, code] : ByTarget(missing)) {
    const absl::Status built = BuildAgain(code);
    if (!built.ok()) why = std::string(built.message());
  }
  PARTITA_ASSIGN_OR_RETURN(const PlacedOps left, FindMissing(plan, devices));
  if (left.empty()) {
    return absl::StrCat("built ", missing.size(),
                        " generated kernels again: the plan's code ",
                        WhyNotRun(plan, missing, trust_code));
  }
  return absl::StrCat("an interpreter, which is slow, computes ", left.size(),
                      " generated kernels: ",
                      trust_code || plan.code_objects.empty()
                          ? ""
                          : "the plan's code is not trusted (--trust-code runs "
                            "it), and ",
                      why);
}

}  // namespace partita
