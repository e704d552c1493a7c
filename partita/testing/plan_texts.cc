// The texts.
// SPDX-License-Identifier: Apache-2.0

#include "partita/testing/plan_texts.h"

namespace partita {

const char kTwoDevices[] = R"(
graph @f(%x: f32[2, 3] on cpu:0) -> f32[2, 2] {
  %w = constant f32[3, 2] [1, -2, 3, -4, 5, -6] on cpu:0
  %h = matmul %x, %w : f32[2, 2] on cpu:0 by "reference.eval"
  %t = copy %h : f32[2, 2] on cpu:1
  %y = relu %t : f32[2, 2] on cpu:1 by "reference.eval"
  return %y
}
plan @f {
  device cpu:0 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 64 step 192
  device cpu:1 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 0 step 128
  entry @f of @f depth 1 events 1 {
    input x f32[2, 3]
    output y f32[2, 2]
    arena cpu:0
      !w  persistent  0  24
      !x  0  24
      !h  64  16
    arena cpu:1
      !t  0  16
      !y  64  16
    persistent
      !w = %w
    stream cpu:0/compute
      0  feed -> !x input 0
      1  kernel %h (!x, !w) -> !h
      2  copy %t !h -> !t
      3  record ev0
    stream cpu:1/compute
      4  wait ev0
      5  kernel %y (!t) -> !y
      6  fetch !y output 0
  }
}
)";

const char kCounter[] = R"(
variable @v: f32[2] = f32[2] [10, 20]
graph @count(%x: f32[2] on cpu:0) -> f32[2] {
  %v = variable {dtype = f32, name = "v", shape = [2]} : f32[2] on cpu:0
  %n = add %v, %x : f32[2] on cpu:0 by "reference.eval"
  %u = copy %n : f32[2] on cpu:0
  update @v = %u
  return %n
}
plan @count {
  device cpu:0 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 64 step 128
  entry @count of @count depth 1 events 0 {
    input x f32[2]
    output n f32[2]
    arena cpu:0
      !v  persistent  0  8
      !x  0  8
      !n  64  8
    persistent
      !v = %v
    stream cpu:0/compute
      0  feed -> !x input 0
      1  kernel %n (!v, !x) -> !n
      2  copy %u !n -> !v
      3  fetch !n output 0
  }
}
)";

}  // namespace partita
