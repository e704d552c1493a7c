// Writes an explanation, placement by placement.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/explain_text.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/partita/figures_text.h"
#include "tools/partita/json_text.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

const EntryFigures& EntryOf(const PlanFigures& figures,
                            const std::string& entry) {
  size_t e = 0;
  while (figures.entries[e].name != entry) ++e;
  return figures.entries[e];
}

std::string HeadText(const NodeExplanation& explanation) {
  std::string text = absl::StrCat(explanation.node, " of @", explanation.entry,
                                  " is on ", explanation.placement);
  if (!explanation.kernel.empty()) {
    absl::StrAppend(&text, ", by ", explanation.kernel, " in ",
                    SecondsText(explanation.seconds));
  }
  absl::StrAppend(&text, "\nbecause ");
  if (!explanation.reason.empty()) {
    absl::StrAppend(&text, explanation.reason, ": ");
  }
  return absl::StrCat(text, explanation.why, "\n");
}

std::string FiguresText(const PlanFigures& figures, const std::string& entry,
                        const EntryFigures& present) {
  const EntryFigures& own = EntryOf(figures, entry);
  return absl::StrCat("  step ",
                      SecondsChange(present.step_seconds, own.step_seconds),
                      ", transfers ", TransfersText(own.transfers),
                      "\n  memory ", ArenasText(figures.devices),
                      "\n  critical path ", PathText(own.path), "\n");
}

// The plan itself has been shown already.
std::string OptionText(const NodeExplanation& explanation,
                       const NodeOption& option) {
  std::vector<std::string> parts;
  if (option.seconds.has_value()) {
    parts.push_back(absl::StrCat(SecondsText(*option.seconds), " alone"));
  }
  if (option.is_present) parts.push_back("where it is");
  if (!option.refusal.empty()) {
    parts.push_back(absl::StrCat("refused: ", option.refusal));
  }
  if (parts.empty()) parts.push_back("it has a kernel there");
  const std::string text =
      absl::StrCat("on ", option.name, ": ", absl::StrJoin(parts, "; "), "\n");
  if (option.is_present || !option.figures.has_value()) return text;
  return absl::StrCat(
      text, FiguresText(*option.figures, explanation.entry,
                        EntryOf(explanation.present, explanation.entry)));
}

std::string LeftOutText(const NodeExplanation& explanation) {
  if (explanation.options_left_out == 0) return "";
  return absl::StrCat("left out: ", explanation.options_left_out,
                      explanation.options_left_out == 1 ? " more placement"
                                                        : " more placements",
                      ", beyond ", kMostOptionsOnOne, " on one device and ",
                      kMostOptionsOnSeveral, " on several\n");
}

bool HasUnpricedOption(const NodeExplanation& explanation) {
  for (const NodeOption& option : explanation.options) {
    if (option.refusal.empty() && !option.figures.has_value()) return true;
  }
  return false;
}

Json FiguresJson(const PlanFigures& figures, const std::string& entry) {
  Json json = EntryFiguresJson(EntryOf(figures, entry));
  for (const ArenaFigures& arena : figures.devices) {
    json["memory"][arena.device] = ArenaJson(arena);
  }
  return json;
}

Json OptionJson(const NodeExplanation& explanation, const NodeOption& option) {
  Json json = {{"placement", option.name},
               {"present", option.is_present},
               {"kernel", option.has_kernel},
               {"refusal", option.refusal}};
  json["seconds"] = option.seconds.has_value() ? Json(*option.seconds) : Json();
  json["plan"] = option.figures.has_value()
                     ? FiguresJson(*option.figures, explanation.entry)
                     : Json();
  return json;
}

}  // namespace

std::string ExplanationText(const NodeExplanation& explanation) {
  std::string text = HeadText(explanation);
  if (!explanation.constraints.empty()) {
    absl::StrAppend(&text,
                    "asked for: ", absl::StrJoin(explanation.constraints, "; "),
                    "\n");
  }
  absl::StrAppend(&text, "the plan\n",
                  FiguresText(explanation.present, explanation.entry,
                              EntryOf(explanation.present, explanation.entry)));
  for (const NodeOption& option : explanation.options) {
    text += OptionText(explanation, option);
  }
  text += LeftOutText(explanation);
  if (!HasUnpricedOption(explanation)) return text;
  return absl::StrCat(
      text,
      "what the plan would come to with the node elsewhere: --model MODEL, "
      "with the flags of the plan's compilation\n");
}

std::string ExplanationJson(const NodeExplanation& explanation) {
  Json json = {{"entry", explanation.entry},
               {"node", explanation.node},
               {"placement", explanation.placement},
               {"kernel", explanation.kernel},
               {"arithmetic", explanation.arithmetic},
               {"seconds", explanation.seconds},
               {"reason", explanation.reason},
               {"why", explanation.why},
               {"constraints", explanation.constraints},
               {"plan", FiguresJson(explanation.present, explanation.entry)},
               {"options", Json::array()},
               {"options_left_out", explanation.options_left_out}};
  for (const NodeOption& option : explanation.options) {
    json["options"].push_back(OptionJson(explanation, option));
  }
  return JsonText(json);
}

}  // namespace partita
