// Reads modules: a sequence of variables and functions.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/parser.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/text/attribute_reader.h"
#include "graph/text/diagnostics.h"
#include "graph/text/graph_reader.h"
#include "graph/text/token_reader.h"

namespace partita {
namespace {

using Kind = Token::Kind;

constexpr size_t kLongestText = size_t{1} << 28;

class ModuleReader {
 public:
  ModuleReader(absl::string_view text, absl::string_view source,
               const OpSet& ops, Module& module)
      : diagnostics_(text, source),
        reader_(text, &diagnostics_),
        ops_(ops),
        module_(module),
        literals_(&module.literals()) {}

  absl::Status Read() {
    for (reader_.SkipNewlines(); !reader_.at_end() && !reader_.gave_up();
         reader_.SkipNewlines()) {
      if (!ReadDeclaration()) reader_.SkipLine();
    }
    PARTITA_RETURN_IF_ERROR(diagnostics_.ToStatus());
    for (Variable& variable : variables_) {
      module_.AddVariable(std::move(variable));
    }
    for (auto& function : functions_) {
      module_.AddFunction(std::move(function));
    }
    return absl::OkStatus();
  }

 private:
  bool ReadDeclaration() {
    if (reader_.TryTake("graph")) return ReadFunction();
    if (reader_.TryTake("variable")) return ReadVariable();
    return reader_.Fail("graph or variable");
  }

  bool ReadFunction() {
    const Token name = reader_.peek();
    const GraphText text = {reader_, ops_, literals_, module_.literals()};
    std::unique_ptr<Graph> function = GraphReader(text).ReadFunction();
    if (function == nullptr || !reader_.ExpectLineEnd()) return false;
    const bool is_new = function_names_.insert(function->name()).second &&
                        module_.FindFunction(function->name()) == nullptr;
    functions_.push_back(std::move(function));
    if (is_new) return true;
    reader_.Report(name, absl::StrCat("found a second graph ", name.text,
                                      "; expected another name"));
    return true;  // the text was read
  }

  bool ReadVariable() {
    const Token name = reader_.peek();
    std::optional<std::string> read =
        reader_.ReadName(Kind::kSymbol, "@ and the variable's name");
    if (!read.has_value() || !reader_.Expect(':')) return false;
    Variable variable{.name = *std::move(read)};
    std::optional<TensorType> type = reader_.ReadType();
    if (!type.has_value()) return false;
    variable.type = *std::move(type);
    variable.trainable = reader_.TryTake("trainable");
    if (reader_.TryTake('=') && !ReadInitialValue(variable)) return false;
    if (!variable_names_.insert(variable.name).second ||
        module_.FindVariable(variable.name) != nullptr) {
      return reader_.Report(name,
                            absl::StrCat("found a second variable ", name.text,
                                         "; expected another name"));
    }
    variables_.push_back(std::move(variable));
    return reader_.ExpectLineEnd();
  }

  bool ReadInitialValue(Variable& variable) {
    const Token where = reader_.peek();
    const std::optional<LiteralId> literal = literals_.Read(reader_);
    if (!literal.has_value()) return false;
    variable.initial = *literal;
    const TensorType& type = module_.literals().type(*literal);
    if (type.RowMajor() == variable.type.RowMajor()) return true;
    return reader_.Report(
        where,
        absl::StrCat("found ", type.ToString(), "; expected ",
                     variable.type.ToString(), ", the variable's own type"));
  }

  Diagnostics diagnostics_;
  TokenReader reader_;
  const OpSet& ops_;
  Module& module_;
  LiteralReader literals_;
  absl::flat_hash_set<std::string> variable_names_;
  absl::flat_hash_set<std::string> function_names_;
  std::vector<Variable> variables_;
  std::vector<std::unique_ptr<Graph>> functions_;
};

}  // namespace

absl::Status ParseIntoModule(absl::string_view text, absl::string_view source,
                             const OpSet& ops, Module& module) {
  if (text.size() > kLongestText) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": found ", text.size(),
                     " bytes of text; expected at most ", kLongestText));
  }
  return ModuleReader(text, source, ops, module).Read();
}

absl::StatusOr<Module> ParseModule(absl::string_view text,
                                   absl::string_view source, const OpSet& ops) {
  Module module;
  PARTITA_RETURN_IF_ERROR(ParseIntoModule(text, source, ops, module));
  return module;
}

}  // namespace partita
