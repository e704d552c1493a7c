// Computes a plan's placed graph over symbolic bytes, step by step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_REFERENCE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_REFERENCE_H_

#include <map>
#include <string>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"
#include "runtime/plan/checker/testing/oracle/semantics.h"
#include "runtime/plan/checker/testing/oracle/terms.h"
#include "runtime/plan/plan.h"

namespace partita {

// Runs the graph of one entry serially; every value has its own memory.
class Reference {
 public:
  // Runs `steps` steps of `micro_batches` each. Inputs differ from step to
  // step.
  Reference(TermTable& terms, const Entry& entry, int steps, int micro_batches);

  // Port `port` of step `step`, for all micro-batches.
  const Bytes& Output(int step, int port) const { return outputs_[step][port]; }
  Bytes Input(int step, int port) const;
  // The content of a persistent range when step `step` starts. `step` may be
  // one past the last.
  Bytes Persistent(int step, const PersistentValue& value) const;

 private:
  // The bytes of a value on each rank.
  using Held = std::vector<Bytes>;
  void RunStep(int step);
  // The values of one micro-batch, by value id.
  using Values = std::vector<Held>;
  void Reshard(const OpView& node, int value, int ranks, Values& values);
  void RunNode(int step, MicroBatchId micro_batch, const OpView& node,
               Values& values);
  void RunAccumulation(const OpView& node,
                       IdVector<MicroBatchId, Values>& by_micro_batch);
  Values InputsOf(int step, MicroBatchId micro_batch) const;
  Bytes OperandOf(const OpView& node, int operand, int rank,
                  const std::vector<Held>& values) const;
  Bytes SourceBytes(int step, const OpView& node, int rank) const;
  ValueSharding ShardingOfValue(ValueId value) const;
  Bytes WholeOf(ValueId value, const std::vector<Held>& values) const;
  void Update(int step, MicroBatchId micro_batch, const VariableUpdate& update,
              const std::vector<Held>& values);

  TermTable& terms_;
  const Entry& entry_;
  const Graph& graph_;
  IdRange<MicroBatchId> micro_batches_;
  std::vector<std::vector<Bytes>> outputs_;              // by step and port
  std::vector<std::map<std::string, Bytes>> variables_;  // by step: whole
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_REFERENCE_H_
