// Shared objects in anonymous files.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/native_code/trusted_code.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/host_capacity.h"
#include "kernels/codegen/read_program.h"

namespace partita {
namespace {

struct Mapping {
  ContentHash hash;
  void* library;
};

struct Store {
  std::mutex mutex;  // guards what follows
  absl::flat_hash_map<std::string, std::vector<Mapping>> by_target;
};

Store& TheStore() {
  static Store& store = *new Store;
  return store;
}

absl::Status Refused(const CodeObject& code, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("code object ", code.target, " of ", code.bytes.size(),
                   " bytes: found that it does not open: ", why,
                   "; expected a shared object; compile the plan again"));
}

bool WriteAll(int file, absl::Span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

absl::StatusOr<void*> Open(const CodeObject& code) {
  // The file stays open: the loader distinguishes objects by path, and the path
  // of a closed file would be used again.
  const int file = memfd_create("partita-code", MFD_CLOEXEC);
  if (file < 0 || !WriteAll(file, code.bytes)) {
    if (file >= 0) close(file);
    return Refused(code, "no memory for it");
  }
  void* library = dlopen(absl::StrCat("/proc/self/fd/", file).c_str(),
                         RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const std::string why = dlerror();
  close(file);
  return Refused(code, why);
}

}  // namespace

bool ProcessorRuns(absl::string_view target) {
  const std::vector<std::string> isas = UsableIsas();
  return std::any_of(isas.begin(), isas.end(), [&](const std::string& isa) {
    return target == CodeTarget(isa);
  });
}

absl::Status TrustCode(const CodeObject& code) {
  if (!ProcessorRuns(code.target)) return absl::OkStatus();
  const ContentHash hash = HashBytes(code.bytes);
  Store& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  std::vector<Mapping>& mappings = store.by_target[code.target];
  for (const Mapping& mapping : mappings) {
    if (mapping.hash == hash) return absl::OkStatus();
  }
  absl::StatusOr<void*> library = Open(code);
  if (!library.ok()) return library.status();
  mappings.push_back({hash, *library});
  return absl::OkStatus();
}

ElementwiseEntry FindEntry(absl::string_view target, const std::string& name) {
  Store& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  const auto found = store.by_target.find(std::string(target));
  if (found == store.by_target.end()) return nullptr;
  for (const Mapping& mapping : found->second) {
    void* entry = dlsym(mapping.library, name.c_str());
    if (entry != nullptr) return reinterpret_cast<ElementwiseEntry>(entry);
  }
  return nullptr;
}

}  // namespace partita
