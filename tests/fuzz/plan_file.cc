// Fuzz target: any bytes are safe to open as a plan file, also with a corrected
// hash of the metadata.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/plan_text.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

// A file in memory, under a name that can be opened.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("plan", MFD_CLOEXEC)) {
    ExpectFuzz(fd_ >= 0, "memfd_create failed");
  }
  ~MemoryFile() { close(fd_); }
  void Set(const std::string& bytes) const {
    ExpectFuzz(ftruncate(fd_, 0) == 0, "ftruncate failed");
    const ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), 0);
    ExpectFuzz(written == static_cast<ssize_t>(bytes.size()), "pwrite failed");
  }
  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

 private:
  int fd_;
};

// False if the header does not say where the metadata are.
bool FixHash(std::string& bytes) {
  const absl::Span<const std::byte> span(
      reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  absl::StatusOr<PlanHeader> header = DecodeHeader(span);
  if (!header.ok()) return false;
  header->metadata_hash =
      HashBytes(span.subspan(static_cast<size_t>(header->metadata_offset),
                             static_cast<size_t>(header->metadata_size)));
  const auto encoded = EncodeHeader(*header);
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  return true;
}

// Corrects the header's sizes, so that truncated and extended files pass it
// too.
void FixSizes(std::string& bytes) {
  if (bytes.size() < kPlanHeaderBytes) return;
  int64_t offset;
  std::memcpy(&offset, bytes.data() + 16, sizeof(offset));
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (offset < kPlanHeaderBytes || offset > size) return;
  const int64_t rest = size - offset;
  std::memcpy(bytes.data() + 24, &rest, sizeof(rest));
  std::memcpy(bytes.data() + 32, &size, sizeof(size));
}

void Read(const std::string& bytes) {
  static const MemoryFile file;
  file.Set(bytes);
  const absl::StatusOr<Plan> plan = ReadPlan(file.path());
  if (!plan.ok()) return;
  const std::string text = PrintPlan(*plan, {.reasons = true});
  ExpectFuzz(!text.empty(), "a plan without text");
  for (const Entry& entry : plan->entries) Expand(entry).status().IgnoreError();
}

}  // namespace
}  // namespace partita

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  partita::Read(bytes);
  partita::FixSizes(bytes);
  if (partita::FixHash(bytes)) partita::Read(bytes);
  return 0;
}
