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

// Gives offsets to the constants that go into the file; one past the last.
int64_t LayOut(int64_t end, std::vector<StoredConstant>& constants) {
  for (StoredConstant& constant : constants) {
    if (constant.file >= 0) continue;
    constant.offset = AlignedOffset(end, constant.size);
    end = constant.offset + constant.size;
  }
  return end;
}

std::vector<StoredImage> LayOut(int64_t& end,
                                const std::vector<KernelImage>& images) {
  std::vector<StoredImage> stored;
  for (const KernelImage& image : images) {
    StoredImage& place = stored.emplace_back();
    place.declared = image.bytes.empty() && image.declared_size > 0;
    place.size = place.declared ? image.declared_size
                                : static_cast<int64_t>(image.bytes.size());
    place.hash = place.declared ? image.declared_hash : HashBytes(image.bytes);
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
                        const std::vector<StoredImage>& images,
                        const std::string& metadata, const PlanHeader& header,
                        AtomicFile& file) {
  PARTITA_RETURN_IF_ERROR(file.Write(EncodeHeader(header)));
  for (const StoredConstant& constant : constants.constants) {
    if (constant.file >= 0) continue;
    PARTITA_RETURN_IF_ERROR(file.PadTo(constant.offset));
    PARTITA_RETURN_IF_ERROR(
        file.Write(plan.module.literals().byte_span(constant.literal)));
  }
  for (size_t i = 0; i < images.size(); ++i) {
    if (images[i].declared) continue;
    PARTITA_RETURN_IF_ERROR(file.PadTo(images[i].offset));
    PARTITA_RETURN_IF_ERROR(file.Write(plan.images[i].bytes));
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
  const std::vector<StoredImage> images = LayOut(end, plan.images);
  PARTITA_ASSIGN_OR_RETURN(const std::string metadata,
                           PackPlan(plan, constants, images));
  PlanHeader header;
  header.metadata_size = static_cast<int64_t>(metadata.size());
  header.metadata_offset = AlignedOffset(end, header.metadata_size);
  header.file_size = header.metadata_offset + header.metadata_size;
  header.metadata_hash = HashBytes(AsBytes(metadata));
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(
      WriteParts(plan, constants, images, metadata, header, *file));
  PARTITA_RETURN_IF_ERROR(file->Commit());
  return Count(constants);
}

}  // namespace partita
