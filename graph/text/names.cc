// Spelling of names and strings.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/names.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "graph/text/edit_distance.h"

namespace partita {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }

bool IsNamePart(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Reads and consumes the escape after a backslash at the start of `rest`.
std::optional<char> TakeEscape(absl::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const char kind = rest[0];
  rest.remove_prefix(1);
  if (kind == 'n') return '\n';
  if (kind == 't') return '\t';
  if (kind == '"' || kind == '\\') return kind;
  if (kind != 'x' || rest.size() < 2) return std::nullopt;
  const int high = HexDigit(rest[0]);
  const int low = HexDigit(rest[1]);
  if (high < 0 || low < 0) return std::nullopt;
  rest.remove_prefix(2);
  return static_cast<char>(high * 16 + low);
}

// Inputs, then results in order.
std::vector<ValueId> ValuesInOrder(const Graph& graph) {
  std::vector<ValueId> values = graph.inputs();
  for (NodeId id : graph.order()) {
    const ValueIds& results = graph.node(id).results;
    values.insert(values.end(), results.begin(), results.end());
  }
  return values;
}

}  // namespace

bool IsBareName(absl::string_view name) {
  if (name.empty() || !IsNameStart(name[0])) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsNamePart(c) || c == '/'; });
}

bool IsBareWord(absl::string_view word) {
  if (word.empty() || !IsNameStart(word[0])) return false;
  for (size_t i = 1; i < word.size(); ++i) {
    if (IsNamePart(word[i])) continue;
    if (word[i] != ':' || i + 1 == word.size() || !IsNamePart(word[i + 1])) {
      return false;
    }
  }
  return true;
}

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (absl::ascii_isprint(c)) {
      quoted += c;
    } else {
      absl::StrAppendFormat(&quoted, "\\x%02x", static_cast<unsigned char>(c));
    }
  }
  return quoted + '"';
}

std::optional<std::string> Unquoted(absl::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
    return std::nullopt;
  }
  absl::string_view rest = text.substr(1, text.size() - 2);
  std::string plain;
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '"') return std::nullopt;
    if (c != '\\') {
      plain += c;
      continue;
    }
    const std::optional<char> escaped = TakeEscape(rest);
    if (!escaped.has_value()) return std::nullopt;
    plain += *escaped;
  }
  return plain;
}

std::string FileName(absl::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '/' || c == '%' || !absl::ascii_isprint(c)) {
      absl::StrAppendFormat(&text, "%%%02x", static_cast<unsigned char>(c));
    } else {
      text.push_back(c);
    }
  }
  if (text.size() <= kMostOfFileName) return text;
  const ContentHash hash = HashBytes(absl::MakeConstSpan(
      reinterpret_cast<const std::byte*>(name.data()), name.size()));
  return absl::StrCat(text.substr(0, kKeptOfFileName), "%-", hash.ToString());
}

std::string NameText(absl::string_view name) {
  return IsBareName(name) ? std::string(name) : Quoted(name);
}

std::string WordText(absl::string_view word) {
  return IsBareWord(word) ? std::string(word) : Quoted(word);
}

std::vector<std::string> ValueNames(const Graph& graph) {
  const std::vector<ValueId> values = ValuesInOrder(graph);
  absl::flat_hash_set<std::string> given;  // names in use
  for (ValueId id : values) given.insert(graph.value(id).name);
  absl::flat_hash_set<std::string> taken;
  std::vector<std::string> names(graph.value_id_bound());
  int number = 0;
  for (ValueId id : values) {
    std::string name = graph.value(id).name;
    if (name.empty()) {
      names[id.index] = absl::StrCat(number++);
      continue;
    }
    if (!taken.insert(name).second) {
      int suffix = 1;
      std::string longer;
      do {
        longer = absl::StrCat(name, "_", suffix++);
      } while (given.contains(longer) || !taken.insert(longer).second);
      name = std::move(longer);
    }
    names[id.index] = NameText(name);
  }
  return names;
}

std::vector<std::string> ClosestNames(absl::string_view name,
                                      absl::Span<const std::string> candidates,
                                      size_t limit) {
  std::vector<std::pair<size_t, size_t>> ranked;  // distance, index
  for (size_t i = 0; i < candidates.size(); ++i) {
    ranked.push_back({EditDistance(name, candidates[i]), i});
  }
  if (ranked.size() > limit) {
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(limit);
    std::sort(ranked.begin(), ranked.end(),
              [](auto a, auto b) { return a.second < b.second; });
  }
  std::vector<std::string> closest;
  for (const auto& [distance, place] : ranked) {
    closest.push_back(candidates[place]);
  }
  return closest;
}

std::optional<std::string> ProbablyMeant(
    absl::string_view name, absl::Span<const std::string> candidates) {
  const std::vector<std::string> closest = ClosestNames(name, candidates, 1);
  if (closest.empty()) return std::nullopt;
  const size_t distance = EditDistance(name, closest[0]);
  if (2 * distance > std::min(name.size(), kMostCompared)) return std::nullopt;
  return closest[0];
}

}  // namespace partita
