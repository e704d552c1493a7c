// Checks the functions and variables of a module.
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/graph_faults.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/verifier.h"

namespace partita {
namespace {

void CheckVariableType(const Module& module, absl::string_view at,
                       absl::string_view name, const TensorType& type,
                       GraphFaults& faults) {
  const Variable* variable = module.FindVariable(name);
  if (variable == nullptr) {
    faults.Add(at, absl::StrCat("variable @", name, ", which is not declared"),
               "one of the module", "declare it");
  } else if (variable->type.RowMajor() != type.RowMajor()) {
    faults.Add(at, type.ToString(),
               absl::StrCat(variable->type.ToString(), " as variable @", name,
                            " is declared"),
               "correct one of them");
  }
}

void CheckVariablesOf(const Module& module, const Graph& function,
                      GraphFaults& faults) {
  const std::string where = absl::StrCat("@", function.name());
  for (const OpView& op : function.ops()) {
    if (!op.op().traits.reads_variable) continue;
    CheckVariableType(module, absl::StrCat(where, ": ", op.ToString()),
                      op.attr_string("name"), op.result_type(0), faults);
  }
  for (const VariableUpdate& update : function.updates()) {
    CheckVariableType(module,
                      absl::StrCat(where, ": update of @", update.variable),
                      update.variable, function.type(update.value), faults);
  }
}

void CheckVariable(const Module& module, const Variable& variable,
                   GraphFaults& faults) {
  const std::string at = absl::StrCat("variable @", variable.name);
  if (absl::Status status = CheckType(variable.type); !status.ok()) {
    faults.Add(absl::StrCat(at, ": ", status.message()));
  }
  if (!variable.initial.valid()) return;
  if (variable.initial.index >= module.literals().size()) {
    faults.Add(at, "an initial value that does not exist",
               "one of the module's literals", "add it to the pool");
    return;
  }
  const TensorType& type = module.literals().type(variable.initial);
  if (type.RowMajor() == variable.type.RowMajor()) return;
  faults.Add(at, absl::StrCat("initial value ", type.ToString()),
             variable.type.ToString(), "correct one of them");
}

}  // namespace

absl::Status VerifyModule(const Module& module) {
  GraphFaults faults;
  absl::flat_hash_set<absl::string_view> variables;
  for (const Variable& variable : module.variables()) {
    CheckVariable(module, variable, faults);
    if (variables.insert(variable.name).second) continue;
    faults.Add(absl::StrCat("variable @", variable.name), "a second one",
               "names given once", "rename it");
  }
  if (module.functions().empty()) {
    faults.Add("module", "no function", "at least one graph",
               "write `graph @name(...) -> ... { ... }`");
  }
  absl::flat_hash_set<absl::string_view> functions;
  for (const auto& function : module.functions()) {
    const std::string where = absl::StrCat("@", function->name());
    if (!functions.insert(function->name()).second) {
      faults.Add(where, "a second graph", "names given once", "rename it");
    }
    const size_t before = faults.size();
    AddFaultsOf(*function, where, faults);
    // Values that do not exist have no types to compare.
    if (faults.size() == before) CheckVariablesOf(module, *function, faults);
  }
  return faults.ToStatus();
}

}  // namespace partita
