// Writes plan files.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "runtime/plan/pack_plan.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/plan_ids.h"
#include "runtime/plan/predicted_times.h"
#include "runtime/plan/stored_constants.h"

namespace partita {
namespace {

absl::Span<const std::byte> AsBytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Assigns offsets to the constants of the file. Returns the end of the last.
int64_t LayOut(int64_t end, std::vector<StoredConstant>& constants) {
  for (StoredConstant& constant : constants) {
    if (constant.file >= 0) continue;
    constant.offset = AlignedOffset(end, constant.size);
    end = constant.offset + constant.size;
  }
  return end;
}

std::vector<StoredCode> LayOut(int64_t& end,
                               const std::vector<CodeObject>& code_objects) {
  std::vector<StoredCode> stored;
  for (const CodeObject& code : code_objects) {
    StoredCode& place = stored.emplace_back();
    place.declared = code.bytes.empty() && code.declared_size > 0;
    place.size = place.declared ? code.declared_size
                                : static_cast<int64_t>(code.bytes.size());
    place.hash = place.declared ? code.declared_hash : HashBytes(code.bytes);
    if (place.declared) continue;
    place.offset = AlignedOffset(end, place.size);
    end = place.offset + place.size;
  }
  return stored;
}

WrittenWeights Count(const StoredConstants& stored) {
  WrittenWeights weights{.misplaced = stored.misplaced,
                         .outside = stored.outside};
  for (const StoredConstant& constant : stored.constants) {
    (constant.file < 0 ? weights.embedded : weights.referenced) +=
        constant.size;
  }
  return weights;
}

absl::Status WriteParts(const Plan& plan, const StoredConstants& constants,
                        const std::vector<StoredCode>& code_objects,
                        const std::string& metadata, const PlanHeader& header,
                        AtomicFile& file) {
  PARTITA_RETURN_IF_ERROR(file.Write(EncodeHeader(header)));
  for (const StoredConstant& constant : constants.constants) {
    if (constant.file >= 0) continue;
    PARTITA_RETURN_IF_ERROR(file.PadTo(constant.offset));
    PARTITA_RETURN_IF_ERROR(
        file.Write(plan.module.literals().byte_span(constant.literal)));
  }
  for (size_t i = 0; i < code_objects.size(); ++i) {
    if (code_objects[i].declared) continue;
    PARTITA_RETURN_IF_ERROR(file.PadTo(code_objects[i].offset));
    PARTITA_RETURN_IF_ERROR(file.Write(plan.code_objects[i].bytes));
  }
  PARTITA_RETURN_IF_ERROR(file.PadTo(header.metadata_offset));
  return file.Write(AsBytes(metadata));
}

}  // namespace

absl::StatusOr<WrittenWeights> WritePlan(const Plan& plan,
                                         const std::string& path,
                                         const PlanFileOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckIds(plan));
  if (plan.notes.has_value()) {
    PARTITA_RETURN_IF_ERROR(CheckPredictedTimes(*plan.notes));
  }
  PARTITA_ASSIGN_OR_RETURN(StoredConstants constants,
                           CollectConstants(plan, path, options.weights));
  int64_t end = LayOut(kPlanHeaderBytes, constants.constants);
  const std::vector<StoredCode> code_objects = LayOut(end, plan.code_objects);
  PARTITA_ASSIGN_OR_RETURN(const std::string metadata,
                           PackPlan(plan, constants, code_objects));
  PlanHeader header;
  header.metadata_size = static_cast<int64_t>(metadata.size());
  header.metadata_offset = AlignedOffset(end, header.metadata_size);
  header.file_size = header.metadata_offset + header.metadata_size;
  header.metadata_hash = HashBytes(AsBytes(metadata));
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(
      WriteParts(plan, constants, code_objects, metadata, header, *file));
  PARTITA_RETURN_IF_ERROR(file->Commit());
  return Count(constants);
}

}  // namespace partita
