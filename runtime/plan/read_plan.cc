// Opens plan files.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/unpack_plan.h"

namespace partita {
namespace {

absl::StatusOr<Plan> ReadMapped(std::shared_ptr<const MappedFile> file,
                                const ReadPlanOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const PlanHeader header,
                           DecodeHeader(file->bytes()));
  const absl::Span<const std::byte> metadata =
      file->bytes().subspan(static_cast<size_t>(header.metadata_offset),
                            static_cast<size_t>(header.metadata_size));
  if (HashBytes(metadata) != header.metadata_hash) {
    return absl::InvalidArgumentError(
        "metadata: found other bytes than were written; the file is damaged: "
        "copy or compile it again");
  }
  return UnpackPlan(metadata, std::move(file), options);
}

}  // namespace

absl::StatusOr<Plan> ReadPlan(const std::string& path,
                              const ReadPlanOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  absl::StatusOr<Plan> plan = ReadMapped(std::move(file), options);
  if (plan.ok()) return plan;
  return absl::Status(plan.status().code(),
                      absl::StrCat(path, ": ", plan.status().message()));
}

}  // namespace partita
