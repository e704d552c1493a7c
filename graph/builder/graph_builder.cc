// Makes nodes and stores the first error.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/graph_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "graph/verifier.h"

namespace partita {
namespace {

// Larger than the ids of all random ops in the module.
int64_t FirstFreeRandomId(const Module& module) {
  int64_t free = 0;
  for (const auto& function : module.functions()) {
    for (const OpView& op : function->ops(kRandomUniform)) {
      free = std::max(free, op.attr_int("id") + 1);
    }
  }
  return free;
}

}  // namespace

const TensorType& Tensor::type() const { return graph_->type(id_); }

std::string Tensor::scope() const {
  const NodeId node = graph_->value(id_).defining_node;
  return node.valid() ? graph_->node(node).scope : "";
}

Tensor Tensor::Named(std::string name) const {
  if (valid()) graph_->value(id_).name = std::move(name);
  return *this;
}

GraphBuilder::GraphBuilder(std::string function)
    : graph_(&module_.AddFunction(std::move(function))) {}

GraphBuilder::GraphBuilder(Module module, const std::string& function,
                           CallSite site)
    : module_(std::move(module)), graph_(module_.FindFunction(function)) {
  if (graph_ == nullptr) {
    Fail(absl::StrCat("found no function @", function,
                      "; expected one of the module; name it"),
         site);
    return;
  }
  outputs_ = graph_->outputs();
  output_names_ = graph_->output_names();
  next_random_id_ = FirstFreeRandomId(module_);
}

void GraphBuilder::BeginFunction(std::string function) {
  if (!status_.ok()) return;
  FinishFunction();
  graph_ = &module_.AddFunction(std::move(function));
}

void GraphBuilder::FinishFunction() {
  graph_->SetOutputs(std::exchange(outputs_, {}),
                     std::exchange(output_names_, {}));
  reads_.clear();
}

std::string GraphBuilder::LocationOf(const CallSite& site) const {
  return at_.empty() ? absl::StrCat(site.file_name(), ":", site.line()) : at_;
}

void GraphBuilder::Fail(absl::string_view message, CallSite site) {
  if (!status_.ok()) return;
  status_ =
      absl::InvalidArgumentError(absl::StrCat(LocationOf(site), ": ", message));
}

// An invalid tensor comes from an earlier error, or was never made.
bool GraphBuilder::Accepts(const Tensor& tensor, const CallSite& site) {
  if (!status_.ok()) return false;
  if (!tensor.valid()) {
    Fail("found a tensor that was never built; expected a value of @" +
             graph_->name() + "; use what an op or Input returned",
         site);
  } else if (tensor.graph_ != graph_) {
    Fail(absl::StrCat("found a value of @", tensor.graph_->name(),
                      "; expected one of @", graph_->name(),
                      "; pass it as an input or keep it in a variable"),
         site);
  }
  return status_.ok();
}

Tensor GraphBuilder::Input(std::string name, DType dtype, Shape dims,
                           CallSite site) {
  const TensorType type{dtype, std::move(dims), {}};
  if (absl::Status status = CheckType(type); !status.ok()) {
    Fail(absl::StrCat("input %", name, ": ", status.message()), site);
  }
  if (!status_.ok()) return {};
  return {this, graph_, graph_->AddInput(std::move(name), type)};
}

Tensor GraphBuilder::Constant(HostTensor value, CallSite site) {
  const LiteralId literal = module_.literals().Add(std::move(value));
  return Op(kConstant, {}, {{"value", literal}}, site);
}

Tensor GraphBuilder::Scalar(DType dtype, double value, CallSite site) {
  HostTensor tensor(TensorType{dtype, {}, {}});
  SetFromDouble(tensor, 0, value);
  return Constant(std::move(tensor), site);
}

Tensor GraphBuilder::Variable(std::string name, HostTensor initial,
                              bool trainable, CallSite site) {
  if (module_.FindVariable(name) != nullptr) {
    Fail(absl::StrCat("variable @", name,
                      ": found a second declaration; expected one; use "
                      "ReadVariable"),
         site);
  }
  if (!status_.ok()) return {};
  const TensorType type = initial.type().RowMajor();
  const LiteralId literal = module_.literals().Add(std::move(initial));
  module_.AddVariable({name, type, literal, trainable});
  return ReadVariable(name, site);
}

Tensor GraphBuilder::ReadVariable(const std::string& name, CallSite site) {
  const partita::Variable* variable = module_.FindVariable(name);
  if (variable == nullptr) {
    Fail(absl::StrCat("variable @", name,
                      ": found no declaration; expected one; declare it "
                      "with Variable"),
         site);
    return {};
  }
  const auto known = reads_.find(name);
  if (known != reads_.end()) return known->second;
  const Shape& dims = variable->type.dims;
  const Tensor read =
      Op(kVariable, {},
         {{"name", name},
          {"dtype", variable->type.dtype},
          {"shape", std::vector<int64_t>(dims.begin(), dims.end())}},
         site)
          .Named(name);
  if (read.valid()) reads_.emplace(name, read);
  return read;
}

void GraphBuilder::Update(const std::string& variable, Tensor value,
                          CallSite site) {
  if (!Accepts(value, site)) return;
  const partita::Variable* declared = module_.FindVariable(variable);
  if (declared == nullptr || declared->type != value.type()) {
    Fail(absl::StrCat("update of @", variable, ": found ",
                      value.type().ToString(), "; expected ",
                      declared == nullptr ? "a declared variable"
                                          : declared->type.ToString(),
                      "; give the variable's next value"),
         site);
    return;
  }
  if (update_if_.valid()) {
    value =
        Op(kWhere, {update_if_, value, ReadVariable(variable, site)}, {}, site);
    if (!value.valid()) return;
  }
  graph_->AddUpdate({variable, value.id()});
}

void GraphBuilder::Output(std::string name, Tensor value, CallSite site) {
  if (!Accepts(value, site)) return;
  outputs_.push_back(value.id());
  output_names_.push_back(std::move(name));
}

Tensor GraphBuilder::Find(const std::string& name, CallSite site) {
  if (!status_.ok()) return {};
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (output_names_[i] == name) return {this, graph_, outputs_[i]};
  }
  for (ValueId input : graph_->inputs()) {
    if (graph_->value(input).name == name) return {this, graph_, input};
  }
  for (NodeId node : graph_->order()) {
    for (ValueId result : graph_->node(node).results) {
      if (graph_->value(result).name == name) return {this, graph_, result};
    }
  }
  Fail(absl::StrCat("found no value %", name, " in @", graph_->name(),
                    "; expected an input, an output or a named result; name "
                    "one of them"),
       site);
  return {};
}

std::vector<Tensor> GraphBuilder::Ops(const OpDef& op,
                                      absl::Span<const Tensor> operands,
                                      Attributes attributes, CallSite site) {
  NodeSpec spec{.op = &op,
                .attributes = std::move(attributes),
                .scope = scope_,
                .location = LocationOf(site)};
  for (const Tensor& operand : operands) {
    if (!Accepts(operand, site)) return {};
    spec.operands.push_back(operand.id());
  }
  if (!status_.ok()) return {};
  absl::StatusOr<NodeId> node = graph_->AddNode(std::move(spec));
  if (!node.ok()) {
    status_ = node.status();  // names the location itself
    return {};
  }
  std::vector<Tensor> results;
  for (ValueId result : graph_->node(*node).results) {
    results.push_back({this, graph_, result});
  }
  return results;
}

Tensor GraphBuilder::Op(const OpDef& op, absl::Span<const Tensor> operands,
                        Attributes attributes, CallSite site) {
  const std::vector<Tensor> results =
      Ops(op, operands, std::move(attributes), site);
  return results.empty() ? Tensor() : results[0];
}

GraphBuilder::At::At(GraphBuilder* builder, const CallSite& site)
    : builder_(builder != nullptr && builder->at_.empty() ? builder : nullptr) {
  if (builder_ != nullptr) builder_->at_ = builder_->LocationOf(site);
}

GraphBuilder::At::~At() {
  if (builder_ != nullptr) builder_->at_.clear();
}

GraphBuilder::Scope::Scope(GraphBuilder& builder, absl::string_view name)
    : builder_(builder), outer_size_(builder.scope_.size()) {
  if (name.empty()) return;
  absl::StrAppend(&builder.scope_, builder.scope_.empty() ? "" : "/", name);
}

GraphBuilder::Scope::~Scope() { builder_.scope_.resize(outer_size_); }

GraphBuilder::UpdateIf::UpdateIf(GraphBuilder& builder, Tensor condition,
                                 CallSite site)
    : builder_(builder), outer_(builder.update_if_) {
  builder.update_if_ = outer_.valid()
                           ? builder.Op(kAnd, {outer_, condition}, {}, site)
                           : condition;
}

GraphBuilder::UpdateIf::~UpdateIf() { builder_.update_if_ = outer_; }

absl::StatusOr<Module> GraphBuilder::Build() {
  PARTITA_RETURN_IF_ERROR(status_);
  FinishFunction();
  PARTITA_RETURN_IF_ERROR(VerifyModule(module_));
  Module built = std::exchange(module_, Module());
  status_ = absl::FailedPreconditionError(
      "found a builder that has built; expected a fresh one; make another");
  return built;
}

}  // namespace partita
