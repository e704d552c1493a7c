// Splits a list of tokens into windows.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/text_dataset.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {
namespace {

int64_t StrideOf(const TextOptions& options) {
  return options.stride == 0 ? options.length : options.stride;
}

// The number of windows of length + 1 tokens.
int64_t NumWindows(int64_t tokens, const TextOptions& options) {
  if (tokens <= options.length) return 0;
  return (tokens - options.length - 1) / StrideOf(options) + 1;
}

class DatasetOfWindows final : public Dataset {
 public:
  DatasetOfWindows(std::vector<int32_t> tokens, const TextOptions& options)
      : Dataset(
            {{options.input_field, {options.dtype, {options.length}, {}}, ""},
             {options.target_field, {options.dtype, {options.length}, {}}, ""}},
            NumWindows(static_cast<int64_t>(tokens.size()), options)),
        tokens_(std::move(tokens)),
        options_(options) {}

  absl::Status CopySample(int64_t sample,
                          absl::Span<std::byte* const> to) const override {
    const int32_t* window = tokens_.data() + sample * StrideOf(options_);
    CopyTokens(window, to[0]);
    CopyTokens(window + 1, to[1]);
    return absl::OkStatus();
  }

 private:
  void CopyTokens(const int32_t* from, std::byte* to) const {
    if (options_.dtype == DType::kI32) {
      std::copy_n(from, options_.length, reinterpret_cast<int32_t*>(to));
    } else {
      std::copy_n(from, options_.length, reinterpret_cast<int64_t*>(to));
    }
  }

  const std::vector<int32_t> tokens_;
  const TextOptions options_;
};

absl::Status CheckOptions(const TextOptions& options) {
  if (options.dtype != DType::kI64 && options.dtype != DType::kI32) {
    return BadFile("text options",
                   absl::StrCat("token dtype ", DTypeName(options.dtype)),
                   "i64 or i32");
  }
  if (options.length >= 1 && options.stride >= 0) return absl::OkStatus();
  return BadFile(
      "text options",
      absl::StrCat("length ", options.length, " and stride ", options.stride),
      "a length of 1 or more and a stride of 0 or more");
}

}  // namespace

absl::StatusOr<SharedDataset> TextDataset(std::vector<int32_t> tokens,
                                          const TextOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckOptions(options));
  const int64_t count = static_cast<int64_t>(tokens.size());
  if (count <= options.length) {
    return BadFile("text", absl::StrCat(count, " tokens"),
                   absl::StrCat("at least ", options.length, " + 1"),
                   "give more text or shorter windows");
  }
  return std::make_shared<const DatasetOfWindows>(std::move(tokens), options);
}

absl::StatusOr<std::string> ReadText(absl::Span<const std::string> paths) {
  std::string text;
  for (const std::string& path : paths) {
    PARTITA_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
    text.append(reinterpret_cast<const char*>(file.bytes.data()),
                file.bytes.size());
  }
  return text;
}

}  // namespace partita
