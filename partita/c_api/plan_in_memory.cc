// Gives the bytes of a plan a name that the plan's reader can open.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/plan_in_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_format.h"

namespace partita::c_api {
namespace {

constexpr char kPlanInMemory[] = "plan in memory";

// A file without a name in any folder. The mapping of it outlives this.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("partita plan", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  absl::Status Write(absl::Span<const std::byte> bytes) const {
    if (fd_ < 0) return Failure();
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return Failure();
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }
  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

 private:
  static absl::Status Failure() {
    return absl::ResourceExhaustedError(absl::StrCat(
        kPlanInMemory, ": cannot be copied: ", std::strerror(errno),
        "; expected memory and a free file descriptor; free some, "
        "or load the plan from a file"));
  }

  const int fd_;
};

absl::Status WeightsElsewhere() {
  return absl::InvalidArgumentError(
      absl::StrCat(kPlanInMemory,
                   ": found weights in other files; expected all of them in "
                   "the plan; load it from its file, or compile the model with "
                   "weights=embed"));
}

// The reader resolves names of other files from the plan's folder, which is
// that of this process's open files: none of them belongs to the plan.
absl::Status CheckOwnWeights(const Plan& plan, const std::string& path) {
  const LiteralPool& literals = plan.module.literals();
  for (int i = 0; i < literals.size(); ++i) {
    const auto range = literals.file_range(LiteralId(i));
    if (range.has_value() && range->file->path() != path) {
      return WeightsElsewhere();
    }
  }
  return absl::OkStatus();
}

absl::Status InTermsOfMemory(const absl::Status& status,
                             const std::string& path) {
  if (absl::StrContains(status.message(), ": weights: ")) {
    return WeightsElsewhere();
  }
  if (absl::IsNotFound(status)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        kPlanInMemory, ": found that its copy, ", path,
        ", cannot be opened; expected two free file descriptors and /proc; "
        "free some, mount it, or load the plan from a file"));
  }
  return absl::Status(
      status.code(),
      absl::StrReplaceAll(status.message(), {{path, kPlanInMemory}}));
}

}  // namespace

absl::StatusOr<ProvedPlan> LoadPlanInMemory(absl::Span<const std::byte> bytes) {
  // Other bytes than those of a plan are not copied.
  if (const absl::Status header = DecodeHeader(bytes).status(); !header.ok()) {
    return absl::Status(header.code(),
                        absl::StrCat(kPlanInMemory, ": ", header.message()));
  }
  const MemoryFile file;
  PARTITA_RETURN_IF_ERROR(file.Write(bytes));
  absl::StatusOr<ProvedPlan> plan = LoadPlan(file.path());
  if (!plan.ok()) return InTermsOfMemory(plan.status(), file.path());
  PARTITA_RETURN_IF_ERROR(CheckOwnWeights(**plan, file.path()));
  return plan;
}

}  // namespace partita::c_api
