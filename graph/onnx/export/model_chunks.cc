// Protobuf's wire format, as far as needed for lengths before fields.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/model_chunks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/round_up.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

constexpr int64_t kPage = 4096;
constexpr size_t kSmallestOutside = 1024;

void AppendVarint(uint64_t value, std::string& text) {
  for (; value >= 0x80; value >>= 7) {
    text.push_back(static_cast<char>(value | 0x80));
  }
  text.push_back(static_cast<char>(value));
}

// The bytes before the `size` bytes of a message or of bytes.
std::string FieldHead(int field, uint64_t size) {
  constexpr int kLengthDelimited = 2;
  std::string head;
  AppendVarint(static_cast<uint64_t>(field) << 3 | kLengthDelimited, head);
  AppendVarint(size, head);
  return head;
}

uint64_t SizeOf(const std::vector<FileChunk>& chunks) {
  uint64_t size = 0;
  for (const FileChunk& chunk : chunks) {
    size += chunk.head.size() + chunk.weight.size();
  }
  return size;
}

onnx::TensorProto HeadOf(const Initializer& initializer) {
  onnx::TensorProto proto;
  proto.set_name(initializer.name);
  SetType(initializer.type, proto);
  return proto;
}

// Fields of a GraphProto, so they need no order.
FileChunk WithBytes(const Initializer& initializer) {
  const std::string type = HeadOf(initializer).SerializeAsString();
  const size_t size = initializer.bytes.size();
  const std::string raw =
      FieldHead(onnx::TensorProto::kRawDataFieldNumber, size);
  return {absl::StrCat(FieldHead(onnx::GraphProto::kInitializerFieldNumber,
                                 type.size() + raw.size() + size),
                       type, raw),
          initializer.bytes};
}

// The initializer in the model; its bytes go to the end of `weights`.
FileChunk Outside(const Initializer& initializer, const std::string& file,
                  std::vector<FileChunk>& weights, int64_t& offset) {
  const int64_t size = static_cast<int64_t>(initializer.bytes.size());
  const int64_t begin = RoundUp(offset, kPage);
  weights.push_back({std::string(begin - offset, '\0'), initializer.bytes});
  offset = begin + size;
  onnx::TensorProto proto = HeadOf(initializer);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, std::string value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  add("location", file);
  add("offset", absl::StrCat(begin));
  add("length", absl::StrCat(size));
  const std::string text = proto.SerializeAsString();
  return {absl::StrCat(
              FieldHead(onnx::GraphProto::kInitializerFieldNumber, text.size()),
              text),
          {}};
}

// The model around its initializers.
std::vector<FileChunk> Assemble(ModelDraft& draft,
                                std::vector<FileChunk> initializers) {
  const std::string graph = draft.proto().graph().SerializeAsString();
  onnx::ModelProto outside = draft.proto();
  outside.clear_graph();
  FileChunk head = {absl::StrCat(outside.SerializeAsString(),
                                 FieldHead(onnx::ModelProto::kGraphFieldNumber,
                                           graph.size() + SizeOf(initializers)),
                                 graph),
                    {}};
  initializers.insert(initializers.begin(), std::move(head));
  return initializers;
}

}  // namespace

ExportedModel ChunksOf(ModelDraft draft, const ExportOptions& options) {
  ExportedModel exported;
  std::vector<FileChunk> inside;
  for (const Initializer& initializer : draft.initializers()) {
    inside.push_back(WithBytes(initializer));
  }
  exported.model = Assemble(draft, std::move(inside));
  if (SizeOf(exported.model) > static_cast<uint64_t>(options.largest_model)) {
    std::vector<FileChunk> outside;
    int64_t offset = 0;
    for (const Initializer& initializer : draft.initializers()) {
      outside.push_back(initializer.bytes.size() < kSmallestOutside
                            ? WithBytes(initializer)
                            : Outside(initializer, options.weight_file,
                                      exported.weights, offset));
    }
    exported.model = Assemble(draft, std::move(outside));
  }
  exported.owned = std::move(draft).TakeOwned();
  return exported;
}

}  // namespace partita
