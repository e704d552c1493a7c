// Assigns memory to every value of a node's evaluation, then evaluates step by
// step.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/reference/reference_program.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"

namespace partita {

absl::StatusOr<std::unique_ptr<ReferenceProgram>> ReferenceProgram::Make(
    const OpView& node) {
  return Make(node, /*row_major=*/false);
}

absl::StatusOr<std::unique_ptr<ReferenceProgram>>
ReferenceProgram::MakeRowMajor(const OpView& node) {
  return Make(node, /*row_major=*/true);
}

absl::StatusOr<std::unique_ptr<ReferenceProgram>> ReferenceProgram::Make(
    const OpView& node, bool row_major) {
  auto program = std::make_unique<ReferenceProgram>();
  program->row_major_ = row_major;
  if (absl::Status status = program->Build(node); !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("while binding reference.eval to ",
                                     node.ToString(), ": ", status.message()));
  }
  return program;
}

absl::Status ReferenceProgram::Build(const OpView& node) {
  if (node.op().eval == nullptr) {
    return absl::UnimplementedError("found an op without eval");
  }
  if (node.is(kFused)) {
    graph_ = node.region(0).Clone(&node.graph().literals());
  } else {
    PARTITA_RETURN_IF_ERROR(BuildSingle(node));
  }
  places_.resize(graph_->value_id_bound());
  PlaceInputs(node);
  PlaceResults(node);
  PlaceInner();
  size_t operands = 0;
  size_t results = 0;
  for (const OpView& step : steps_) {
    operands = std::max<size_t>(operands, step.num_operands());
    results = std::max<size_t>(results, step.num_results());
  }
  operands_.resize(operands);
  results_.resize(results);
  return absl::OkStatus();
}

// A graph of the one node, so that the plan's graph is not needed later.
absl::Status ReferenceProgram::BuildSingle(const OpView& node) {
  LiteralPool& literals = node.graph().literals();
  graph_ = std::make_unique<Graph>("reference", &literals);
  NodeSpec spec{
      .op = &node.op(), .operands = {}, .attributes = node.node().attributes};
  // Evaluation errors name the node as the plan's graph does.
  for (int i = 0; i < node.num_results(); ++i) {
    const std::string& name = node.result(i).name();
    spec.result_names.push_back(
        name.empty() ? absl::StrCat(node.result(i).id().index) : name);
  }
  for (int i = 0; i < node.num_operands(); ++i) {
    spec.operands.push_back(
        graph_->AddInput("", node.operand_type(i).RowMajor()));
  }
  for (const auto& region : node.node().regions) {
    spec.regions.push_back(region->Clone(&literals));
  }
  PARTITA_ASSIGN_OR_RETURN(const NodeId id, graph_->AddNode(std::move(spec)));
  const ValueIds& results = graph_->node(id).results;
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorType type = graph_->type(results[i]).RowMajor();
    if (type != node.result_type(static_cast<int>(i)).RowMajor()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found result ", i, ": ",
          node.result_type(static_cast<int>(i)).ToString(), "; expected ",
          type.ToString(), "; the node's type is not what its op infers"));
    }
  }
  graph_->SetOutputs({results.begin(), results.end()});
  return absl::OkStatus();
}

TensorType ReferenceProgram::Outer(const TensorType& type) const {
  return row_major_ ? type.RowMajor() : type;
}

ReferenceProgram::Place ReferenceProgram::InWorkspace(const TensorType& type) {
  Place place;
  place.kind = Place::Kind::kWorkspace;
  place.offset = workspace_;
  workspace_ += RoundUp(type.RowMajor().num_bytes(), kWorkspaceAlignment);
  return place;
}

void ReferenceProgram::PlaceInputs(const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    const ValueId value = graph_->inputs()[i];
    const TensorType outer = Outer(node.operand_type(i));
    Place& place = places_[value.index];
    if (outer.layout.is_row_major()) {
      place.kind = Place::Kind::kOperand;
      place.index = i;
    } else {
      place = InWorkspace(outer);
      before_.push_back({i, value, LayoutCopy(outer, outer.RowMajor())});
    }
  }
}

// A value that is a row-major result is computed in place; other results are
// copied at the end.
void ReferenceProgram::PlaceResults(const OpView& node) {
  for (int i = 0; i < node.num_results(); ++i) {
    const ValueId value = graph_->outputs()[i];
    const TensorType outer = Outer(node.result_type(i));
    Place& place = places_[value.index];
    const ValueView view(graph_.get(), value);
    const bool computed =
        !view.is_input() && !view.defining_op()->is(kConstant);
    if (place.kind == Place::Kind::kNone && computed &&
        outer.layout.is_row_major()) {
      place.kind = Place::Kind::kResult;
      place.index = i;
    } else {
      after_.push_back({i, value, LayoutCopy(outer.RowMajor(), outer)});
    }
  }
}

void ReferenceProgram::PlaceInner() {
  for (const OpView& op : graph_->ops()) {
    const bool constant = op.is(kConstant) && op.result(0).is_constant();
    if (constant) {
      Place& place = places_[op.result(0).id().index];
      place.kind = Place::Kind::kConstant;
      place.constant = HostTensor(op.result_type(0).RowMajor());
      ConvertLayout(*op.result(0).constant(), place.constant);
      continue;
    }
    steps_.push_back(op);
    for (ValueId result : op.node().results) {
      Place& place = places_[result.index];
      if (place.kind == Place::Kind::kNone) {
        place = InWorkspace(graph_->type(result));
      }
    }
  }
}

void* ReferenceProgram::Bytes(const Place& place,
                              const LaunchArgs& args) const {
  switch (place.kind) {
    case Place::Kind::kOperand:
      return args.operands[place.index];
    case Place::Kind::kResult:
      return args.results[place.index];
    case Place::Kind::kConstant:
      return const_cast<std::byte*>(place.constant.bytes());
    default:
      return static_cast<std::byte*>(args.workspace) + place.offset;
  }
}

absl::Status ReferenceProgram::RunStep(const OpView& step,
                                       const LaunchArgs& args) {
  const Node& node = step.node();
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const ValueId id = node.operands[i];
    operands_[i] = HostTensor::ConstView(graph_->type(id).RowMajor(),
                                         Bytes(places_[id.index], args));
  }
  for (size_t i = 0; i < node.results.size(); ++i) {
    const ValueId id = node.results[i];
    const TensorType type = graph_->type(id).RowMajor();
    void* bytes = Bytes(places_[id.index], args);
    // memset does not accept a null pointer, even for no bytes.
    if (type.num_bytes() > 0) {
      std::memset(bytes, 0, static_cast<size_t>(type.num_bytes()));
    }
    results_[i] = HostTensor::View(type, bytes);
  }
  return EvaluateInto(
      step, absl::MakeConstSpan(operands_).first(node.operands.size()),
      absl::MakeSpan(results_).first(node.results.size()));
}

absl::Status ReferenceProgram::Run(const LaunchArgs& args, int threads) {
  for (const Conversion& conversion : before_) {
    conversion.copy.Run(args.operands[conversion.index],
                        Bytes(places_[conversion.value.index], args), threads);
  }
  for (const OpView& step : steps_) {
    PARTITA_RETURN_IF_ERROR(RunStep(step, args));
  }
  for (const Conversion& conversion : after_) {
    conversion.copy.Run(Bytes(places_[conversion.value.index], args),
                        args.results[conversion.index], threads);
  }
  return absl::OkStatus();
}

}  // namespace partita
