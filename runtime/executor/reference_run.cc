// Walks the bound graph and computes each instance.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/reference_run.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/id_vector.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/executor/launch_once.h"
#include "runtime/executor/reference_values.h"

namespace partita {
namespace {

class ReferenceWalk {
 public:
  ReferenceWalk(const Plan& plan, const Entry& entry,
                const KernelLibraries& libraries,
                const ReferenceOptions& options, ReferenceValues& values)
      : plan_(plan),
        entry_(entry),
        graph_(*entry.graph),
        libraries_(libraries),
        options_(options),
        values_(values) {}

  absl::Status Run() {
    for (const OpView& node : graph_.ops()) {
      std::vector<std::string> devices(node.node().placement.devices.begin(),
                                       node.node().placement.devices.end());
      if (devices.empty()) devices.push_back(plan_.devices[0].traits.name);
      for (size_t rank = 0; rank < devices.size(); ++rank) {
        PARTITA_RETURN_IF_ERROR(
            RunRank(node, static_cast<int>(rank), devices[rank]));
      }
      for (ValueId operand : node.node().operands) values_.Release(operand);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunRank(const OpView& node, int rank,
                       const std::string& device) {
    if (node.is(kAccumulate)) {
      PARTITA_ASSIGN_OR_RETURN(HostTensor sum, Accumulate(node, rank, device));
      values_.Keep(node.result(0).id(), kFirstMicroBatch, device,
                   std::move(sum));
      return absl::OkStatus();
    }
    const IdRange<MicroBatchId> runs =
        node.num_results() == 0 ? IdRange(kFirstMicroBatch, 1)
                                : values_.RunsOf(node.node().results[0]);
    for (MicroBatchId m : runs) {
      absl::StatusOr<std::vector<HostTensor>> results =
          Compute(node, rank, device, m);
      if (!results.ok()) return Failed(results.status());
      for (int i = 0; i < node.num_results(); ++i) {
        values_.Keep(node.node().results[i], m, device,
                     std::move((*results)[i]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Failed(const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat("reference run of @", entry_.name, ": ",
                                     status.message()));
  }

  // Accumulates in the order of the micro-batches, starting with the first.
  absl::StatusOr<HostTensor> Accumulate(const OpView& node, int rank,
                                        const std::string& device) {
    HostTensor sum =
        values_.On(device, node.node().operands[0], kFirstMicroBatch).Clone();
    for (MicroBatchId m :
         IdRange(MicroBatchId(1), values_.micro_batches() - 1)) {
      PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> shard,
                               ShardOfNode(node, rank, m));
      const OpView step = shard->ops().front();
      PARTITA_ASSIGN_OR_RETURN(std::vector<void*> operands,
                               OperandBytes(node, step, device, m));
      operands.push_back(sum.bytes());
      absl::StatusOr<std::vector<HostTensor>> next =
          Launch(step, device, operands);
      if (!next.ok()) return Failed(next.status());
      sum = std::move((*next)[0]);
    }
    return sum;
  }

  absl::StatusOr<std::vector<HostTensor>> Compute(const OpView& node, int rank,
                                                  const std::string& device,
                                                  MicroBatchId micro_batch) {
    if (node.is(kConstant) || node.op().traits.reads_variable) {
      return Persistent(node, rank);
    }
    if (node.is(kCopy) || node.is(kBucket)) {
      return Reshard(node, rank, micro_batch);
    }
    if (!HasOwnShards(node)) {
      return ComputeShard(node, node, device, micro_batch);
    }
    PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> shard,
                             ShardOfNode(node, rank, micro_batch));
    return ComputeShard(node, shard->ops().front(), device, micro_batch);
  }

  // Computes `shard`, the instance of `node` on `device`.
  absl::StatusOr<std::vector<HostTensor>> ComputeShard(
      const OpView& node, const OpView& shard, const std::string& device,
      MicroBatchId micro_batch) {
    if (shard.node().kernel.has_value()) {
      PARTITA_ASSIGN_OR_RETURN(const std::vector<void*> operands,
                               OperandBytes(node, shard, device, micro_batch));
      return Launch(shard, device, operands);
    }
    return EvaluateView(node, shard, device, micro_batch);
  }

  // The result of a copy or bucket, which moves values to another device set
  // and may reshard them.
  absl::StatusOr<std::vector<HostTensor>> Reshard(const OpView& node, int rank,
                                                  MicroBatchId micro_batch) {
    std::vector<HostTensor> results;
    for (int i = 0; i < node.num_operands(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(results.emplace_back(),
                               ReshardValue(node, i, rank, micro_batch));
    }
    return results;
  }

  absl::StatusOr<HostTensor> ReshardValue(const OpView& node, int i, int rank,
                                          MicroBatchId micro_batch) {
    const Placement& placement = node.node().placement;
    const ValueId from = node.node().operands[i];
    const Sharding wanted = ShardingOf(placement.results, i);
    const Sharding given = values_.ShardingOfValue(from);
    const int ranks = std::max<int>(1, placement.devices.size());
    if (given.kind == Sharding::Kind::kPartial) {
      PARTITA_ASSIGN_OR_RETURN(
          const HostTensor whole,
          values_.Reduced(from, given.reduction, micro_batch));
      return ShardOf(whole, wanted, rank, ranks);
    }
    if (wanted.kind == Sharding::Kind::kPartial) {
      return absl::UnimplementedError(absl::StrCat(
          node.ToString(),
          ": found a copy that makes partial results; expected a kernel to"));
    }
    return ShardOf(values_.Whole(from, micro_batch), wanted, rank, ranks);
  }

  absl::StatusOr<std::vector<HostTensor>> Persistent(const OpView& node,
                                                     int rank) {
    std::vector<HostTensor> results;
    if (node.op().traits.reads_variable) {
      const auto given = options_.variables.find(node.attr_string("name"));
      if (given != options_.variables.end()) {
        PARTITA_ASSIGN_OR_RETURN(const HostTensor now,
                                 FirstBytes(node, rank, *given->second));
        results.push_back(now.Clone());
        return results;
      }
    }
    for (const PersistentValue& value : entry_.persistent) {
      if (value.node != node.id() || value.rank != rank) continue;
      PARTITA_ASSIGN_OR_RETURN(
          HostTensor first,
          FirstBytes(node, rank,
                     plan_.module.literals().tensor(value.initial)));
      results.push_back(std::move(first));
      return results;
    }
    return absl::InvalidArgumentError(
        absl::StrCat(node.ToString(), ": found no persistent value of rank ",
                     rank, "; expected one in the plan"));
  }

  // The operands of `shard`, an instance of the node.
  absl::StatusOr<std::vector<void*>> OperandBytes(
      const OpView& node, const OpView& shard, const std::string& device,
      MicroBatchId micro_batch) const {
    std::vector<void*> bytes;
    for (int i = 0; i < node.num_operands(); ++i) {
      const HostTensor& operand =
          values_.On(device, node.node().operands[i], micro_batch);
      if (operand.type().num_bytes() != shard.operand_type(i).num_bytes()) {
        return absl::InvalidArgumentError(absl::StrCat(
            node.ToString(), ": found operand ", i, " of ",
            operand.type().ToString(), " on ", device, "; expected ",
            shard.operand_type(i).ToString(), "; prove the plan"));
      }
      bytes.push_back(const_cast<std::byte*>(operand.bytes()));
    }
    return bytes;
  }

  absl::StatusOr<std::vector<HostTensor>> Launch(
      const OpView& shard, const std::string& device,
      const std::vector<void*>& operands) {
    PARTITA_ASSIGN_OR_RETURN(const size_t d, FindDevice(device));
    return LaunchOnce(
        {.node = shard,
         .binding = &*shard.node().kernel,
         .device = &plan_.devices[d].traits},
        operands, libraries_, options_.any_host_kernel,
        options_.devices.empty() ? nullptr : options_.devices[d].get());
  }

  // A node without a kernel only changes the shape of the bytes.
  absl::StatusOr<std::vector<HostTensor>> EvaluateView(
      const OpView& node, const OpView& shard, const std::string& device,
      MicroBatchId micro_batch) {
    std::vector<HostTensor> operands;
    for (int i = 0; i < node.num_operands(); ++i) {
      const HostTensor& operand =
          values_.On(device, node.node().operands[i], micro_batch);
      if (!operand.type().layout.is_row_major()) {
        return absl::InvalidArgumentError(absl::StrCat(
            node.ToString(), ": found operand ", i, " in ",
            operand.type().ToString(),
            " and no kernel; expected a row-major view; plan a reorder"));
      }
      operands.push_back(
          HostTensor::ConstView(operand.type(), operand.bytes()));
    }
    return EvaluateNode(shard, operands);
  }

  absl::StatusOr<size_t> FindDevice(const std::string& name) const {
    for (size_t d = 0; d < plan_.devices.size(); ++d) {
      if (plan_.devices[d].traits.name == name) return d;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("found device ", name, "; expected one of the plan's"));
  }

  const Plan& plan_;
  const Entry& entry_;
  const Graph& graph_;
  const KernelLibraries& libraries_;
  const ReferenceOptions& options_;
  ReferenceValues& values_;
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
  ReferenceValues values(entry);
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.SetInput(graph.inputs()[i], inputs[i]);
  }
  PARTITA_RETURN_IF_ERROR(
      ReferenceWalk(plan, entry, libraries, options, values).Run());
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    outputs.push_back(
        values.WholeAs(entry.outputs[i].type, graph.outputs()[i]));
  }
  for (const VariableUpdate& update : graph.updates()) {
    outputs.push_back(values.Whole(update.value, kFirstMicroBatch));
  }
  return outputs;
}

}  // namespace partita
