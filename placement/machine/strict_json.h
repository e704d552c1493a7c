// Strict JSON reader: every fault is an error that names its location.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_STRICT_JSON_H_
#define PARTITA_PLACEMENT_MACHINE_STRICT_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "placement/machine/json_places.h"

namespace partita {

// Longer texts are refused without parsing.
inline constexpr size_t kMaxJsonBytes = 4 << 20;

// A text of the document for a message: in quotes, with escapes for all that is
// not printable ASCII, and cut if it is long.
std::string ShownText(absl::string_view text);

// "; did you mean memory?" for the nearest known word, or nothing.
std::string DidYouMean(absl::string_view word,
                       absl::Span<const absl::string_view> known);

class JsonDocument;

// One object of a document, and its location. Valid as long as its document,
// which must not move. Every getter fails with `two.json:7:35:
// devices[1].memory: found WHAT; expected WHAT`.
class JsonObject {
 public:
  // `text` is the part of the document's text that is the object.
  JsonObject(const nlohmann::json* json, const JsonDocument* document,
             absl::string_view text, std::string path)
      : json_(json), document_(document), text_(text), path_(std::move(path)) {}

  // Refuses the first key that is not among these.
  absl::Status AllowKeys(absl::Span<const absl::string_view> keys) const;
  bool Has(absl::string_view key) const;

  absl::StatusOr<std::string> String(absl::string_view key) const;
  absl::StatusOr<bool> Bool(absl::string_view key) const;
  absl::StatusOr<double> Number(absl::string_view key, double least,
                                double most) const;
  absl::StatusOr<int64_t> Integer(absl::string_view key, int64_t least,
                                  int64_t most) const;
  // A whole number of bytes, or a text for ParseByteSize.
  absl::StatusOr<int64_t> Bytes(absl::string_view key, int64_t least) const;
  absl::StatusOr<JsonObject> Object(absl::string_view key) const;
  absl::StatusOr<std::vector<JsonObject>> Objects(absl::string_view key,
                                                  size_t least,
                                                  size_t most) const;

  absl::Status Error(absl::string_view key, absl::string_view found,
                     absl::string_view expected) const;
  absl::Status MissingKey(absl::string_view key) const;

 private:
  absl::StatusOr<const nlohmann::json*> Find(absl::string_view key) const;
  JsonMember MemberText(absl::string_view key) const;
  // `place` is a part of the document's text.
  absl::Status ErrorAt(absl::string_view place, absl::string_view key,
                       absl::string_view found,
                       absl::string_view expected) const;
  std::string PathTo(absl::string_view key) const;

  const nlohmann::json* json_;
  const JsonDocument* document_;
  absl::string_view text_;
  std::string path_;
};

// A parsed text. Refuses syntax errors, keys that occur twice in an object, and
// nesting deeper than 16, all with line and column.
class JsonDocument {
 public:
  static absl::StatusOr<JsonDocument> Parse(absl::string_view text,
                                            absl::string_view source);
  // The outermost value, which must be an object.
  absl::StatusOr<JsonObject> Root() const;

 private:
  friend class JsonObject;
  // "two.json:7:35"
  std::string PlaceOf(size_t offset) const;

  nlohmann::json json_;
  std::string source_;
  std::string text_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_STRICT_JSON_H_
