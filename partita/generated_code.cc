// Finds generated kernels without code, for each instruction set.
// SPDX-License-Identifier: Apache-2.0

#include "partita/generated_code.h"

#include <memory>
#include <utility>
#include <vector>

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
#include "kernels/native_code/trusted_code.h"
#include "kernels/unfused/body_segments.h"

namespace partita {
namespace {

// What one device computes of a node: all of it, or its rank's shard.
struct PlacedOp {
  OpView op;
  const DeviceTraits* device;
  std::unique_ptr<Graph> shard;  // owns `op`; null: the plan's graph does
};

struct MissingCode {
  // one of those with the instruction set
  const DeviceTraits* device = nullptr;
  std::vector<OpView> nodes;
};
using MissingByIsa = absl::btree_map<std::string, MissingCode>;
using PlacedOps = std::vector<PlacedOp>;

absl::btree_map<std::string, const DeviceTraits*> TraitsByName(
    const Plan& plan) {
  absl::btree_map<std::string, const DeviceTraits*> devices;
  for (const PlanDevice& device : plan.devices) {
    devices.emplace(device.traits.name, &device.traits);
  }
  return devices;
}

absl::StatusOr<PlacedOp> PlacedOpOf(const OpView& node, int rank,
                                    const DeviceTraits* device) {
  if (!HasOwnShards(node)) return PlacedOp{node, device, nullptr};
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Graph> shard,
                           ShardOfNode(node, rank, kTypicalMicroBatch));
  const OpView op = shard->ops().front();
  return PlacedOp{op, device, std::move(shard)};
}

// The selected nodes among all nodes with kernels, in all entries.
absl::StatusOr<PlacedOps> FindPlacedOps(
    const Plan& plan,
    absl::FunctionRef<bool(const OpView&, const DeviceTraits&)> wanted) {
  const auto devices = TraitsByName(plan);
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
        if (!wanted(placed.op, *device->second)) continue;
        found.push_back(std::move(placed));
      }
    }
  }
  return found;
}

// Generated kernels without code.
absl::StatusOr<PlacedOps> FindMissing(const Plan& plan) {
  return FindPlacedOps(plan, [](const OpView& op, const DeviceTraits& device) {
    return HasGeneratedKernel(op) && !HasCode(op, device);
  });
}

MissingByIsa ByIsa(const PlacedOps& ops) {
  MissingByIsa missing;
  for (const PlacedOp& placed : ops) {
    MissingCode& here = missing[placed.device->isa];
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

absl::StatusOr<PlacedOps> FindEmulated(const Plan& plan) {
  PARTITA_ASSIGN_OR_RETURN(
      PlacedOps all,
      FindPlacedOps(plan, [](const OpView& op, const DeviceTraits& device) {
        return !RunsHostCode(device);
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
    const std::string& isa = placed.device->isa;
    if (ExecutableIsa(isa) == isa) continue;
    return absl::StrCat("is for ", isa, ", which this processor lacks");
  }
  return trust_code ? "is of another version"
                    : "is not trusted (--trust-code runs it)";
}

absl::Status TrustCodeOf(const Plan& plan) {
  for (const CodeObject& code : plan.code_objects) {
    if (code.bytes.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "plan @", plan.name,
          ": found generated code of no bytes to trust, "
          "as the text of a plan has none; expected a plan file; or do not "
          "trust the code: it is then built again"));
    }
    PARTITA_RETURN_IF_ERROR(TrustCode(code));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PrepareEmulatedCode(const Plan& plan) {
  PARTITA_ASSIGN_OR_RETURN(const PlacedOps emulated, FindEmulated(plan));
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
                                                 bool trust_code) {
  if (trust_code) PARTITA_RETURN_IF_ERROR(TrustCodeOf(plan));
  PARTITA_ASSIGN_OR_RETURN(const PlacedOps missing, FindMissing(plan));
  if (missing.empty()) return std::string();
  std::string why = "this processor lacks its instructions";
  for (const auto& [isa, code] : ByIsa(missing)) {
    DeviceTraits device = *code.device;
    device.isa = ExecutableIsa(isa);
    const auto code_objects = CodegenCatalog().BuildCode(code.nodes, device);
    if (!code_objects.ok()) why = std::string(code_objects.status().message());
  }
  PARTITA_ASSIGN_OR_RETURN(const PlacedOps left, FindMissing(plan));
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
