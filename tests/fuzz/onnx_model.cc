// Fuzz target: any bytes are safe to import as an ONNX model, and an imported
// one is a valid module. The skeleton of a model parses if the model does, and
// refers only to bytes of the model.
// SPDX-License-Identifier: Apache-2.0

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/onnx/import.h"
#include "graph/onnx/model_skeleton.h"
#include "graph/verifier.h"
#include "onnx/onnx_pb.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/mutate_model.h"

namespace partita {
namespace {

void CheckRange(const onnx::TensorProto& tensor, size_t size) {
  if (!tensor.has_raw_data()) return;
  const std::optional<RawRange> range = DecodeRawRange(tensor.raw_data());
  ExpectFuzz(range.has_value() && range->offset <= size &&
                 range->size <= size - range->offset,
             "a weight outside the model");
}

void CheckSkeleton(absl::string_view model) {
  const absl::StatusOr<std::string> skeleton = ModelSkeleton(model);
  const int size = static_cast<int>(model.size());
  onnx::ModelProto whole;
  const bool parses = whole.ParsePartialFromArray(model.data(), size);
  ExpectFuzz(skeleton.ok() || !parses, "a model without a skeleton");
  if (!skeleton.ok()) return;
  onnx::ModelProto parsed;
  ExpectFuzz(parsed.ParsePartialFromString(*skeleton) == parses,
             "protobuf takes a model and its skeleton differently");
  if (!parses) return;
  for (const auto& tensor : parsed.graph().initializer()) {
    CheckRange(tensor, model.size());
  }
  for (const auto& node : parsed.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      CheckRange(attribute.t(), model.size());
    }
  }
}

// A file in memory, under a name that can be opened.
absl::StatusOr<Module> ImportBytes(absl::string_view bytes) {
  const int fd = memfd_create("model", MFD_CLOEXEC);
  ExpectFuzz(fd >= 0, "memfd_create failed");
  const ssize_t written = write(fd, bytes.data(), bytes.size());
  ExpectFuzz(written == static_cast<ssize_t>(bytes.size()), "write failed");
  absl::StatusOr<Module> module =
      ImportOnnx(absl::StrCat("/proc/self/fd/", fd), {});
  close(fd);
  return module;
}

}  // namespace
}  // namespace partita

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size,
                                          size_t max_size, unsigned int seed) {
  static partita::ModelParts& parts = *new partita::ModelParts;
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes, static_cast<int>(size))) return 0;
  parts.Learn(model);
  std::mt19937_64 random(seed);
  partita::MutateModel(parts, random, model);
  const size_t changed = model.ByteSizeLong();
  if (changed > max_size) return 0;
  model.SerializeToArray(bytes, static_cast<int>(changed));
  return changed;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  CheckSkeleton(text);
  const absl::StatusOr<Module> module = ImportBytes(text);
  if (!module.ok()) return 0;
  const absl::Status status = VerifyModule(*module);
  ExpectFuzz(status.ok(), "an imported module is not valid", status.ToString());
  return 0;
}
