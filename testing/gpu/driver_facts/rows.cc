// JSON and text of rows.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/rows.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"

namespace partita {
namespace {

using nlohmann::ordered_json;

constexpr std::array<const char*, 4> kVerdictNames = {"PASS", "FAIL", "FIGURE",
                                                      "UNMEASURED"};

ordered_json JsonOf(const Row& row) {
  ordered_json json = {{"id", row.id},
                       {"rule", row.rule},
                       {"source", row.source},
                       {"expected", row.expected},
                       {"seen", row.reading.seen},
                       {"verdict", VerdictName(row.reading.verdict)}};
  if (!row.reading.figures.empty()) {
    ordered_json figures = ordered_json::object();
    for (const auto& [name, value] : row.reading.figures) {
      figures[name] = value;
    }
    json["figures"] = std::move(figures);
  }
  return json;
}

// Text of other programs (a compiler's log) need not be UTF-8.
std::string Dump(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

absl::StatusOr<FactVerdict> VerdictOf(const std::string& name) {
  for (size_t i = 0; i < kVerdictNames.size(); ++i) {
    if (name == kVerdictNames[i]) return static_cast<FactVerdict>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found verdict ", name,
                   "; expected PASS, FAIL, FIGURE or "
                   "UNMEASURED"));
}

bool NeedsLook(const Row& row) {
  return row.reading.verdict == FactVerdict::kFail ||
         row.reading.verdict == FactVerdict::kUnmeasured;
}

std::string LineOf(const Row& row) {
  return absl::StrFormat("%-10s %-34s %s\n", VerdictName(row.reading.verdict),
                         row.id, row.reading.seen);
}

}  // namespace

Row RowOf(const Fact& fact, Reading reading) {
  return {fact.id, fact.rule, fact.source, fact.expected, std::move(reading)};
}

Reading Unmeasured(std::string why) {
  return {FactVerdict::kUnmeasured, std::move(why), {}};
}

const char* VerdictName(FactVerdict verdict) {
  return kVerdictNames[static_cast<size_t>(verdict)];
}

std::string RowJson(const Row& row) { return Dump(JsonOf(row), -1); }

absl::StatusOr<Row> ParseRow(const std::string& line) {
  const ordered_json json = ordered_json::parse(line, nullptr, false);
  for (const char* name :
       {"id", "rule", "source", "expected", "seen", "verdict"}) {
    if (!json.is_object() || !json.contains(name) || !json[name].is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat("found ", line, "; expected a row with a text ", name));
    }
  }
  absl::StatusOr<FactVerdict> verdict = VerdictOf(json["verdict"]);
  if (!verdict.ok()) return verdict.status();
  Row row{json["id"],
          json["rule"],
          json["source"],
          json["expected"],
          {*verdict, json["seen"], {}}};
  if (json.contains("figures")) {
    for (const auto& [name, value] : json["figures"].items()) {
      // A figure that is no number (NaN) is null in JSON.
      row.reading.figures.emplace_back(
          name, value.is_number() ? value.get<double>() : 0.0);
    }
  }
  return row;
}

std::string TableJson(const std::vector<Row>& rows, double seconds) {
  ordered_json table = {{"program", "driver_facts"}, {"seconds", seconds}};
  table["rows"] = ordered_json::array();
  for (const Row& row : rows) table["rows"].push_back(JsonOf(row));
  return Dump(table, 1) + "\n";
}

std::string TableText(const std::vector<Row>& rows) {
  std::string text;
  std::array<int, kVerdictNames.size()> counts{};
  for (const Row& row : rows) {
    ++counts[static_cast<size_t>(row.reading.verdict)];
    if (!NeedsLook(row)) text += LineOf(row);
  }
  for (const Row& row : rows) {
    if (NeedsLook(row)) text += LineOf(row);
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", counts[i], " ",
                    kVerdictNames[i]);
  }
  return text + "\n";
}

}  // namespace partita
