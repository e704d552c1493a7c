// The short form of hand-written plans.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstdlib>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/shard.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

std::vector<std::string> Lines(absl::string_view text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

// "depth 2" among the declarations, which belongs to the entry's own line.
int DepthOf(const std::vector<std::string>& declared) {
  int depth = 1;
  for (absl::string_view line : declared) {
    if (absl::ConsumePrefix(&line, "depth ")) {
      (void)absl::SimpleAtoi(line, &depth);
    }
  }
  return depth;
}

std::string DeviceText(absl::string_view line, int depth) {
  const std::vector<std::string> words =
      absl::StrSplit(line, ' ', absl::SkipEmpty());
  int64_t persistent = 0;
  int64_t step = 0;
  (void)absl::SimpleAtoi(words[1], &persistent);
  (void)absl::SimpleAtoi(words[2], &step);
  return absl::StrCat("  device ", words[0], " ",
                      absl::StartsWith(words[0], "cpu") ? "cpu" : "cuda",
                      " memory ", persistent + depth * step,
                      "\n    arena persistent ", persistent, " step ", step,
                      "\n");
}

// The text has the whole initial value of a sharded variable; each rank takes
// its shard.
void ShardInitialValues(Plan& plan) {
  LiteralPool& literals = plan.module.literals();
  Entry& entry = plan.entries[0];
  for (PersistentValue& value : entry.persistent) {
    const Node& node = entry.graph->node(value.node);
    const Sharding sharding = ShardingOf(node.placement.results, 0);
    if (sharding.kind != Sharding::Kind::kSplit) continue;
    value.initial = literals.Add(
        ShardOf(literals.tensor(value.initial), sharding, value.rank,
                static_cast<int>(node.placement.devices.size())));
  }
}

}  // namespace

std::string TextOf(const ShortPlan& plan) {
  const std::vector<std::string> declared = Lines(plan.declared);
  const int depth = DepthOf(declared);
  std::string text = absl::StrCat(plan.graph, "\nplan @f {\n");
  for (const std::string& line : Lines(plan.devices)) {
    text += DeviceText(line, depth);
  }
  absl::StrAppend(&text, "  entry @f of @f depth ", depth, " {\n");
  std::string after;  // text that follows the streams
  for (const std::string& line : declared) {
    if (absl::StartsWith(line, "depth ")) continue;
    const bool late =
        absl::StartsWith(line, "group ") || absl::StartsWith(line, "channel ");
    absl::StrAppend(late ? &after : &text, "    ", line, "\n");
  }
  std::map<std::string, std::string> streams;
  int number = 0;
  for (const std::string& line : Lines(plan.launch)) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    absl::StrAppend(&streams[parts.first], "      ", number++, " ",
                    parts.second, "\n");
  }
  for (const auto& [stream, commands] : streams) {
    absl::StrAppend(&text, "    stream ", stream, "\n", commands);
  }
  absl::StrAppend(&text, after, "  }\n}\n");
  return text;
}

Plan PlanOf(const ShortPlan& plan) {
  const std::string text = TextOf(plan);
  absl::StatusOr<Plan> parsed = ParsePlan(text, plan.name, OpSet::BuiltIn());
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n%s\n",
                 std::string(parsed.status().message()).c_str(), text.c_str());
    std::abort();
  }
  ShardInitialValues(*parsed);
  return *std::move(parsed);
}

}  // namespace partita
