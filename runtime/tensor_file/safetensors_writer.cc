// Lays tensors out and writes them in sequence.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/safetensors_writer.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/safetensors_header.h"

namespace partita {
namespace {

constexpr size_t kAlignment = 8;  // of the first tensor in the file

// The position of a dtype in the format's list.
size_t RowOf(DType dtype) {
  size_t row = 0;
  while (kSafetensorsDTypes[row].dtype != dtype) ++row;
  return row;
}

std::vector<int> PackingOrder(absl::Span<const NamedTensor> tensors) {
  std::vector<int> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](int a, int b) {
    return std::tuple(RowOf(tensors[b].type.dtype), tensors[a].name) <
           std::tuple(RowOf(tensors[a].type.dtype), tensors[b].name);
  };
  std::sort(order.begin(), order.end(), less);
  return order;
}

absl::Status CheckTensor(const NamedTensor& tensor) {
  const std::string where = absl::StrCat("tensor ", tensor.name);
  if (tensor.name == kSafetensorsMetadata) {
    return BadFile(where, "the name of the file's metadata", "another name");
  }
  PARTITA_RETURN_IF_ERROR(CheckType(tensor.type));
  if (!tensor.type.layout.is_row_major()) {
    return BadFile(where, tensor.type.ToString(), "a row-major tensor",
                   "reorder it first");
  }
  if (static_cast<int64_t>(tensor.bytes.size()) == tensor.type.num_bytes()) {
    return absl::OkStatus();
  }
  return BadFile(
      where, absl::StrCat(tensor.bytes.size(), " bytes"),
      absl::StrCat(tensor.type.num_bytes(), " for ", tensor.type.ToString()));
}

absl::Status CheckTensors(absl::Span<const NamedTensor> tensors) {
  std::vector<absl::string_view> names;
  for (const NamedTensor& tensor : tensors) {
    PARTITA_RETURN_IF_ERROR(CheckTensor(tensor));
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return absl::OkStatus();
  return BadFile(absl::StrCat("tensor ", *twice), "the name twice",
                 "every name once");
}

absl::StatusOr<std::string> Quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    return BadFile(absl::StrCat("safetensors header: ", text),
                   "text that is not UTF-8", "UTF-8 in names and metadata");
  }
}

absl::StatusOr<std::string> MetadataJson(
    const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : metadata) {
    PARTITA_ASSIGN_OR_RETURN(const std::string quoted_key, Quoted(key));
    PARTITA_ASSIGN_OR_RETURN(const std::string quoted_value, Quoted(value));
    pairs.push_back(absl::StrCat(quoted_key, ":", quoted_value));
  }
  return absl::StrCat("\"", kSafetensorsMetadata, "\":{",
                      absl::StrJoin(pairs, ","), "}");
}

absl::StatusOr<std::string> TensorJson(const NamedTensor& tensor,
                                       int64_t begin) {
  PARTITA_ASSIGN_OR_RETURN(const std::string name, Quoted(tensor.name));
  return absl::StrCat(name, ":{\"dtype\":\"",
                      kSafetensorsDTypes[RowOf(tensor.type.dtype)].name,
                      "\",\"shape\":[", absl::StrJoin(tensor.type.dims, ","),
                      "],\"data_offsets\":[", begin, ",",
                      begin + tensor.type.num_bytes(), "]}");
}

// The header after its length, padded with spaces.
std::string Head(std::string json) {
  while (json.size() % kAlignment != 0) json.push_back(' ');
  std::string head;
  for (int i = 0; i < 8; ++i) {
    head.push_back(static_cast<char>(json.size() >> (8 * i) & 0xff));
  }
  return head + json;
}

absl::Span<const std::byte> BytesOf(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

absl::StatusOr<SafetensorsLayout> LayOutSafetensors(
    absl::Span<const NamedTensor> tensors,
    const std::map<std::string, std::string>& metadata) {
  PARTITA_RETURN_IF_ERROR(CheckTensors(tensors));
  SafetensorsLayout layout;
  layout.order = PackingOrder(tensors);
  std::vector<std::string> parts;
  if (!metadata.empty()) {
    PARTITA_ASSIGN_OR_RETURN(std::string part, MetadataJson(metadata));
    parts.push_back(std::move(part));
  }
  int64_t begin = 0;
  for (int i : layout.order) {
    PARTITA_ASSIGN_OR_RETURN(std::string part, TensorJson(tensors[i], begin));
    parts.push_back(std::move(part));
    begin += tensors[i].type.num_bytes();
  }
  layout.head = Head(absl::StrCat("{", absl::StrJoin(parts, ","), "}"));
  return layout;
}

absl::Status WriteSafetensors(
    const std::string& path, absl::Span<const NamedTensor> tensors,
    const std::map<std::string, std::string>& metadata) {
  absl::StatusOr<SafetensorsLayout> layout =
      LayOutSafetensors(tensors, metadata);
  if (!layout.ok()) return AtPlace(path, layout.status());
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->Write(BytesOf(layout->head)));
  for (int i : layout->order) {
    PARTITA_RETURN_IF_ERROR(file->Write(tensors[i].bytes));
  }
  return file->Commit();
}

}  // namespace partita
