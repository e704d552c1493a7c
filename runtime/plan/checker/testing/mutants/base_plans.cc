// Reads the base plans from plans/*.plans, family by family.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/mutants/base_plans.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace partita {
namespace {

constexpr absl::string_view kFamilies[] = {
    "order",      "shared_byte",      "micro_batch", "message",
    "collective", "permute",          "step",        "copy",
    "empty",      "sharded_variable", "layout"};

[[noreturn]] void Fail(absl::string_view what, absl::string_view where) {
  std::fprintf(stderr, "%s\n", absl::StrCat(what, " ", where).c_str());
  std::abort();
}

// The file without its comments.
std::string TextOfFamily(absl::string_view family) {
  const std::string path = absl::StrCat(
      "runtime/plan/checker/testing/mutants/plans/", family, ".plans");
  std::ifstream file(path);
  if (!file) Fail("cannot read", path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "//")) absl::StrAppend(&text, line, "\n");
  }
  return text;
}

// By family. The plans refer to them.
const std::vector<std::string>& Texts() {
  static const auto* const texts = [] {
    auto* const read = new std::vector<std::string>;
    for (absl::string_view family : kFamilies) {
      read->push_back(TextOfFamily(family));
    }
    return read;
  }();
  return *texts;
}

// What follows the title of a section, which must be `title`.
absl::string_view SectionText(absl::string_view section,
                              absl::string_view title) {
  if (!absl::ConsumePrefix(&section, title)) {
    Fail(absl::StrCat("expected --- ", title, ", found ---"), section);
  }
  return absl::StripAsciiWhitespace(section);
}

// "=== NAME", the graph, then the sections devices, declared and launch.
ShortPlan ReadShortPlan(absl::string_view text) {
  const std::vector<absl::string_view> sections =
      absl::StrSplit(text, "\n--- ");
  if (sections.size() != 4) Fail("expected three sections in\n===", text);
  const std::pair<absl::string_view, absl::string_view> name_and_graph =
      absl::StrSplit(sections[0], absl::MaxSplits('\n', 1));
  return {.name = name_and_graph.first,
          .graph = absl::StripAsciiWhitespace(name_and_graph.second),
          .devices = SectionText(sections[1], "devices"),
          .declared = SectionText(sections[2], "declared"),
          .launch = SectionText(sections[3], "launch")};
}

std::vector<ShortPlan> ReadBasePlans() {
  std::vector<ShortPlan> plans;
  for (const std::string& text : Texts()) {
    const std::vector<absl::string_view> parts = absl::StrSplit(text, "\n=== ");
    for (size_t i = 1; i < parts.size(); ++i) {
      plans.push_back(ReadShortPlan(parts[i]));
    }
  }
  return plans;
}

}  // namespace

const std::vector<ShortPlan>& BasePlans() {
  static const auto* const plans = new std::vector<ShortPlan>(ReadBasePlans());
  return *plans;
}

const ShortPlan& BasePlanNamed(absl::string_view name) {
  for (const ShortPlan& plan : BasePlans()) {
    if (plan.name == name) return plan;
  }
  Fail("found no base plan", name);
}

}  // namespace partita
