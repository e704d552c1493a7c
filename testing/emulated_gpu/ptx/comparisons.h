// Comparisons of integers or floats, for setp.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_COMPARISONS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_COMPARISONS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/evaluate_table.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"
#include "testing/emulated_gpu/ptx/register_bits.h"

namespace partita::ptx {

enum class Relation : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

template <Relation relation, typename T>
bool Holds(T a, T b) {
  switch (relation) {
    case Relation::kEq:
      return a == b;
    case Relation::kNe:
      return a < b || a > b;  // false for NaN
    case Relation::kLt:
      return a < b;
    case Relation::kLe:
      return a <= b;
    case Relation::kGt:
      return a > b;
    case Relation::kGe:
      return a >= b;
    case Relation::kNum:
    case Relation::kNan:
      break;
  }
  return relation == Relation::kNum;
}

template <typename T, Relation relation, bool of_nan>
uint64_t Compare(NanRules, uint64_t a, uint64_t b, uint64_t) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(As<T>(a)) || std::isnan(As<T>(b))) return of_nan;
  }
  return Holds<relation>(As<T>(a), As<T>(b));
}

// The forms with u are also true if an operand is NaN. Null if there is none of
// that name for T.
template <typename T>
Evaluate FindComparison(absl::string_view name) {
  using R = Relation;
  static constexpr NamedEvaluate kOrdered[] = {
      {"eq", Compare<T, R::kEq, false>}, {"ne", Compare<T, R::kNe, false>},
      {"lt", Compare<T, R::kLt, false>}, {"le", Compare<T, R::kLe, false>},
      {"gt", Compare<T, R::kGt, false>}, {"ge", Compare<T, R::kGe, false>},
  };
  const Evaluate ordered = FindByName(kOrdered, name);
  if (ordered != nullptr) return ordered;
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr NamedEvaluate kOfNan[] = {
        {"equ", Compare<T, R::kEq, true>},   {"neu", Compare<T, R::kNe, true>},
        {"ltu", Compare<T, R::kLt, true>},   {"leu", Compare<T, R::kLe, true>},
        {"gtu", Compare<T, R::kGt, true>},   {"geu", Compare<T, R::kGe, true>},
        {"num", Compare<T, R::kNum, false>}, {"nan", Compare<T, R::kNan, true>},
    };
    return FindByName(kOfNan, name);
  } else {
    static constexpr NamedEvaluate kOfIntegers[] = {
        {"lo", Compare<T, R::kLt, false>},
        {"ls", Compare<T, R::kLe, false>},
        {"hi", Compare<T, R::kGt, false>},
        {"hs", Compare<T, R::kGe, false>},
    };
    return FindByName(kOfIntegers, name);
  }
}

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_COMPARISONS_H_
