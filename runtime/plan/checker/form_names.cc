// Form of names: entries and ports have the names that the graph gives them.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/text/names.h"
#include "runtime/plan/checker/form.h"

namespace partita {
namespace {

std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  return names;
}

// `named` are the graph's names. Inputs may have none, and one value may be
// several outputs.
void CheckPortNames(const EntryView& view, absl::string_view what,
                    const std::vector<Port>& ports,
                    const std::vector<std::string>& named, Findings& findings) {
  absl::flat_hash_set<std::string> seen;
  for (size_t i = 0; i < std::min(ports.size(), named.size()); ++i) {
    const std::string& found = ports[i].name;
    const bool again = !seen.insert(found).second;
    if (!named[i].empty() && found != named[i]) {
      findings.Add(view.Found(
          Rule::kNames,
          absl::StrCat(what, " ", i, ": found the name ", WordText(found),
                       "; expected ", WordText(named[i]), ", as @",
                       view.graph().name(), " calls it; rename the ", what)));
    } else if (again && named[i].empty()) {
      findings.Add(view.Found(
          Rule::kNames,
          absl::StrCat(what, " ", i, ": found the name ", WordText(found),
                       " a second time; expected each once; rename the ", what,
                       " in the graph")));
    }
  }
}

void CheckEntryName(const EntryView& view, Findings& findings) {
  const std::string& found = view.entry->name;
  const std::string& expected = view.graph().name();
  if (found != expected || found.empty()) {
    findings.Add(view.Found(
        Rule::kNames,
        absl::StrCat("entry ", view.index, ": found the name @",
                     NameText(found), "; expected @", NameText(expected),
                     ", as its function is called; rename the entry")));
  }
  for (int i = 0; i < view.index; ++i) {
    if (view.plan->entries[i].name != found) continue;
    findings.Add(view.Found(
        Rule::kNames,
        absl::StrCat("entry ", view.index, ": found the name @",
                     NameText(found), " of entry ", i,
                     "; expected each once; leave one of them out")));
    return;
  }
}

}  // namespace

void CheckNames(const EntryView& view, Findings& findings) {
  CheckEntryName(view, findings);
  CheckPortNames(view, "input", view.entry->inputs, InputNames(view.graph()),
                 findings);
  CheckPortNames(view, "output", view.entry->outputs,
                 view.graph().output_names(), findings);
}

}  // namespace partita
