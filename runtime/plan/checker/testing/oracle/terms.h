// Symbolic bytes: each byte is a term over inputs and ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_TERMS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_TERMS_H_

#include <cstdint>
#include <map>
#include <vector>

namespace partita {

using Term = int32_t;
inline constexpr Term kJunk = 0;

// Equal terms have equal numbers. Junk is not a term of any table.
class TermTable {
 public:
  // The term with these parts; the first part is its kind.
  Term Make(const std::vector<int64_t>& parts) {
    auto [it, added] = terms_.try_emplace(parts, 0);
    if (added) it->second = static_cast<Term>(terms_.size());
    return it->second;
  }

 private:
  std::map<std::vector<int64_t>, Term> terms_;
};

// Kinds of terms.
inline constexpr int64_t kInputTerm = 1;     // port, step, micro-batch, byte
inline constexpr int64_t kLiteralTerm = 2;   // literal, byte
inline constexpr int64_t kVariableTerm = 3;  // variable, byte: initial value
// Node, result, rank, micro-batch if it changes the node, byte, ...
inline constexpr int64_t kComputedTerm = 4;
inline constexpr int64_t kReducedTerm = 5;  // reduction, ranks' terms
inline constexpr int64_t kSumTerm = 7;      // the sum so far, the addend
inline constexpr int64_t kLostTerm = 6;  // anything else; no plan can make it
inline constexpr int64_t kZeroTerm = 8;  // the padding of a layout

using Bytes = std::vector<Term>;

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_TERMS_H_
