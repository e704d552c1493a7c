// Texts by target, each loaded while its kernels are bound.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cuda/trusted_ptx.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

struct PtxText {
  ContentHash hash;
  std::string text;
  absl::flat_hash_set<std::string> kernels;
  bool refused = false;  // by a driver, since it was trusted last
  // In the driver that loaded it last.
  const DriverApi* api = nullptr;
  std::weak_ptr<const OwnedLibrary> library;
};

struct PtxStore {
  std::mutex mutex;  // guards what follows
  std::map<std::string, std::vector<PtxText>, std::less<>> by_target;

  // The text of `own`, if it is not null, before others. Null if there is none.
  PtxText* Find(absl::string_view target, absl::string_view kernel,
                const ContentHash* own) {
    const auto texts = by_target.find(std::string(target));
    if (texts == by_target.end()) return nullptr;
    PtxText* found = nullptr;
    for (PtxText& text : texts->second) {
      if (!text.kernels.contains(kernel)) continue;
      if (own != nullptr && text.hash == *own) return &text;
      if (found == nullptr && !text.refused) found = &text;
    }
    return found;
  }
};

PtxStore& TheStore() {
  static PtxStore& store = *new PtxStore;
  return store;
}

// The names of `.entry NAME(`.
absl::flat_hash_set<std::string> KernelsOf(absl::string_view text) {
  constexpr absl::string_view kEntry = ".entry ";
  absl::flat_hash_set<std::string> names;
  for (size_t at = text.find(kEntry); at != text.npos;
       at = text.find(kEntry, at)) {
    at += kEntry.size();
    names.emplace(text.substr(at, text.find_first_of("( \t\n", at) - at));
  }
  return names;
}

absl::StatusOr<std::shared_ptr<const OwnedLibrary>> LoadText(
    const DriverApi& api, PtxText& text) {
  std::shared_ptr<const OwnedLibrary> library = text.library.lock();
  if (library != nullptr && text.api == &api) return library;
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary loaded,
                           LoadLibrary(api, text.text.c_str()));
  library = std::make_shared<const OwnedLibrary>(std::move(loaded));
  text.api = &api;
  text.library = library;
  return library;
}

// A driver reads as many parameters as the kernel has from the addresses that a
// launch gives: the numbers must be equal.
absl::Status CheckParameters(const DriverApi& api, CUkernel kernel,
                             size_t addresses) {
  for (size_t i = 0; i <= addresses; ++i) {
    size_t offset = 0;
    size_t bytes = 0;
    const CUresult result = api.KernelGetParamInfo(kernel, i, &offset, &bytes);
    const bool is_there = result != CUDA_ERROR_INVALID_VALUE;
    if (is_there) {
      PARTITA_RETURN_IF_ERROR(CudaStatus(api, result, "cuKernelGetParamInfo"));
    }
    const bool is_address = is_there && bytes == sizeof(CUdeviceptr) &&
                            offset == i * sizeof(CUdeviceptr);
    if (i < addresses ? is_address : !is_there) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("of other parameters: parameter ", i,
                     is_there ? " is none" : " is missing", " of the ",
                     addresses, " addresses that a launch gives"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CUkernel> FindKernel(const DriverApi& api,
                                    const OwnedLibrary& library,
                                    const std::string& name) {
  CUkernel kernel = nullptr;
  const CUresult result =
      api.LibraryGetKernel(&kernel, library.get(), name.c_str());
  const absl::Status status = CudaStatus(api, result, "cuLibraryGetKernel");
  // The words of the text name the kernel, and for the driver it has none of
  // that name (cuda.h:8027).
  if (result == CUDA_ERROR_NOT_FOUND) {
    return absl::InvalidArgumentError(status.message());
  }
  PARTITA_RETURN_IF_ERROR(status);
  return kernel;
}

absl::StatusOr<CUkernel> LoadByDriver(const DriverApi& api, PtxText& text,
                                      const std::string& name,
                                      LoadedPtx& loaded) {
  PARTITA_ASSIGN_OR_RETURN(loaded.library, LoadText(api, text));
  PARTITA_ASSIGN_OR_RETURN(const CUkernel kernel,
                           FindKernel(api, *loaded.library, name));
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.KernelGetFunction(&loaded.function, kernel),
                 "cuKernelGetFunction"));
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.FuncLoad(loaded.function), "cuFuncLoad"));
  return kernel;
}

// The next load of the text fails as well, and another text may do. Any other
// error of the driver says nothing about the text.
bool IsOfText(const absl::Status& status) {
  return absl::IsInvalidArgument(status);
}

// An error of the text follows "found code". The compiler's words have the
// line.
absl::StatusOr<LoadedPtx> LoadKernel(const DriverApi& api, PtxText& text,
                                     const PtxEntry& kernel) {
  LoadedPtx loaded;
  const absl::StatusOr<CUkernel> handle =
      LoadByDriver(api, text, kernel.name, loaded);
  if (IsOfText(handle.status())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "that the driver does not load (", handle.status().message(),
        "); expected PTX that it compiles"));
  }
  PARTITA_RETURN_IF_ERROR(handle.status());
  PARTITA_RETURN_IF_ERROR(CheckParameters(api, *handle, kernel.addresses));
  return loaded;
}

absl::Status NotLoaded(absl::string_view target, const std::string& kernel,
                       const absl::Status& status) {
  if (IsOfText(status)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", kernel, ": found code for ", target, " ", status.message(),
        "; compile the model again, or run the plan without --trust-code"));
  }
  const char* remedy = absl::IsResourceExhausted(status)
                           ? ": it needs more that is free beside the arena; "
                             "compile for a machine with a larger `reserve`"
                           : "";
  return absl::Status(
      status.code(),
      absl::StrCat("kernel ", kernel, ": found an error of the driver (",
                   status.message(), ") while it loaded code for ", target,
                   "; expected none; the code is not at fault", remedy));
}

}  // namespace

absl::Status TrustPtx(const CodeObject& code) {
  if (!absl::StartsWith(code.target, "sm_")) return absl::OkStatus();
  const ContentHash hash = HashBytes(code.bytes);
  PtxStore& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  std::vector<PtxText>& texts = store.by_target[code.target];
  for (PtxText& known : texts) {
    if (known.hash != hash) continue;
    known.refused = false;
    return absl::OkStatus();
  }
  PtxText& text = texts.emplace_back();
  text.hash = hash;
  text.text.assign(reinterpret_cast<const char*>(code.bytes.data()),
                   code.bytes.size());
  text.kernels = KernelsOf(text.text);
  return absl::OkStatus();
}

bool HasTrustedPtx(absl::string_view target, absl::string_view kernel) {
  PtxStore& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  return store.Find(target, kernel, /*own=*/nullptr) != nullptr;
}

absl::StatusOr<LoadedPtx> LoadPtx(const DriverApi& api,
                                  absl::string_view target,
                                  const PtxEntry& kernel,
                                  const CodeObject* own) {
  std::optional<ContentHash> own_hash;
  if (own != nullptr) own_hash = HashBytes(own->bytes);
  PtxStore& store = TheStore();
  const std::lock_guard<std::mutex> lock(store.mutex);
  PtxText* const text = store.Find(target, kernel.name,
                                   own_hash.has_value() ? &*own_hash : nullptr);
  if (text == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("found no code of ", kernel.name, " for ", target));
  }
  absl::StatusOr<LoadedPtx> loaded = LoadKernel(api, *text, kernel);
  if (loaded.ok()) return loaded;
  text->refused |= IsOfText(loaded.status());
  return NotLoaded(target, kernel.name, loaded.status());
}

}  // namespace partita
