// The registers that are declared where the parser stands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_REGISTER_NAMES_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_REGISTER_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

struct NamedRegister {
  uint32_t number = 0;
  Type type = Type::kB32;
};

// Names in braces end with them, and hide those outside. Registers of all
// scopes have different numbers.
class RegisterNames {
 public:
  RegisterNames() : scopes_(1) {}

  // Declares NAME, or NAME0, NAME1, ... for a count. Returns what is wrong, or
  // an empty string.
  std::string Declare(absl::string_view name, Type type,
                      std::optional<uint32_t> count);
  std::optional<NamedRegister> Find(absl::string_view name) const;
  void Enter() { scopes_.emplace_back(); }
  // False if no scope but the first is open.
  bool Leave();
  bool is_outside() const { return scopes_.size() == 1; }
  uint32_t count() const { return count_; }

 private:
  struct Range {
    NamedRegister first;
    uint32_t count = 1;
  };
  struct Scope {
    absl::flat_hash_map<std::string, NamedRegister> single;
    absl::flat_hash_map<std::string, Range> ranges;  // by the name's beginning
  };

  std::vector<Scope> scopes_;
  uint32_t count_ = 0;
};

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_REGISTER_NAMES_H_
