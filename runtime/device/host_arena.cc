// Arenas by mmap.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/host_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
// Poison takes an eighth of the guarded bytes in real memory.
constexpr int64_t kMaxGuardedBytes = int64_t{4} << 30;

}  // namespace

absl::StatusOr<std::unique_ptr<HostArena>> HostArena::New(
    const std::string& owner, int64_t bytes, int64_t alignment, bool guarded) {
  PARTITA_RETURN_IF_ERROR(CheckArenaRequest(owner, bytes, alignment));
  std::unique_ptr<HostArena> arena(new HostArena);
  const int64_t slack = std::max(alignment, kHugePage);
  const int64_t wanted = bytes + slack;
  void* mapping = mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "device ", owner, ": found no room for an arena of ", bytes,
        " bytes in this process (", std::strerror(errno), "); ",
        AvailableHostMemory(), " bytes of memory are available"));
  }
  arena->mapping_ = static_cast<std::byte*>(mapping);
  arena->mapped_bytes_ = wanted;
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  arena->base_ = arena->mapping_ + (-address & (slack - 1));
  arena->size_ = bytes;
  // Huge pages avoid most TLB misses of kernels. It does not matter if the host
  // refuses.
  if (bytes >= kHugePage) madvise(arena->base_, bytes, MADV_HUGEPAGE);
  if (guarded && ArenaGuardsWork() && wanted <= kMaxGuardedBytes) {
    arena->guard_.emplace(arena->mapping_, wanted);
  }
  return arena;
}

HostArena::~HostArena() {
  guard_.reset();
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

int64_t HostArena::CommittedBytes() const {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t pages = (size_ + page - 1) / page;
  std::vector<unsigned char> resident(pages);
  if (pages == 0 || mincore(base_, size_, resident.data()) != 0) return 0;
  const int64_t committed = std::count_if(
      resident.begin(), resident.end(), [](unsigned char p) { return p & 1; });
  return committed * page;
}

int64_t AvailableHostMemory() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return -1;
  char line[128];
  long long kibibytes = -1;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %lld kB", &kibibytes) == 1) break;
  }
  std::fclose(file);
  return kibibytes < 0 ? -1 : static_cast<int64_t>(kibibytes) * 1024;
}

}  // namespace partita
