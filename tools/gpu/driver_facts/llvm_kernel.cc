// A kernel as LLVM 19 prints it: y = a * x + y, for sm_80 with PTX 8.0.
// SPDX-License-Identifier: Apache-2.0

#include "tools/gpu/driver_facts/gpu.h"

namespace partita {

// llc -march=nvptx64 -mcpu=sm_80 -mattr=+ptx80; for sm_90 only .target differs.
const char kLlvmKernel[] = R"(.version 8.0
.target sm_80
.address_size 64

.visible .entry saxpy(
  .param .u64 saxpy_param_0,
  .param .u64 saxpy_param_1,
  .param .f32 saxpy_param_2,
  .param .u32 saxpy_param_3
)
{
  .reg .pred   %p<2>;
  .reg .b32   %r<6>;
  .reg .f32   %f<6>;
  .reg .b64   %rd<6>;

  mov.u32   %r2, %tid.x;
  mov.u32   %r3, %ctaid.x;
  ld.param.u32   %r4, [saxpy_param_3];
  mov.u32   %r5, %ntid.x;
  mad.lo.s32   %r1, %r3, %r5, %r2;
  setp.ge.u32   %p1, %r1, %r4;
  @%p1 bra   $L__BB0_2;
  ld.param.f32   %f1, [saxpy_param_2];
  ld.param.u64   %rd2, [saxpy_param_1];
  ld.param.u64   %rd1, [saxpy_param_0];
  mul.wide.u32   %rd3, %r1, 4;
  add.s64   %rd4, %rd2, %rd3;
  add.s64   %rd5, %rd1, %rd3;
  ld.global.nc.f32   %f2, [%rd4];
  ld.global.f32   %f3, [%rd5];
  mul.rn.f32   %f4, %f1, %f2;
  add.rn.f32   %f5, %f4, %f3;
  st.global.f32   [%rd5], %f5;
$L__BB0_2:                              // %done
  ret;
}
)";

}  // namespace partita
