// Strict reading of JSON, over nlohmann's parser.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/strict_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "graph/text/edit_distance.h"
#include "placement/machine/byte_size.h"
#include "placement/machine/json_places.h"

namespace partita {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxShown = 40;  // characters of a found value

std::string Shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  // In ASCII, so that no character is cut in two.
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

// Finds repeated keys and too deep nesting. A parser callback would be
// quadratic: at the end of each object the parser visits all its siblings.
class KeyWatch : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second && !repeated_.has_value()) {
      repeated_ = RepeatedKey{key, num_keys_};
    }
    ++num_keys_;
    return true;
  }
  // The main parser reports the error.
  bool parse_error(std::size_t position, const std::string& last_token,
                   const json::exception&) override {
    fault_ = position - std::min(position, last_token.size());
    return false;
  }

  struct RepeatedKey {
    std::string key;
    size_t index;  // of the second one, among all keys
  };
  bool too_deep() const { return too_deep_; }
  const std::optional<RepeatedKey>& repeated() const { return repeated_; }
  // The offset of the token that the parser refused.
  size_t fault() const { return fault_; }

 private:
  bool Enter() {
    keys_.emplace_back();
    too_deep_ = keys_.size() > kMaxDepth;
    return !too_deep_;
  }
  bool Leave() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of the open objects
  size_t num_keys_ = 0;
  std::optional<RepeatedKey> repeated_;
  size_t fault_ = 0;
  bool too_deep_ = false;
};

// The file may be binary: escapes bytes that are not printable ASCII, "\xff".
std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (absl::ascii_isprint(c)) {
      printable += c;
    } else {
      absl::StrAppend(&printable, "\\x", absl::Hex(c, absl::kZeroPad2));
    }
  }
  return printable;
}

// A number that no double holds: without nlohmann's own prefix, in brackets.
std::string NumberFault(absl::string_view what) {
  const size_t bracket = what.find("] ");
  if (bracket != absl::string_view::npos) what.remove_prefix(bracket + 2);
  return Printable(what);
}

// Takes what follows the last `mark` off the text; empty if it has no mark.
absl::string_view TakeAfter(absl::string_view mark, absl::string_view& text) {
  const size_t at = text.rfind(mark);
  if (at == absl::string_view::npos) return "";
  const absl::string_view after = text.substr(at + mark.size());
  text = text.substr(0, at);
  return after;
}

// The parser quotes the whole token, which may be long: its end is at fault.
std::string ShownToken(absl::string_view quoted) {
  if (quoted.size() <= kMaxShown) return Printable(quoted);
  return absl::StrCat("'...",
                      Printable(quoted.substr(quoted.size() - kMaxShown)));
}

struct SyntaxFault {
  std::string found;
  std::string expected;
};

// From nlohmann's "...: syntax error while parsing value - invalid literal;
// last read: 'x'; expected '['", of which the last two may be missing.
SyntaxFault SyntaxFaultOf(absl::string_view what) {
  const bool has_last = absl::StrContains(what, "; last read: ");
  absl::string_view expected = has_last ? "" : TakeAfter("; expected ", what);
  absl::string_view last_read =
      has_last ? TakeAfter("; last read: ", what) : "";
  if (has_last && absl::StrContains(last_read, "'; expected ")) {
    expected = TakeAfter("; expected ", last_read);
  }
  constexpr absl::string_view kSeparator = " - ";
  constexpr absl::string_view kContext = "while parsing ";
  const size_t context = what.find(kContext);
  const size_t problem = what.find(kSeparator, context);
  if (context == what.npos || problem == what.npos) {
    return {Printable(what), "valid JSON"};
  }
  const size_t start = context + kContext.size();
  return {absl::StrCat(what.substr(problem + kSeparator.size()),
                       has_last ? " " : "", ShownToken(last_read),
                       " while parsing ", what.substr(start, problem - start)),
          expected.empty() ? "valid JSON" : std::string(expected)};
}

// A key as a part of a path: in quotes unless it is a word.
std::string KeyText(const std::string& key) {
  const bool is_word = !key.empty() && key.size() <= kMaxShown &&
                       std::all_of(key.begin(), key.end(), [](char c) {
                         return absl::ascii_isalnum(c) || c == '_' || c == '-';
                       });
  return is_word ? key : Shown(key);
}

}  // namespace

std::string ShownText(absl::string_view text) {
  return Shown(std::string(text));
}

std::string DidYouMean(absl::string_view word,
                       absl::Span<const absl::string_view> known) {
  absl::string_view nearest;
  size_t least = 3;  // at most two edits
  for (absl::string_view candidate : known) {
    const size_t distance = EditDistance(word, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = candidate;
  }
  if (nearest.empty()) return "";
  return absl::StrCat("; did you mean ", nearest, "?");
}

absl::StatusOr<JsonDocument> JsonDocument::Parse(absl::string_view text,
                                                 absl::string_view source) {
  if (text.size() > kMaxJsonBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": found more than ", kMaxJsonBytes,
                     " bytes; expected a shorter text"));
  }
  JsonDocument document;
  document.source_ = std::string(source);
  document.text_ = std::string(text);
  const auto fault = [&](size_t offset, absl::string_view found,
                         absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        document.PlaceOf(offset), ": found ", found, "; expected ", expected));
  };
  KeyWatch watch;
  json::sax_parse(text.begin(), text.end(), &watch);
  if (watch.too_deep()) {
    return fault(OffsetOfDepth(text, kMaxDepth),
                 absl::StrCat("nesting deeper than ", kMaxDepth),
                 "an object of plain lists");
  }
  try {
    document.json_ = json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    const SyntaxFault syntax = SyntaxFaultOf(error.what());
    return fault(error.byte == 0 ? 0 : error.byte - 1, syntax.found,
                 syntax.expected);
  } catch (const json::exception& error) {  // a number beyond all doubles
    return fault(watch.fault(), NumberFault(error.what()),
                 "numbers that a double can hold");
  }
  if (watch.repeated().has_value()) {
    return fault(OffsetOfKey(text, watch.repeated()->index),
                 absl::StrCat("key ", Shown(watch.repeated()->key),
                              " twice in one object"),
                 "every key once");
  }
  return document;
}

absl::StatusOr<JsonObject> JsonDocument::Root() const {
  const absl::string_view value = JsonValueIn(text_);
  if (json_.is_object()) return JsonObject(&json_, this, value, "");
  return absl::InvalidArgumentError(
      absl::StrCat(PlaceOf(value.data() - text_.data()), ": found ",
                   Shown(json_), "; expected an object"));
}

std::string JsonDocument::PlaceOf(size_t offset) const {
  return absl::StrCat(source_, ":", LineAndColumn(text_, offset));
}

absl::Status JsonObject::AllowKeys(
    absl::Span<const absl::string_view> keys) const {
  for (const auto& [key, value] : json_->items()) {
    if (std::find(keys.begin(), keys.end(), absl::string_view(key)) !=
        keys.end()) {
      continue;
    }
    return ErrorAt(MemberText(key).key, KeyText(key), "an unknown key",
                   absl::StrCat("one of ", absl::StrJoin(keys, ", "),
                                DidYouMean(key, keys)));
  }
  return absl::OkStatus();
}

bool JsonObject::Has(absl::string_view key) const {
  return json_->contains(std::string(key));
}

absl::StatusOr<std::string> JsonObject::String(absl::string_view key) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  if (!value->is_string()) return Error(key, Shown(*value), "a string");
  return value->get<std::string>();
}

absl::StatusOr<bool> JsonObject::Bool(absl::string_view key) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  if (!value->is_boolean()) return Error(key, Shown(*value), "true or false");
  return value->get<bool>();
}

absl::StatusOr<double> JsonObject::Number(absl::string_view key, double least,
                                          double most) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  if (value->is_number()) {
    const double number = value->get<double>();
    if (number >= least && number <= most) return number;
  }
  return Error(key, Shown(*value),
               absl::StrCat("a number from ", least, " to ", most));
}

absl::StatusOr<int64_t> JsonObject::Integer(absl::string_view key,
                                            int64_t least, int64_t most) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  if (value->is_number_integer()) {
    const double number = value->get<double>();  // an unsigned may not fit
    if (number >= least && number <= most) return value->get<int64_t>();
  }
  return Error(key, Shown(*value),
               absl::StrCat("a whole number from ", least, " to ", most));
}

absl::StatusOr<int64_t> JsonObject::Bytes(absl::string_view key,
                                          int64_t least) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  std::optional<int64_t> bytes;
  if (value->is_string()) {
    bytes = ParseByteSize(value->get_ref<const std::string&>());
  } else if (value->is_number()) {
    const double number = value->get<double>();
    if (number >= 0 && number <= kMaxByteSize && number == std::floor(number)) {
      bytes = static_cast<int64_t>(number);
    }
  }
  if (bytes.has_value() && *bytes >= least) return *bytes;
  return Error(
      key, Shown(*value),
      absl::StrCat("bytes from ", least, " to ", ExactByteSize(kMaxByteSize),
                   ", like 8589934592 or \"8 GiB\""));
}

absl::StatusOr<JsonObject> JsonObject::Object(absl::string_view key) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  if (!value->is_object()) return Error(key, Shown(*value), "an object");
  return JsonObject(value, document_, MemberText(key).value, PathTo(key));
}

absl::StatusOr<std::vector<JsonObject>> JsonObject::Objects(
    absl::string_view key, size_t least, size_t most) const {
  PARTITA_ASSIGN_OR_RETURN(const json* value, Find(key));
  if (!value->is_array()) return Error(key, Shown(*value), "a list of objects");
  if (value->size() < least || value->size() > most) {
    return Error(key, absl::StrCat(value->size(), " entries"),
                 absl::StrCat(least, " to ", most));
  }
  const std::vector<absl::string_view> texts =
      JsonEntries(MemberText(key).value);
  std::vector<JsonObject> objects;
  for (size_t i = 0; i < value->size(); ++i) {
    const std::string name = absl::StrCat(key, "[", i, "]");
    const json& entry = (*value)[i];
    if (!entry.is_object()) {
      return ErrorAt(texts[i], name, Shown(entry), "an object");
    }
    objects.push_back(JsonObject(&entry, document_, texts[i], PathTo(name)));
  }
  return objects;
}

absl::Status JsonObject::Error(absl::string_view key, absl::string_view found,
                               absl::string_view expected) const {
  return ErrorAt(MemberText(key).value, key, found, expected);
}

absl::Status JsonObject::ErrorAt(absl::string_view place, absl::string_view key,
                                 absl::string_view found,
                                 absl::string_view expected) const {
  return absl::InvalidArgumentError(absl::StrCat(
      document_->PlaceOf(place.data() - document_->text_.data()), ": ",
      PathTo(key), ": found ", found, "; expected ", expected));
}

absl::Status JsonObject::MissingKey(absl::string_view key) const {
  const std::string here = path_.empty() ? "" : absl::StrCat(path_, ": ");
  return absl::InvalidArgumentError(
      absl::StrCat(document_->PlaceOf(text_.data() - document_->text_.data()),
                   ": ", here, "found no key \"", key, "\"; expected one"));
}

absl::StatusOr<const json*> JsonObject::Find(absl::string_view key) const {
  const auto found = json_->find(std::string(key));
  if (found == json_->end()) return MissingKey(key);
  return &*found;
}

// A key that is left out is at fault by its default: the object is its place.
JsonMember JsonObject::MemberText(absl::string_view key) const {
  return FindJsonMember(text_, key).value_or(JsonMember{text_, text_});
}

std::string JsonObject::PathTo(absl::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
}

}  // namespace partita
