// Walks the protobuf wire format down to the weights, and copies the rest.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/model_skeleton.h"

#include <climits>
#include <cstring>

namespace partita {
namespace {

// The messages on the path to a raw_data, by the field numbers of onnx.proto.
struct Message;
struct Way {
  uint64_t field = 0;
  const Message* message = nullptr;  // null: the field is the raw_data
};
struct Message {
  Way ways[4];
};
// Graphs contain nodes, whose attributes contain tensors and graphs.
extern const Message kGraph;
constexpr Message kTensor = {{{9, nullptr}}};
constexpr Message kAttribute = {
    {{5, &kTensor}, {6, &kGraph}, {10, &kTensor}, {11, &kGraph}}};
constexpr Message kNode = {{{5, &kAttribute}}};
constexpr Message kGraph = {{{1, &kNode}, {5, &kTensor}}};
// With the defaults of its attributes.
constexpr Message kFunction = {{{7, &kNode}, {11, &kAttribute}}};
constexpr Message kModel = {{{7, &kGraph}, {25, &kFunction}}};

// The most bytes from which protobuf reads a tag, a length, a number.
constexpr int kMaxTagBytes = 5;
constexpr int kLengthBytes = 5;
constexpr int kMaxVarintBytes = 10;
constexpr size_t kMaxSkeleton = INT_MAX;  // protobuf's own limit
constexpr int kMaxNesting = 100;          // of messages; also protobuf's

const Way* FindWay(const Message& message, uint64_t field) {
  for (const Way& way : message.ways) {
    if (way.field == field) return &way;
  }
  return nullptr;
}

class Walker {
 public:
  explicit Walker(absl::string_view model) : model_(model) {}

  // False if the bytes are not a message, nest too deep, or the copy grows too
  // large.
  bool Copy(const Message& message, size_t end) {
    if (++nesting_ > kMaxNesting) return false;
    while (at_ < end) {
      if (!CopyField(message, end)) return false;
    }
    --nesting_;
    return open_groups_ == 0 && out_.size() <= kMaxSkeleton;
  }
  std::string Take() { return std::move(out_); }

 private:
  bool CopyField(const Message& message, size_t end) {
    const size_t start = at_;
    const std::optional<uint32_t> tag = Tag(end);
    if (!tag.has_value()) return false;
    bool good = true;
    switch (*tag & 7) {
      case 0:
        good = Varint(end).has_value();
        break;
      case 1:
        good = Skip(8, end);
        break;
      case 2:
        return CopyDelimited(WayOn(message, *tag >> 3), start, end);
      case 3:
        ++open_groups_;
        break;
      case 4:
        good = --open_groups_ >= 0;
        break;
      case 5:
        good = Skip(4, end);
        break;
      default:
        return false;
    }
    out_.append(model_.data() + start, at_ - start);
    return good && out_.size() <= kMaxSkeleton;
  }

  // ONNX has no groups: nobody reads their fields, whatever their numbers.
  const Way* WayOn(const Message& message, uint64_t field) const {
    return open_groups_ == 0 ? FindWay(message, field) : nullptr;
  }

  bool CopyDelimited(const Way* way, size_t start, size_t end) {
    const size_t tag_end = AfterVarint(start);
    const std::optional<uint64_t> length = Varint(end, kLengthBytes);
    if (!length.has_value() || *length > end - at_) return false;
    if (way == nullptr) {
      at_ += *length;
      out_.append(model_.data() + start, at_ - start);
      return out_.size() <= kMaxSkeleton;
    }
    out_.append(model_.data() + start, tag_end - start);
    const size_t length_at = out_.size();
    out_.append(kLengthBytes, '\0');
    if (way->message == nullptr) {
      AppendRange({at_, *length});
      at_ += *length;
    } else if (!Copy(*way->message, at_ + *length)) {
      return false;
    }
    SetLength(length_at);
    return out_.size() <= kMaxSkeleton;
  }

  // Like protobuf, drops bits above 32.
  std::optional<uint32_t> Tag(size_t end) {
    const std::optional<uint64_t> number = Varint(end, kMaxTagBytes);
    if (!number.has_value()) return std::nullopt;
    const auto tag = static_cast<uint32_t>(*number);
    return tag >> 3 == 0 ? std::nullopt : std::optional<uint32_t>(tag);
  }

  // Moves past the number; nullopt if it is truncated or too long.
  std::optional<uint64_t> Varint(size_t end, int max_bytes = kMaxVarintBytes) {
    uint64_t value = 0;
    for (int i = 0; i < max_bytes && at_ < end; ++i) {
      const uint64_t byte = static_cast<unsigned char>(model_[at_++]);
      value |= (byte & 127) << (7 * i);
      if (byte < 128) return value;
    }
    return std::nullopt;
  }

  // The position after a number that Varint has read.
  size_t AfterVarint(size_t at) const {
    while (static_cast<unsigned char>(model_[at]) >= 128) ++at;
    return at + 1;
  }

  bool Skip(size_t size, size_t end) {
    if (size > end - at_) return false;
    at_ += size;
    return true;
  }

  void AppendRange(const RawRange& range) {
    char bytes[sizeof(range)];
    std::memcpy(bytes, &range, sizeof(range));
    out_.append(bytes, sizeof(bytes));
  }

  // A varint of fixed width, so that the following bytes need not move.
  void SetLength(size_t length_at) {
    size_t length = out_.size() - length_at - kLengthBytes;
    for (int i = 0; i < kLengthBytes; ++i) {
      const bool last = i + 1 == kLengthBytes;
      out_[length_at + i] =
          static_cast<char>((length & 127) | (last ? 0 : 128));
      length >>= 7;
    }
  }

  absl::string_view model_;
  size_t at_ = 0;
  int open_groups_ = 0;  // in the message that is being copied
  int nesting_ = 0;
  std::string out_;
};

}  // namespace

absl::StatusOr<std::string> ModelSkeleton(absl::string_view model) {
  Walker walker(model);
  if (walker.Copy(kModel, model.size())) return walker.Take();
  return absl::InvalidArgumentError(
      "found bytes that are not a whole ONNX model; expected a serialised "
      "ModelProto of at most 2 GiB beside its weights; copy or export it "
      "again, "
      "as the file may be cut short");
}

std::optional<RawRange> DecodeRawRange(absl::string_view raw_data) {
  RawRange range;
  if (raw_data.size() != sizeof(range)) return std::nullopt;
  std::memcpy(&range, raw_data.data(), sizeof(range));
  return range;
}

}  // namespace partita
