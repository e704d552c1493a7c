// Fuzz target: any bytes are safe to open as a plan file, also with a corrected
// hash of the metadata.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/plan_bytes.h"

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
