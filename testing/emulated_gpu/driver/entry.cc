// One function for each call: it locks the driver and passes the call on.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/entry.h"

#include <atomic>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

std::atomic<Driver*> current{nullptr};

template <typename Function>
struct EntryOf;
template <typename... Args>
struct EntryOf<CUresult(Args...)> {
  template <CUresult (Driver::*call)(Args...), const char* name>
  static CUresult Enter(Args... args) {
    Driver* driver = current.load();
    if (driver == nullptr) return CUDA_ERROR_DEINITIALIZED;
    return driver->Enter(name, [&] { return (driver->*call)(args...); });
  }
};

// The name without the version at its end.
std::string BaseName(absl::string_view name) {
  const size_t bar = name.rfind("_v");
  if (bar == absl::string_view::npos || bar + 3 != name.size() ||
      !absl::ascii_isdigit(name.back())) {
    return std::string(name);
  }
  return std::string(name.substr(0, bar));
}

#define PARTITA_TEXT(name) #name
#define PARTITA_DRIVER_CALL(member, function) \
  constexpr char kNameOf##member[] = #function;
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL

constexpr DriverApi MakeTable() {
  DriverApi api;
#define PARTITA_DRIVER_CALL(member, function)                              \
  api.member =                                                             \
      &EntryOf<std::remove_pointer_t<decltype(DriverApi::member)>>::Enter< \
          &Driver::member, kNameOf##member>;
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
  api.emulated = true;
  return api;
}

}  // namespace

bool SetCurrentDriver(Driver* driver) {
  Driver* none = nullptr;
  if (driver != nullptr) return current.compare_exchange_strong(none, driver);
  current = nullptr;
  return true;
}

const DriverApi& EntryTable() {
  static constexpr DriverApi table = MakeTable();
  return table;
}

void* FindEntry(absl::string_view name) {
  static const auto& entries = *[] {
    auto* found = new absl::flat_hash_map<std::string, void*>();
// The macros of cuda.h are expanded first: the exported names.
#define PARTITA_DRIVER_CALL(member, function)      \
  found->emplace(BaseName(PARTITA_TEXT(function)), \
                 reinterpret_cast<void*>(EntryTable().member));
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
    return found;
  }();
  const auto found = entries.find(name);
  return found == entries.end() ? nullptr : found->second;
}

#undef PARTITA_TEXT

}  // namespace partita::emulated_gpu
