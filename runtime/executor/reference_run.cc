// Walks the placed graph and keeps each instance's results apart.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/reference_run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/combine.h"
#include "runtime/plan/micro_batches.h"

namespace partita {
namespace {

// One value in one micro-batch: an instance for each member of its device set,
// or one for all.
struct Instances {
  std::vector<std::string> devices;
  std::vector<HostTensor> tensors;
};

class ReferenceWalk {
 public:
  ReferenceWalk(const Plan& plan, const Entry& entry,
                const KernelLibraries& libraries,
                const ReferenceOptions& options)
      : plan_(plan),
        entry_(entry),
        graph_(*entry.graph),
        libraries_(libraries),
        options_(options),
        micro_batches_(CountMicroBatches(entry)),
        values_(graph_.value_id_bound()),
        readers_(graph_.value_id_bound()) {
    const std::vector<bool> varies = VaryingValues(entry);
    for (int i = 0; i < graph_.value_id_bound(); ++i) {
      values_[i].resize(varies[i] ? micro_batches_ : 1);
      readers_[i] = static_cast<int>(graph_.value(ValueId(i)).uses.size());
    }
    for (ValueId id : graph_.outputs()) ++readers_[id.index];
    for (const VariableUpdate& update : graph_.updates()) {
      ++readers_[update.value.index];
    }
  }

  void SetInput(ValueId id, const void* bytes) {
    const TensorType& type = graph_.type(id);
    const std::byte* part = static_cast<const std::byte*>(bytes);
    for (Instances& value : values_[id.index]) {
      Arrive(id, HostTensor::ConstView(type, part), value);
      part += type.num_bytes();
    }
  }

  absl::Status Run() {
    for (const OpView& node : graph_.ops()) {
      std::vector<std::string> devices(node.node().placement.devices.begin(),
                                       node.node().placement.devices.end());
      if (devices.empty()) devices.push_back(plan_.devices[0].traits.name);
      for (size_t member = 0; member < devices.size(); ++member) {
        PARTITA_RETURN_IF_ERROR(
            RunMember(node, static_cast<int>(member), devices[member]));
      }
      for (ValueId operand : node.node().operands) Release(operand);
    }
    return absl::OkStatus();
  }

  HostTensor Take(ValueId id) { return Whole(id, 0); }

  // As a port of that type has it: that of the value, or the parts of all
  // micro-batches behind each other, alike if the value does not vary.
  HostTensor TakeAs(const TensorType& port, ValueId id) {
    if (port == graph_.type(id)) return Whole(id, 0);
    const int last = static_cast<int>(values_[id.index].size()) - 1;
    HostTensor all(port);
    for (int m = 0; m < micro_batches_; ++m) {
      const HostTensor part = Whole(id, std::min(m, last));
      std::memcpy(all.bytes() + m * part.type().num_bytes(), part.bytes(),
                  part.type().num_bytes());
    }
    return all;
  }

 private:
  // Whole on no device in particular, or each member's piece.
  void Arrive(ValueId id, HostTensor whole, Instances& value) const {
    const Sharding sharding = ShardingOfValue(id);
    if (sharding.kind != Sharding::Kind::kSplit) {
      value.devices = {""};
      value.tensors.push_back(std::move(whole));
      return;
    }
    const auto& devices =
        graph_.input_placement(graph_.value(id).index).devices;
    const int members = static_cast<int>(devices.size());
    for (int m = 0; m < members; ++m) {
      value.devices.push_back(devices[m]);
      value.tensors.push_back(CutInstance(whole, sharding, m, members));
    }
  }

  absl::Status RunMember(const OpView& node, int member,
                         const std::string& device) {
    if (node.is(kAccumulate)) {
      PARTITA_ASSIGN_OR_RETURN(HostTensor sum, SumUp(node, member, device));
      Keep(node.result(0).id(), 0, device, std::move(sum));
      return absl::OkStatus();
    }
    const size_t runs = node.num_results() == 0
                            ? 1
                            : values_[node.node().results[0].index].size();
    for (size_t m = 0; m < runs; ++m) {
      absl::StatusOr<std::vector<HostTensor>> results =
          Compute(node, member, device, static_cast<int>(m));
      if (!results.ok()) return Failed(results.status());
      for (int i = 0; i < node.num_results(); ++i) {
        Keep(node.node().results[i], m, device, std::move((*results)[i]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Failed(const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat("reference run of @", entry_.name, ": ",
                                     status.message()));
  }

  void Keep(ValueId id, size_t micro_batch, const std::string& device,
            HostTensor tensor) {
    Instances& value = values_[id.index][micro_batch];
    value.devices.push_back(device);
    value.tensors.push_back(std::move(tensor));
  }

  // In the order of the micro-batches; the first is the first sum.
  absl::StatusOr<HostTensor> SumUp(const OpView& node, int member,
                                   const std::string& device) {
    HostTensor sum = Operand(node, 0, device, 0).Clone();
    for (int m = 1; m < micro_batches_; ++m) {
      PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> piece,
                               CutNode(node, member, m));
      const OpView part = piece->ops().front();
      PARTITA_ASSIGN_OR_RETURN(std::vector<void*> operands,
                               OperandBytes(node, part, device, m));
      operands.push_back(sum.bytes());
      absl::StatusOr<std::vector<HostTensor>> next =
          Launch(part, device, operands);
      if (!next.ok()) return Failed(next.status());
      sum = std::move((*next)[0]);
    }
    return sum;
  }

  absl::StatusOr<std::vector<HostTensor>> Compute(const OpView& node,
                                                  int member,
                                                  const std::string& device,
                                                  int micro_batch) {
    if (node.is(kConstant) || node.op().traits.reads_variable) {
      return Persistent(node, member);
    }
    if (node.is(kCopy) || node.is(kBucket)) {
      return Carry(node, member, micro_batch);
    }
    if (!HasOwnInstances(node)) {
      return ComputePiece(node, node, device, micro_batch);
    }
    PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> piece,
                             CutNode(node, member, micro_batch));
    return ComputePiece(node, piece->ops().front(), device, micro_batch);
  }

  // `piece` is what the instance on `device` computes of `node`.
  absl::StatusOr<std::vector<HostTensor>> ComputePiece(
      const OpView& node, const OpView& piece, const std::string& device,
      int micro_batch) {
    if (piece.node().kernel.has_value()) {
      PARTITA_ASSIGN_OR_RETURN(const std::vector<void*> operands,
                               OperandBytes(node, piece, device, micro_batch));
      return Launch(piece, device, operands);
    }
    return EvaluateView(node, piece, device, micro_batch);
  }

  Sharding ShardingOfValue(ValueId id) const {
    const NodeId source = graph_.value(id).defining_node;
    if (!source.valid()) {
      return ShardingOf(graph_.input_placement(graph_.value(id).index).results,
                        0);
    }
    return ShardingOf(graph_.node(source).placement.results,
                      graph_.value(id).index);
  }

  // What a reader in a micro-batch takes.
  const Instances& At(ValueId id, int micro_batch) const {
    const std::vector<Instances>& runs = values_[id.index];
    return runs[runs.size() > 1 ? micro_batch : 0];
  }

  HostTensor Whole(ValueId id, int micro_batch) const {
    std::vector<const HostTensor*> parts;
    for (const HostTensor& part : At(id, micro_batch).tensors) {
      parts.push_back(&part);
    }
    return JoinInstances(graph_.type(id), ShardingOfValue(id), parts);
  }

  // Partial results joined as collectives join them: in the order of members.
  absl::StatusOr<HostTensor> Joined(ValueId id, Reduction reduction,
                                    int micro_batch) const {
    HostTensor joined(graph_.type(id));
    PARTITA_ASSIGN_OR_RETURN(const CombineParts combine,
                             FindCombine(joined.type().dtype, reduction));
    std::vector<const std::byte*> parts;
    for (const HostTensor& part : At(id, micro_batch).tensors) {
      parts.push_back(part.bytes());
    }
    std::byte* const out = joined.bytes();
    combine(parts, 0, absl::MakeConstSpan(&out, 1), 0,
            joined.type().num_stored_elements());
    return joined;
  }

  // Copies and buckets carry values to another device set, cut in another way
  // or not.
  absl::StatusOr<std::vector<HostTensor>> Carry(const OpView& node, int member,
                                                int micro_batch) {
    std::vector<HostTensor> results;
    for (int i = 0; i < node.num_operands(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(results.emplace_back(),
                               CarryValue(node, i, member, micro_batch));
    }
    return results;
  }

  absl::StatusOr<HostTensor> CarryValue(const OpView& node, int i, int member,
                                        int micro_batch) {
    const Placement& placement = node.node().placement;
    const ValueId from = node.node().operands[i];
    const Sharding wanted = ShardingOf(placement.results, i);
    const Sharding given = ShardingOfValue(from);
    const int members = std::max<int>(1, placement.devices.size());
    if (given.kind == Sharding::Kind::kPartial) {
      PARTITA_ASSIGN_OR_RETURN(const HostTensor whole,
                               Joined(from, given.reduction, micro_batch));
      return CutInstance(whole, wanted, member, members);
    }
    if (wanted.kind == Sharding::Kind::kPartial) {
      return absl::UnimplementedError(absl::StrCat(
          node.ToString(),
          ": found a copy that makes partial results; expected a kernel to"));
    }
    return CutInstance(Whole(from, micro_batch), wanted, member, members);
  }

  absl::StatusOr<std::vector<HostTensor>> Persistent(const OpView& node,
                                                     int member) {
    std::vector<HostTensor> results;
    if (node.op().traits.reads_variable) {
      const auto given = options_.variables.find(node.attr_string("name"));
      if (given != options_.variables.end()) {
        PARTITA_ASSIGN_OR_RETURN(const HostTensor now,
                                 FirstBytes(node, member, *given->second));
        results.push_back(now.Clone());
        return results;
      }
    }
    for (const PersistentValue& value : entry_.persistent) {
      if (value.node != node.id() || value.member != member) continue;
      PARTITA_ASSIGN_OR_RETURN(
          HostTensor first,
          FirstBytes(node, member,
                     plan_.module.literals().tensor(value.initial)));
      results.push_back(std::move(first));
      return results;
    }
    return absl::InvalidArgumentError(
        absl::StrCat(node.ToString(), ": found no persistent value of member ",
                     member, "; expected one in the plan"));
  }

  // What `piece` of the node reads.
  absl::StatusOr<std::vector<void*>> OperandBytes(const OpView& node,
                                                  const OpView& piece,
                                                  const std::string& device,
                                                  int micro_batch) const {
    std::vector<void*> bytes;
    for (int i = 0; i < node.num_operands(); ++i) {
      const HostTensor& operand = Operand(node, i, device, micro_batch);
      if (operand.type().num_bytes() != piece.operand_type(i).num_bytes()) {
        return absl::InvalidArgumentError(absl::StrCat(
            node.ToString(), ": found operand ", i, " of ",
            operand.type().ToString(), " on ", device, "; expected ",
            piece.operand_type(i).ToString(), "; prove the plan"));
      }
      bytes.push_back(const_cast<std::byte*>(operand.bytes()));
    }
    return bytes;
  }

  absl::StatusOr<std::vector<HostTensor>> Launch(
      const OpView& piece, const std::string& device,
      const std::vector<void*>& operands) {
    PARTITA_ASSIGN_OR_RETURN(const DeviceTraits* traits, FindTraits(device));
    const KernelBinding& binding = *piece.node().kernel;
    std::vector<void*> result_bytes;
    std::vector<HostTensor> results;
    for (int i = 0; i < piece.num_results(); ++i) {
      results.emplace_back(piece.result_type(i));
      result_bytes.push_back(results.back().bytes());
    }
    const auto stream = NewCpuDevice(*traits)->NewStream();
    const int attached = stream->Attach();
    const absl::Status status =
        BindAndLaunch({piece, &binding, traits}, operands, result_bytes);
    stream->Detach(attached);
    PARTITA_RETURN_IF_ERROR(status);
    return results;
  }

  absl::Status BindAndLaunch(const BindRequest& request,
                             const std::vector<void*>& operands,
                             const std::vector<void*>& results) {
    PARTITA_ASSIGN_OR_RETURN(
        HostKernel kernel,
        BindKernel(request, libraries_, options_.virtual_devices));
    const int64_t bytes =
        std::max(request.binding->workspace, kernel.outside_scratch);
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<HostArena> workspace,
        HostArena::New(request.device->name, bytes, 4096, /*guarded=*/false));
    return kernel.kernel->Launch({.operands = operands,
                                  .results = results,
                                  .workspace = workspace->base()});
  }

  // A node without a kernel only gives bytes another shape.
  absl::StatusOr<std::vector<HostTensor>> EvaluateView(
      const OpView& node, const OpView& piece, const std::string& device,
      int micro_batch) {
    std::vector<HostTensor> operands;
    for (int i = 0; i < node.num_operands(); ++i) {
      const HostTensor& operand = Operand(node, i, device, micro_batch);
      if (!operand.type().layout.is_row_major()) {
        return absl::InvalidArgumentError(absl::StrCat(
            node.ToString(), ": found operand ", i, " in ",
            operand.type().ToString(),
            " and no kernel; expected a row-major view; plan a reorder"));
      }
      operands.push_back(
          HostTensor::ConstView(operand.type(), operand.bytes()));
    }
    return EvaluateNode(piece, operands);
  }

  const HostTensor& Operand(const OpView& node, int i,
                            const std::string& device, int micro_batch) const {
    const Instances& value = At(node.node().operands[i], micro_batch);
    for (size_t m = 0; m < value.devices.size(); ++m) {
      if (value.devices[m] == device) return value.tensors[m];
    }
    return value.tensors.front();
  }

  absl::StatusOr<const DeviceTraits*> FindTraits(
      const std::string& name) const {
    for (const PlanDevice& device : plan_.devices) {
      if (device.traits.name == name) return &device.traits;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("found device ", name, "; expected one of the plan's"));
  }

  void Release(ValueId id) {
    if (--readers_[id.index] > 0) return;
    for (Instances& value : values_[id.index]) value.tensors.clear();
  }

  const Plan& plan_;
  const Entry& entry_;
  const Graph& graph_;
  const KernelLibraries& libraries_;
  const ReferenceOptions& options_;
  const int micro_batches_;
  // By value id and, where it differs between them, by micro-batch.
  std::vector<std::vector<Instances>> values_;
  std::vector<int> readers_;  // that have not read yet
};

}  // namespace

absl::StatusOr<std::vector<HostTensor>> ReferenceRun(
    const Plan& plan, int entry_index, absl::Span<const void* const> inputs,
    const KernelLibraries& libraries, const ReferenceOptions& options) {
  const Entry& entry = plan.entries[entry_index];
  const Graph& graph = *entry.graph;
  if (inputs.size() != graph.inputs().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry @", entry.name, ": found ", inputs.size(),
                     " inputs; expected ", graph.inputs().size()));
  }
  ReferenceWalk walk(plan, entry, libraries, options);
  for (size_t i = 0; i < inputs.size(); ++i) {
    walk.SetInput(graph.inputs()[i], inputs[i]);
  }
  PARTITA_RETURN_IF_ERROR(walk.Run());
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    outputs.push_back(walk.TakeAs(entry.outputs[i].type, graph.outputs()[i]));
  }
  for (const VariableUpdate& update : graph.updates()) {
    outputs.push_back(walk.Take(update.value));
  }
  return outputs;
}

}  // namespace partita
