// Faults of other systems as plans, and text that several of them share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_CASE_STUDY_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_CASE_STUDY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "runtime/plan/checker/testing/mutants/base_plans.h"

namespace partita {

struct CaseStudy {
  ShortPlan plan;
  const char* message;  // the message that refuses the plan, or its beginning
};

// The message that refuses the plan, cut to the length of the study's message;
// "proved" if the plan is not refused.
std::string RefusalOf(const CaseStudy& study);

// Two GPUs send each other a value.
inline constexpr char kSentBothWays[] =
    R"(graph @f(%x: i8[2], %z: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0
  %b = neg %z : i8[2] on gpu:1
  %there = copy %a : i8[2] on gpu:1
  %back = copy %b : i8[2] on gpu:0
  return %there, %back
})";

// Two sums over rows of two GPUs.
inline constexpr char kTwoReductions[] =
    R"(graph @f(%x: i8[2, 2], %z: i8[2, 2]) -> (i8[2], i8[2]) {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %q = reduce_sum %z {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %r = copy %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  %s = copy %q : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  return %r, %s
})";

inline constexpr char kTwoReductionsBuffers[] =
    R"(input x i8[2, 2]
       input z i8[2, 2]
       output r i8[2]
       output s i8[2]
       arena gpu:0
         !x0 0 4
         !top0 0 2
         !z0 4 4
         !low0 4 2
         !p0 8 2
         !q0 10 2
       arena gpu:1
         !x1 0 4
         !top1 2 2
         !z1 4 4
         !low1 6 2
         !p1 8 2
         !q1 10 2)";

// Concatenates two texts with static lifetime.
template <size_t kFirst, size_t kSecond>
constexpr std::array<char, kFirst + kSecond - 1> Concatenated(
    const char (&first)[kFirst], const char (&second)[kSecond]) {
  std::array<char, kFirst + kSecond - 1> text = {};
  std::copy(first, first + kFirst - 1, text.begin());
  std::copy(second, second + kSecond, text.begin() + kFirst - 1);
  return text;
}

// With one communicator of both GPUs, or with two.
inline constexpr auto kOneGroup =
    Concatenated(kTwoReductionsBuffers, "\ngroup 0 (gpu:0/s, gpu:1/s)");
inline constexpr auto kTwoGroups =
    Concatenated(kTwoReductionsBuffers,
                 "\ngroup 0 (gpu:0/s, gpu:1/s)\ngroup 1 (gpu:0/t, gpu:1/t)");

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_CASE_STUDY_H_
