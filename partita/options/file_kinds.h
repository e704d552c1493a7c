// The kinds of files that are read, and those that are recognized but not read.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_FILE_KINDS_H_
#define PARTITA_PARTITA_OPTIONS_FILE_KINDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

enum class FileKind : uint8_t {
  kUnknown,
  kText,  // of no kind below
  kJson,  // of no kind below
  kPlan,
  kPlanText,
  kGraphText,
  kOnnxModel,
  kOnnxTensor,
  kNpy,
  kNpz,
  kIdx,
  kGzip,
  kSafetensors,
  kMachine,
  kProfile,
  kTrace,
  // Kinds that no command reads.
  kPyTorch,
  kHdf5,
  kLfsPointer,
};
inline constexpr FileKind kLastFileKind = FileKind::kLfsPointer;

// A set of kinds. The empty set is that of a reader which decides itself.
class FileKinds {
 public:
  constexpr FileKinds() = default;
  constexpr FileKinds(std::initializer_list<FileKind> kinds) {
    for (const FileKind kind : kinds) bits_ |= Bit(kind);
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(FileKind kind) const { return (bits_ & Bit(kind)) != 0; }

 private:
  static constexpr uint32_t Bit(FileKind kind) {
    return uint32_t{1} << static_cast<int>(kind);
  }
  uint32_t bits_ = 0;
};

inline constexpr FileKinds kModelFiles = {FileKind::kOnnxModel,
                                          FileKind::kGraphText};
inline constexpr FileKinds kPlanFiles = {FileKind::kPlan, FileKind::kPlanText};
inline constexpr FileKinds kModelAndPlanFiles = {
    FileKind::kOnnxModel, FileKind::kGraphText, FileKind::kPlan,
    FileKind::kPlanText};
inline constexpr FileKinds kMachineFiles = {FileKind::kMachine};
inline constexpr FileKinds kProfileFiles = {FileKind::kProfile};
inline constexpr FileKinds kTensorFiles = {FileKind::kNpy,
                                           FileKind::kOnnxTensor};
inline constexpr FileKinds kSampleFiles = {FileKind::kIdx, FileKind::kGzip,
                                           FileKind::kNpy, FileKind::kNpz};
inline constexpr FileKinds kCheckpointFiles = {FileKind::kSafetensors};
inline constexpr FileKinds kTraceFiles = {FileKind::kTrace};

// "an ONNX model".
absl::string_view NameOf(FileKind kind);
// "an ONNX model or a graph as text"; a plan stands for its text too.
std::string NamesOf(FileKinds kinds);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_FILE_KINDS_H_
