// Computes a plan's placed graph over symbolic bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/reference.h"

#include <functional>

#include "graph/core_ops.h"

namespace partita {

Reference::Reference(TermTable& terms, const Entry& entry, int steps,
                     int micro_batches)
    : terms_(terms),
      entry_(entry),
      graph_(*entry.graph),
      micro_batches_(micro_batches) {
  variables_.resize(steps + 1);
  for (int step = 0; step < steps; ++step) RunStep(step);
}

Bytes Reference::Input(int step, int port) const {
  const int64_t whole = entry_.inputs[port].type.num_bytes();
  Bytes bytes;
  for (int64_t b = 0; b < whole; ++b) {
    bytes.push_back(terms_.Make({kInputTerm, port, step, b}));
  }
  return bytes;
}

ValueSharding Reference::ShardingOfValue(ValueId value) const {
  const Value& v = graph_.value(value);
  if (!v.defining_node.valid()) return {};
  return ResultValueSharding(graph_.node(v.defining_node), v.index);
}

Bytes Reference::WholeOf(ValueId value, const std::vector<Held>& values) const {
  return Assemble(graph_.type(value), ShardingOfValue(value),
                  values[value.index]);
}

// The initial bytes of a variable have terms of their own; later bytes are
// those of the update.
Bytes Reference::SourceBytes(int step, const OpView& node, int rank) const {
  const TensorType& type = node.result_type(0);
  const bool variable = node.is(kVariable);
  Bytes whole;
  if (variable) {
    auto it = variables_[step].find(node.attr_string("name"));
    if (it != variables_[step].end()) whole = it->second;
  }
  for (int64_t b = static_cast<int64_t>(whole.size());
       b < type.RowMajor().num_bytes(); ++b) {
    int64_t id = 0;
    if (variable) {
      id = static_cast<int64_t>(
          std::hash<std::string>()(node.attr_string("name")) >> 1);
    } else {
      id = node.attr_literal("value").index;
    }
    whole.push_back(
        terms_.Make({variable ? kVariableTerm : kLiteralTerm, id, b}));
  }
  return StoredBytes(terms_, type, ResultValueSharding(node.node(), 0), rank,
                     whole);
}

Bytes Reference::Persistent(int step, const PersistentValue& value) const {
  return SourceBytes(step, graph_.view(value.node), value.rank);
}

Bytes Reference::OperandOf(const OpView& node, int operand, int rank,
                           const std::vector<Held>& values) const {
  const ValueId value = node.operand(operand).id();
  const ValueSharding made = ShardingOfValue(value);
  const ValueSharding wanted = OperandValueSharding(node.node(), operand);
  if (made.sharding == wanted.sharding && made.ranks == wanted.ranks) {
    return values[value.index][rank];
  }
  return StoredBytes(terms_, graph_.type(value), wanted, rank,
                     WholeOf(value, values));
}

// Result `value` of a node that reduces, gathers or shards values.
void Reference::Reshard(const OpView& node, int value, int ranks,
                        Values& values) {
  const ValueSharding asked = OperandValueSharding(node.node(), value);
  Held operands;
  if (asked.sharding.kind == Sharding::Kind::kReplicated) {
    operands = {OperandOf(node, value, 0, values)};
  } else {
    for (int rank = 0; rank < asked.ranks; ++rank) {
      operands.push_back(OperandOf(node, value, rank, values));
    }
  }
  values[node.result(value).id().index] =
      RunCollectiveOn(terms_, node, value, node.operand_type(value),
                      node.result_type(value), operands, ranks);
}

void Reference::RunNode(int step, MicroBatchId micro_batch, const OpView& node,
                        Values& values) {
  const int ranks = ResultValueSharding(node.node(), 0).ranks;
  if (node.is(kConstant) || node.is(kVariable)) {
    for (int rank = 0; rank < ranks; ++rank) {
      values[node.result(0).id().index].push_back(
          SourceBytes(step, node, rank));
    }
    return;
  }
  if (node.is(kCopy) || node.is(kBucket)) {
    for (int value = 0; value < node.num_operands(); ++value) {
      Reshard(node, value, ranks, values);
    }
    return;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Bytes> operands;
    for (int i = 0; i < node.num_operands(); ++i) {
      operands.push_back(OperandOf(node, i, rank, values));
    }
    const std::vector<Bytes> results =
        Compute(terms_, node, rank, micro_batch, operands);
    for (int r = 0; r < node.num_results(); ++r) {
      values[node.result(r).id().index].push_back(results[r]);
    }
  }
}

// A variable cannot hold a value for each micro-batch: where these differ, all
// but one are lost, and no plan is correct.
void Reference::Update(int step, MicroBatchId micro_batch,
                       const VariableUpdate& update,
                       const std::vector<Held>& values) {
  const Bytes made = WholeOf(update.value, values);
  Bytes& kept = variables_[step + 1][update.variable];
  if (micro_batch == kFirstMicroBatch) {
    kept = made;
    return;
  }
  for (size_t b = 0; b < made.size(); ++b) {
    if (kept[b] != made[b]) kept[b] = terms_.Make({kLostTerm});
  }
}

// Adds up in the order of the micro-batches. All micro-batches read the whole
// sum.
void Reference::RunAccumulation(
    const OpView& node, IdVector<MicroBatchId, Values>& by_micro_batch) {
  const int ranks = ResultValueSharding(node.node(), 0).ranks;
  Held sums(ranks);
  for (MicroBatchId micro : micro_batches_) {
    for (int m = 0; m < ranks; ++m) {
      std::vector<Bytes> operands = {
          OperandOf(node, 0, m, by_micro_batch[micro])};
      if (micro > kFirstMicroBatch) operands.push_back(sums[m]);
      sums[m] = Compute(terms_, node, m, micro, operands)[0];
    }
  }
  for (Values& values : by_micro_batch) {
    values[node.result(0).id().index] = sums;
  }
}

Reference::Values Reference::InputsOf(int step,
                                      MicroBatchId micro_batch) const {
  Values values(graph_.value_id_bound());
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const ValueId input = graph_.inputs()[i];
    const Bytes all = Input(step, static_cast<int>(i));
    const TensorType& type = graph_.type(input);
    const int64_t size = type.RowMajor().num_bytes();
    const int64_t begin =
        static_cast<int64_t>(all.size()) == size ? 0 : micro_batch.index * size;
    values[input.index] = {
        StoredBytes(terms_, type, {}, 0,
                    Bytes(all.begin() + begin, all.begin() + begin + size))};
  }
  return values;
}

// Runs node by node, each in all micro-batches, because a sum needs all of
// them.
void Reference::RunStep(int step) {
  outputs_.emplace_back(graph_.outputs().size());
  variables_[step + 1] = variables_[step];
  IdVector<MicroBatchId, Values> by_micro_batch;
  for (MicroBatchId micro : micro_batches_) {
    by_micro_batch.Add(InputsOf(step, micro));
  }
  for (const OpView& node : graph_.ops()) {
    if (node.is(kAccumulate)) {
      RunAccumulation(node, by_micro_batch);
      continue;
    }
    for (MicroBatchId micro : micro_batches_) {
      RunNode(step, micro, node, by_micro_batch[micro]);
    }
  }
  for (MicroBatchId micro : micro_batches_) {
    const Values& values = by_micro_batch[micro];
    for (size_t o = 0; o < graph_.outputs().size(); ++o) {
      const Bytes part = WholeOf(graph_.outputs()[o], values);
      Bytes& output = outputs_[step][o];
      if (static_cast<int64_t>(output.size()) <
          entry_.outputs[o].type.num_bytes()) {
        output.insert(output.end(), part.begin(), part.end());
      }
    }
    for (const VariableUpdate& update : graph_.updates()) {
      Update(step, micro, update, values);
    }
  }
}

}  // namespace partita
