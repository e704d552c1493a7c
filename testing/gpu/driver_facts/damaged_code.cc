// The driver's linker, and the section of a kernel in its output.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/damaged_code.h"

#include <elf.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status NoSection(const std::string& kernel) {
  return absl::InternalError(absl::StrCat("cubin: found no section .text.",
                                          kernel, "; expected one a kernel"));
}

// The part of the file at `offset`, or null if the file is shorter.
template <typename T>
T* At(std::string& file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return nullptr;
  return reinterpret_cast<T*>(file.data() + offset);
}

}  // namespace

absl::StatusOr<std::string> CubinOf(const Gpu& gpu, const std::string& ptx) {
  const DriverApi& api = gpu.api();
  CUlinkState state = nullptr;
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.LinkCreate(0, nullptr, nullptr, &state), "cuLinkCreate"));
  std::string text = ptx;
  absl::Status status = gpu.Status(
      api.LinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1,
                      "kernel.ptx", 0, nullptr, nullptr),
      "cuLinkAddData");
  void* image = nullptr;
  size_t size = 0;
  if (status.ok()) {
    status =
        gpu.Status(api.LinkComplete(state, &image, &size), "cuLinkComplete");
  }
  std::string cubin;
  if (status.ok()) cubin.assign(static_cast<const char*>(image), size);
  api.LinkDestroy(state);
  if (!status.ok()) return status;
  return cubin;
}

absl::Status DamageKernel(const std::string& kernel, std::string& cubin) {
  const std::string wanted = absl::StrCat(".text.", kernel);
  const auto* header = At<Elf64_Ehdr>(cubin, 0);
  if (header == nullptr) return NoSection(kernel);
  const auto section = [&](int i) {
    return At<Elf64_Shdr>(cubin, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr* names = section(header->e_shstrndx);
  for (int i = 0; names != nullptr && i < header->e_shnum; ++i) {
    const Elf64_Shdr* found = section(i);
    if (found == nullptr) break;
    const uint64_t name = names->sh_offset + found->sh_name;
    if (name >= cubin.size() || cubin.c_str() + name != wanted) continue;
    // The lowest 12 bits are the operation, the next 4 a predicate: always.
    auto* word = At<uint16_t>(cubin, found->sh_offset);
    if (word == nullptr) break;
    *word = 0x7fff;
    return absl::OkStatus();
  }
  return NoSection(kernel);
}

}  // namespace partita
