// Handles the events of a JSON parser, so that no tree is built and repeated
// keys are detected.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/safetensors_header.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

using nlohmann::json;

constexpr size_t kMaxShown = 60;  // characters of a found string

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", text.substr(0, kMaxShown),
                      text.size() > kMaxShown ? "..." : "", "\"");
}

std::optional<DType> DTypeOfName(absl::string_view name) {
  for (const SafetensorsDType& row : kSafetensorsDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string KnownDTypes() {
  return absl::StrJoin(kSafetensorsDTypes, ", ",
                       [](std::string* out, const SafetensorsDType& row) {
                         absl::StrAppend(out, row.name);
                       });
}

// The part of one tensor's object that was read so far.
struct Draft {
  std::string name;
  std::optional<DType> dtype;
  std::optional<std::vector<int64_t>> shape;
  std::optional<std::vector<int64_t>> offsets;
};

// Handles nlohmann's events. A handler that returns false ends the parse with
// status().
class HeaderEvents : public json::json_sax_t {
 public:
  explicit HeaderEvents(absl::string_view source) : source_(source) {}

  const absl::Status& status() const { return status_; }
  SafetensorsHeader TakeHeader() { return std::move(header_); }

  bool null() override { return Unexpected("null"); }
  bool boolean(bool value) override {
    return Unexpected(value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return Unexpected(absl::StrCat(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Unexpected(text);
  }
  bool binary(binary_t&) override { return Unexpected("binary data"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& value) override;
  bool start_object(std::size_t) override;
  bool key(string_t& key) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string&,
                   const json::exception&) override {
    return Fail(BadFile(
        source_,
        absl::StrCat("no valid JSON at byte ", position, " of the header"),
        "RFC 8259 in UTF-8"));
  }

 private:
  enum class Place { kOutside, kTop, kMetadata, kTensor, kList };

  bool Fail(absl::Status status) {
    status_ = std::move(status);
    return false;
  }
  std::string Where() const;
  std::string Expected() const;
  bool Unexpected(absl::string_view found) {
    return Fail(BadFile(Where(), found, Expected()));
  }
  bool TensorKey();
  bool EndTensor();

  const std::string source_;
  absl::Status status_;
  SafetensorsHeader header_;
  absl::flat_hash_set<std::string> names_;  // keys of the top object so far
  Place place_ = Place::kOutside;
  std::string top_key_;  // name of a tensor, or __metadata__
  std::string key_;      // inside it
  Draft draft_;
  std::vector<int64_t>* list_ = nullptr;
};

std::string HeaderEvents::Where() const {
  if (place_ == Place::kOutside) return source_;
  if (top_key_ == kSafetensorsMetadata) {
    return absl::StrCat(source_, ": metadata");
  }
  return absl::StrCat(source_, ": tensor ", top_key_);
}

// What may follow at the parser's position.
std::string HeaderEvents::Expected() const {
  switch (place_) {
    case Place::kOutside:
      return "one object of tensors";
    case Place::kTop:
      return "an object";
    case Place::kMetadata:
      return absl::StrCat("a string for ", key_);
    case Place::kList:
      return absl::StrCat("whole numbers of 0 or more in ", key_);
    case Place::kTensor:
      break;
  }
  return key_ == "dtype" ? "a string for dtype"
                         : absl::StrCat("a list for ", key_);
}

bool HeaderEvents::start_object(std::size_t) {
  if (place_ == Place::kOutside) {
    place_ = Place::kTop;
    return true;
  }
  if (place_ != Place::kTop) return Unexpected("an object");
  key_.clear();
  draft_ = Draft{top_key_, {}, {}, {}};
  place_ = top_key_ == kSafetensorsMetadata ? Place::kMetadata : Place::kTensor;
  return true;
}

bool HeaderEvents::key(string_t& key) {
  if (place_ == Place::kTop) {
    top_key_ = key;
    if (names_.insert(key).second) return true;
    return Fail(BadFile(source_,
                        absl::StrCat(Quoted(key), " twice in the header"),
                        "every name once"));
  }
  key_ = key;
  if (place_ == Place::kTensor) return TensorKey();
  if (!header_.metadata.contains(key)) return true;
  return Fail(
      BadFile(Where(), absl::StrCat(Quoted(key), " twice"), "every key once"));
}

bool HeaderEvents::TensorKey() {
  bool again = false;
  if (key_ == "dtype") {
    again = draft_.dtype.has_value();
  } else if (key_ == "shape") {
    again = draft_.shape.has_value();
  } else if (key_ == "data_offsets") {
    again = draft_.offsets.has_value();
  } else {
    return Fail(BadFile(Where(), absl::StrCat("key ", Quoted(key_)),
                        "dtype, shape and data_offsets"));
  }
  if (!again) return true;
  return Fail(
      BadFile(Where(), absl::StrCat(Quoted(key_), " twice"), "every key once"));
}

bool HeaderEvents::string(string_t& value) {
  if (place_ == Place::kMetadata) {
    header_.metadata[key_] = value;
    return true;
  }
  if (place_ != Place::kTensor || key_ != "dtype") {
    return Unexpected(Quoted(value));
  }
  draft_.dtype = DTypeOfName(value);
  if (draft_.dtype.has_value()) return true;
  return Fail(BadFile(Where(), absl::StrCat("dtype ", Quoted(value)),
                      absl::StrCat("one of ", KnownDTypes()),
                      "convert the tensor"));
}

bool HeaderEvents::start_array(std::size_t) {
  if (place_ != Place::kTensor || key_ == "dtype") return Unexpected("a list");
  list_ = key_ == "shape" ? &draft_.shape.emplace() : &draft_.offsets.emplace();
  place_ = Place::kList;
  return true;
}

bool HeaderEvents::number_unsigned(number_unsigned_t value) {
  if (place_ != Place::kList) return Unexpected(absl::StrCat(value));
  if (value > static_cast<number_unsigned_t>(kMaxTensorBytes)) {
    return Fail(BadFile(Where(), absl::StrCat(value, " in ", key_),
                        absl::StrCat("at most ", kMaxTensorBytes)));
  }
  if (list_->size() == kMaxRank) {
    return Fail(BadFile(
        Where(), absl::StrCat("more than ", kMaxRank, " numbers in ", key_),
        key_ == "shape" ? "at most that rank" : "two"));
  }
  list_->push_back(static_cast<int64_t>(value));
  return true;
}

bool HeaderEvents::end_array() {
  place_ = Place::kTensor;
  return true;
}

bool HeaderEvents::end_object() {
  if (place_ == Place::kTop) {
    place_ = Place::kOutside;
    return true;
  }
  const bool tensor = place_ == Place::kTensor;
  place_ = Place::kTop;
  return !tensor || EndTensor();
}

bool HeaderEvents::EndTensor() {
  const auto missing = [&](absl::string_view key) {
    return Fail(BadFile(Where(), absl::StrCat("no key ", key),
                        "dtype, shape and data_offsets"));
  };
  if (!draft_.dtype.has_value()) return missing("dtype");
  if (!draft_.shape.has_value()) return missing("shape");
  if (!draft_.offsets.has_value()) return missing("data_offsets");
  const std::vector<int64_t>& offsets = *draft_.offsets;
  const TensorType type = {
      *draft_.dtype, Shape(draft_.shape->begin(), draft_.shape->end()), {}};
  if (absl::Status status = CheckType(type); !status.ok()) {
    return Fail(AtPlace(Where(), status));
  }
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    return Fail(BadFile(
        Where(),
        absl::StrCat("data_offsets [", absl::StrJoin(offsets, ", "), "]"),
        "[begin, end]"));
  }
  if (offsets[1] - offsets[0] != type.num_bytes()) {
    return Fail(
        BadFile(Where(), absl::StrCat(offsets[1] - offsets[0], " bytes"),
                absl::StrCat(type.num_bytes(), " for ", type.ToString())));
  }
  header_.tensors.push_back({draft_.name, type, offsets[0], offsets[1]});
  return true;
}

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    absl::string_view json_text, absl::string_view source) {
  // The format's page: "The header data MUST begin with a { character".
  if (!absl::StartsWith(json_text, "{")) {
    return BadFile(source, "a header that begins otherwise", "{");
  }
  HeaderEvents events(source);
  if (!json::sax_parse(json_text.begin(), json_text.end(), &events)) {
    return events.status();
  }
  return events.TakeHeader();
}

}  // namespace partita
