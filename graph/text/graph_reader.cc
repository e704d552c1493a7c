// Recursive descent over graphs, recovering at line ends.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/graph_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/core_ops.h"
#include "graph/text/names.h"
#include "graph/text/placement_reader.h"

namespace partita {
namespace {

using Kind = Token::Kind;

constexpr int kDeepestBody = 16;
constexpr size_t kMostHints = 6;
constexpr size_t kHintsLookedAt = 1000;

std::string Known(absl::string_view name,
                  absl::Span<const std::string> candidates) {
  if (candidates.size() > kHintsLookedAt) {
    candidates.remove_prefix(candidates.size() - kHintsLookedAt);
  }
  const std::vector<std::string> names =
      ClosestNames(name, candidates, kMostHints);
  return absl::StrCat("known here: ",
                      names.empty() ? "none" : absl::StrJoin(names, ", "));
}

// What names a value in the scope: the text behind `%`, quoted only if it must.
std::string KeyOf(const Token& token) {
  const std::optional<std::string> name = NameOf(token);
  if (!name.has_value() || name->empty()) {
    return std::string(token.text.substr(1));
  }
  return NameText(*name);
}

// A node that is refused has no results, so the op calls it by its operand;
// the text knows better.
std::string NamedAfterResult(absl::string_view message,
                             absl::string_view by_operand,
                             absl::string_view by_result) {
  if (!absl::ConsumePrefix(&message, by_operand)) return std::string(message);
  return absl::StrCat(by_result, message);
}

}  // namespace

std::unique_ptr<Graph> GraphReader::ReadFunction() {
  is_function_ = true;
  std::optional<std::string> name =
      reader_.ReadName(Kind::kSymbol, "@ and the graph's name");
  if (!name.has_value()) return nullptr;
  graph_ = std::make_unique<Graph>(*std::move(name), &pool_);
  if (!ReadInputs() || !reader_.Expect(Kind::kArrow, "->")) return nullptr;
  const auto read_type = [this] {
    std::optional<TensorType> type = reader_.ReadType();
    if (type.has_value()) output_types_.push_back(*std::move(type));
    return type.has_value();
  };
  const bool read = reader_.peek().is('(')
                        ? reader_.ReadList('(', ')', read_type)
                        : read_type();
  if (!read || !ReadBody()) return nullptr;
  return std::move(graph_);
}

std::unique_ptr<Graph> GraphReader::ReadRegion() {
  std::string name;
  if (reader_.peek().kind == Kind::kSymbol) {
    std::optional<std::string> read =
        reader_.ReadName(Kind::kSymbol, "@ and the body's name");
    if (!read.has_value()) return nullptr;
    name = *std::move(read);
  }
  graph_ = std::make_unique<Graph>(std::move(name), &pool_);
  if (!ReadInputs() || !ReadBody()) return nullptr;
  return std::move(graph_);
}

bool GraphReader::ReadInputs() {
  return reader_.ReadList('(', ')', [this] { return ReadInput(); });
}

bool GraphReader::ReadInput() {
  const Token token = reader_.peek();
  std::optional<std::string> name =
      reader_.ReadName(Kind::kValue, "% and an input's name");
  if (!name.has_value() || !reader_.Expect(':')) return false;
  std::optional<TensorType> type = reader_.ReadType();
  if (!type.has_value()) return false;
  const ValueId id = graph_->AddInput(*std::move(name), *std::move(type));
  if (reader_.TryTake("on")) {
    Placement placement;
    if (!ReadPlacement(reader_, placement)) return false;
    graph_->set_input_placement(graph_->value(id).index, std::move(placement));
  }
  return Define(token, id);
}

bool GraphReader::ReadBody() {
  if (!reader_.Expect('{') || !reader_.ExpectLineEnd()) return false;
  while (!reader_.gave_up()) {
    reader_.SkipNewlines();
    const Token token = reader_.peek();
    if (reader_.TryTake('}')) {
      if (returned_) return true;
      reader_.Report(token, "found no return; expected one at the end");
      return true;
    }
    if (reader_.at_end()) return reader_.Fail("}");
    if (!ReadStatement()) reader_.SkipLine();
  }
  return false;
}

bool GraphReader::ReadStatement() {
  if (returned_) return reader_.Fail("} after the return");
  if (reader_.TryTake("return")) return ReadReturn();
  if (reader_.TryTake("update")) return ReadUpdate();
  return ReadNode();
}

bool GraphReader::ReadUpdate() {
  const Token token = reader_.peek();
  std::optional<std::string> variable =
      reader_.ReadName(Kind::kSymbol, "@ and a variable's name");
  ValueId value;
  if (!variable.has_value() || !reader_.Expect('=') || !ReadValue(value)) {
    return false;
  }
  for (const VariableUpdate& update : graph_->updates()) {
    if (update.variable != *variable) continue;
    return reader_.Report(token, absl::StrCat("found a second update of ",
                                              token.text, "; expected one"));
  }
  if (value.valid()) graph_->AddUpdate({*std::move(variable), value});
  return reader_.ExpectLineEnd();
}

bool GraphReader::ReadReturn() {
  returned_ = true;
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  while (reader_.peek().kind != Kind::kNewline) {
    if (!outputs.empty() && !reader_.Expect(',')) return false;
    ValueId value;
    if (!ReadValue(value)) return false;
    if (!value.valid()) {  // reported where it was defined
      reader_.SkipLine();
      return true;
    }
    outputs.push_back(value);
    const std::string& known = graph_->value(value).name;
    names.push_back(known.empty() ? absl::StrCat("output_", names.size())
                                  : known);
    if (!reader_.TryTake("as")) continue;
    std::optional<std::string> name = reader_.ReadWordOrString("a name");
    if (!name.has_value()) return false;
    names.back() = *std::move(name);
  }
  graph_->SetOutputs(std::move(outputs), std::move(names));
  return CheckOutputs() && reader_.ExpectLineEnd();
}

bool GraphReader::CheckOutputs() {
  if (!is_function_) return true;
  const std::vector<ValueId>& outputs = graph_->outputs();
  if (outputs.size() != output_types_.size()) {
    return reader_.Report(
        reader_.peek(),
        absl::StrCat("found ", outputs.size(), " results; expected ",
                     output_types_.size(), " as behind the graph's ->"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = graph_->type(outputs[i]);
    if (type == output_types_[i]) continue;
    return reader_.Report(
        reader_.peek(),
        absl::StrCat("found result ", i, " as ", type.ToString(), "; expected ",
                     output_types_[i].ToString(), " as behind the graph's ->"));
  }
  return true;
}

bool GraphReader::ReadNode() {
  std::vector<Result> results;
  while (reader_.peek().kind == Kind::kValue) {
    const Token token = reader_.peek();
    std::optional<std::string> name =
        reader_.ReadName(Kind::kValue, "% and a name");
    if (!name.has_value()) return false;
    results.push_back({token, *std::move(name)});
    if (!reader_.TryTake(',')) break;
  }
  if (!results.empty() && !reader_.Expect('=')) return false;
  if (ReadNodeAfterResults(results)) return true;
  for (const Result& result : results) {
    values_.insert({KeyOf(result.token), ValueId()});
  }
  return false;
}

bool GraphReader::ReadNodeAfterResults(const std::vector<Result>& results) {
  const Token op = reader_.peek();
  const int faults = reader_.num_faults();
  NodeSpec spec;
  spec.op = FindOp(op);
  if (spec.op == nullptr) return false;
  std::optional<KernelBinding> kernel;
  std::vector<Token> where;
  std::vector<TensorType> types;
  if (!ReadOperands(spec) || !ReadAttributesOf(spec) || !ReadRegions(spec) ||
      !ReadTypes(where, types) || !ReadSuffixes(spec, kernel) ||
      !reader_.ExpectLineEnd()) {
    return false;
  }
  const bool body_is_sound = reader_.num_faults() == faults;
  if (!body_is_sound ||
      !AddNode(op, std::move(spec), results, std::move(kernel), where, types)) {
    for (const Result& result : results) {
      values_.insert({KeyOf(result.token), ValueId()});
    }
  }
  return true;  // the line itself was read
}

const OpDef* GraphReader::FindOp(const Token& name) {
  if (name.kind != Kind::kWord) {
    reader_.Fail("an op");
    return nullptr;
  }
  const OpDef* op = ops_.Find(name.text);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const OpDef* known : ops_.ops()) names.push_back(known->name);
    reader_.Report(name, absl::StrCat("unknown op ", name.text),
                   Known(name.text, names));
    return nullptr;
  }
  reader_.Take();
  return op;
}

bool GraphReader::ReadOperands(NodeSpec& spec) {
  if (reader_.peek().kind != Kind::kValue) return true;
  do {
    reader_.SkipNewlines();
    ValueId value;
    if (!ReadValue(value)) return false;
    spec.operands.push_back(value);
  } while (reader_.TryTake(','));
  return true;
}

bool GraphReader::ReadAttributesOf(NodeSpec& spec) {
  if (spec.op == &kConstant && reader_.peek().kind == Kind::kWord) {
    const std::optional<LiteralId> literal = literals_.Read(reader_);
    if (literal.has_value()) spec.attributes.Set("value", *literal);
    return literal.has_value();
  }
  return !reader_.peek().is('{') ||
         ReadAttributes(reader_, *spec.op, literals_, spec.attributes);
}

bool GraphReader::ReadRegions(NodeSpec& spec) {
  while (reader_.peek().is('(') || reader_.peek().kind == Kind::kSymbol) {
    if (depth_ == kDeepestBody) {
      return reader_.Fail(
          absl::StrCat("at most ", kDeepestBody, " bodies in one another"));
    }
    GraphReader body(reader_, ops_, literals_, pool_, depth_ + 1);
    std::unique_ptr<Graph> region = body.ReadRegion();
    if (region == nullptr) return false;
    spec.regions.push_back(std::move(region));
  }
  return true;
}

bool GraphReader::ReadTypes(std::vector<Token>& where,
                            std::vector<TensorType>& types) {
  if (!reader_.TryTake(':')) return true;
  do {
    where.push_back(reader_.peek());
    std::optional<TensorType> type = reader_.ReadType();
    if (!type.has_value()) return false;
    types.push_back(*std::move(type));
  } while (reader_.TryTake(','));
  return true;
}

bool GraphReader::ReadSuffixes(NodeSpec& spec,
                               std::optional<KernelBinding>& kernel) {
  const auto read_string = [this](std::string& text) {
    std::optional<std::string> read = reader_.ReadString();
    if (read.has_value()) text = *std::move(read);
    return read.has_value();
  };
  const auto take = [this](absl::string_view word) {
    return reader_.ContinuesWith(word) && reader_.TryTake(word);
  };
  if (take("on") && !ReadPlacement(reader_, spec.placement)) return false;
  if (take("by") && !ReadKernel(reader_, kernel.emplace())) return false;
  if (take("scope") && !read_string(spec.scope)) return false;
  return !take("at") || read_string(spec.location);
}

bool GraphReader::AddNode(const Token& op, NodeSpec spec,
                          const std::vector<Result>& names,
                          std::optional<KernelBinding> kernel,
                          const std::vector<Token>& where,
                          const std::vector<TensorType>& types) {
  for (ValueId operand : spec.operands) {
    if (!operand.valid()) return false;  // reported where it was defined
  }
  std::string by_operand = spec.op->name;
  if (!spec.operands.empty()) {
    const std::string& name = graph_->value(spec.operands[0]).name;
    by_operand = absl::StrCat(
        spec.op->name, " of %",
        name.empty() ? absl::StrCat(spec.operands[0].index) : name);
  }
  for (const Result& result : names) spec.result_names.push_back(result.name);
  const OpDef& def = *spec.op;
  const std::string label = absl::StrCat(
      def.name, names.empty() ? "" : absl::StrCat(" ", names[0].token.text));
  const std::string location = std::exchange(spec.location, "");
  absl::StatusOr<NodeId> node = graph_->AddNode(std::move(spec));
  if (!node.ok()) {
    return reader_.Report(
        op, NamedAfterResult(node.status().message(), by_operand, label));
  }
  graph_->node(*node).location = location;
  graph_->node(*node).kernel = std::move(kernel);
  const ValueIds results = graph_->node(*node).results;
  if (results.size() != names.size()) {
    return reader_.Report(
        op, absl::StrCat(label, ": found ", names.size(), " results; expected ",
                         results.size()));
  }
  if (!CheckTypes(*node, label, where, types)) return false;
  bool defined = true;
  for (size_t i = 0; i < names.size(); ++i) {
    defined = Define(names[i].token, results[i]) && defined;
  }
  return defined;
}

// The op says dtype and extents; the text may choose the layout.
bool GraphReader::CheckTypes(NodeId node, absl::string_view label,
                             const std::vector<Token>& where,
                             const std::vector<TensorType>& types) {
  const OpView op = graph_->view(node);
  if (types.empty()) {
    if (op.is(kConstant)) {
      const LiteralId literal = op.attr_literal("value");
      graph_->value(op.node().results[0]).type = pool_.type(literal);
    }
    return true;
  }
  if (static_cast<int>(types.size()) != op.num_results()) {
    return reader_.Report(where[0],
                          absl::StrCat(label, ": found ", types.size(),
                                       " types; expected ", op.num_results()));
  }
  for (int i = 0; i < op.num_results(); ++i) {
    TensorType& inferred = graph_->value(op.node().results[i]).type;
    if (types[i].RowMajor() != inferred.RowMajor()) {
      return reader_.Report(
          where[i],
          absl::StrCat(label, ": found ", types[i].ToString(),
                       " in the text; expected ", inferred.ToString(),
                       ", which the op gives; mend or leave out the type"));
    }
    inferred = types[i];
  }
  return true;
}

bool GraphReader::Define(const Token& token, ValueId id) {
  if (!values_.insert({KeyOf(token), id}).second) {
    return reader_.Report(token, absl::StrCat("found a second definition of ",
                                              token.text.substr(0, 60),
                                              "; expected another name"));
  }
  names_.push_back(absl::StrCat("%", KeyOf(token)));
  return true;
}

bool GraphReader::ReadValue(ValueId& id) {
  const Token token = reader_.peek();
  if (!reader_.ReadName(Kind::kValue, "% and a value's name").has_value()) {
    return false;
  }
  auto it = values_.find(KeyOf(token));
  if (it == values_.end()) {
    return reader_.Report(
        token, absl::StrCat("unknown value ", token.text.substr(0, 60)),
        Known(token.text, names_));
  }
  id = it->second;
  return true;
}

}  // namespace partita
