// The texts of the plans.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/testing/sample_plans.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_text.h"

namespace partita::c_api {

const char kBools[] = R"(
graph @lengths(%a: bool[0] on cpu:0, %b: bool[3] on cpu:0) -> bool[3] {
  %out = concat %a, %b {axis = 0} : bool[3] on cpu:0 by "reference.eval"
  return %out
}
plan @lengths {
  device cpu:0 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 0 step 192
  entry @lengths of @lengths depth 1 events 0 {
    input a bool[0]
    input b bool[3]
    output out bool[3]
    arena cpu:0
      !a  0  0
      !b  64  3
      !out  128  3
    stream cpu:0/compute
      0  feed -> !a input 0
      1  feed -> !b input 1
      2  kernel %out (!a, !b) -> !out
      3  fetch !out output 0
  }
}
)";

const char kTwoEntries[] = R"(
graph @twice(%x: f32[2] on cpu:0) -> f32[2] {
  %y = add %x, %x : f32[2] on cpu:0 by "reference.eval"
  return %y
}
graph @square(%x: f32[2] on cpu:0) -> f32[2] {
  %z = mul %x, %x : f32[2] on cpu:0 by "reference.eval"
  return %z
}
plan @both {
  device cpu:0 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 0 step 128
  entry @twice of @twice depth 1 events 0 {
    input x f32[2]
    output y f32[2]
    arena cpu:0
      !x  0  8
      !y  64  8
    stream cpu:0/compute
      0  feed -> !x input 0
      1  kernel %y (!x, !x) -> !y
      2  fetch !y output 0
  }
  entry @square of @square depth 1 events 0 {
    input x f32[2]
    output z f32[2]
    arena cpu:0
      !x  0  8
      !z  64  8
    stream cpu:0/compute
      0  feed -> !x input 0
      1  kernel %z (!x, !x) -> !z
      2  fetch !z output 0
  }
}
)";

Plan PlanOf(absl::string_view text) {
  return ParsePlan(text, "plan", OpSet::BuiltIn()).value();
}

std::string FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteBytes(const std::string& path, absl::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string PlanBytes(const Plan& plan) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = absl::StrCat(folder == nullptr ? "/tmp" : folder,
                                        "/sample_", getpid(), ".plan");
  WritePlan(plan, path).value();
  std::string bytes = FileBytes(path);
  std::remove(path.c_str());
  return bytes;
}

}  // namespace partita::c_api
