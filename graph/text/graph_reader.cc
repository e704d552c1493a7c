// Recursive descent over graphs, with recovery at line ends.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/graph_reader.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/text/placement_reader.h"

namespace partita {
namespace {

using Kind = Token::Kind;

}  // namespace

std::unique_ptr<Graph> GraphReader::ReadFunction() {
  is_function_ = true;
  std::optional<std::string> name =
      reader_.ReadName(Kind::kSymbol, "@ and the graph's name");
  if (!name.has_value()) return nullptr;
  graph_ = std::make_unique<Graph>(*std::move(name), &text_.pool);
  if (!ReadInputs() || !reader_.Expect(Kind::kArrow, "->")) return nullptr;
  if (!ReadOutputTypes() || !ReadBody()) return nullptr;
  return std::move(graph_);
}

// One type without parentheses, or any number in parentheses.
bool GraphReader::ReadOutputTypes() {
  const auto read_type = [this] {
    std::optional<TensorType> type = reader_.ReadType();
    if (type.has_value()) output_types_.push_back(*std::move(type));
    return type.has_value();
  };
  return reader_.peek().is('(') ? reader_.ReadList('(', ')', read_type)
                                : read_type();
}

std::unique_ptr<Graph> GraphReader::ReadRegion() {
  std::string name;
  if (reader_.peek().kind == Kind::kSymbol) {
    std::optional<std::string> read =
        reader_.ReadName(Kind::kSymbol, "@ and the body's name");
    if (!read.has_value()) return nullptr;
    name = *std::move(read);
  }
  graph_ = std::make_unique<Graph>(std::move(name), &text_.pool);
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
  return values_.Define(token, id);
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
  return NodeReader(text_, depth_, values_, *graph_).Read();
}

bool GraphReader::ReadUpdate() {
  const Token token = reader_.peek();
  std::optional<std::string> variable =
      reader_.ReadName(Kind::kSymbol, "@ and a variable's name");
  ValueId value;
  if (!variable.has_value() || !reader_.Expect('=') || !values_.Read(value)) {
    return false;
  }
  if (!updated_.insert(*variable).second) {
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
  absl::flat_hash_set<std::string> seen;
  while (reader_.peek().kind != Kind::kNewline) {
    if (!outputs.empty() && !reader_.Expect(',')) return false;
    Token named = reader_.peek();
    ValueId value;
    if (!values_.Read(value)) return false;
    if (!value.valid()) {  // reported where it was defined
      reader_.SkipLine();
      return true;
    }
    outputs.push_back(value);
    const std::string& known = graph_->value(value).name;
    names.push_back(known.empty() ? absl::StrCat("output_", names.size())
                                  : known);
    if (reader_.TryTake("as")) {
      named = reader_.peek();
      std::optional<std::string> name = reader_.ReadWordOrString("a name");
      if (!name.has_value()) return false;
      names.back() = *std::move(name);
    }
    if (is_function_ && !seen.insert(names.back()).second) {
      return reader_.Report(
          named, absl::StrCat("found a second result called ", names.back(),
                              "; expected another name"));
    }
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
                     output_types_.size(), " as after the graph's ->"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = graph_->type(outputs[i]);
    if (type == output_types_[i]) continue;
    return reader_.Report(
        reader_.peek(),
        absl::StrCat("found result ", i, " as ", type.ToString(), "; expected ",
                     output_types_[i].ToString(), " as after the graph's ->"));
  }
  return true;
}

}  // namespace partita
