// The kernels that facts launch, PTX written by hand.
// SPDX-License-Identifier: Apache-2.0

#include "tools/gpu/driver_facts/gpu.h"

namespace partita {

// Loops have time limits of their own: no fact may hang a GPU.
const char kTestKernels[] = R"(
.version 7.8
.target sm_80
.address_size 64

.extern .func __assertfail(.param .b64 message, .param .b64 file,
    .param .b32 line, .param .b64 function, .param .b64 char_size);
.global .align 1 .b8 assert_text[5] = {102, 97, 99, 116, 0};

.visible .entry empty() { ret; }

// Waits until *flag != 0, at most limit ns; then flag[1] = 1.
.visible .entry spin(.param .u64 flag, .param .u64 limit) {
  .reg .u64 %f, %l, %s, %n;
  .reg .u32 %v;
  .reg .pred %p;
  ld.param.u64 %f, [flag];
  ld.param.u64 %l, [limit];
  cvta.to.global.u64 %f, %f;
  mov.u64 %s, %globaltimer;
again:
  ld.volatile.global.u32 %v, [%f];
  setp.ne.u32 %p, %v, 0;
  @%p bra done;
  mov.u64 %n, %globaltimer;
  sub.u64 %n, %n, %s;
  setp.lt.u64 %p, %n, %l;
  @%p bra again;
  mov.u32 %v, 1;
  st.volatile.global.u32 [%f+4], %v;
  membar.sys;
done:
  ret;
}

.visible .entry set_word(.param .u64 address, .param .u32 value) {
  .reg .u64 %a;
  .reg .u32 %v;
  ld.param.u64 %a, [address];
  ld.param.u32 %v, [value];
  cvta.to.global.u64 %a, %a;
  st.volatile.global.u32 [%a], %v;
  membar.sys;
  ret;
}

.visible .entry add_word(.param .u64 address, .param .u32 value) {
  .reg .u64 %a;
  .reg .u32 %v, %w;
  ld.param.u64 %a, [address];
  ld.param.u32 %v, [value];
  cvta.to.global.u64 %a, %a;
  ld.volatile.global.u32 %w, [%a];
  add.u32 %w, %w, %v;
  st.volatile.global.u32 [%a], %w;
  ret;
}

// log[1 + log[0]++] = value
.visible .entry append(.param .u64 log, .param .u32 value) {
  .reg .u64 %a, %o;
  .reg .u32 %v, %i;
  ld.param.u64 %a, [log];
  ld.param.u32 %v, [value];
  cvta.to.global.u64 %a, %a;
  atom.sys.global.add.u32 %i, [%a], 1;
  add.u32 %i, %i, 1;
  mul.wide.u32 %o, %i, 4;
  add.u64 %a, %a, %o;
  st.volatile.global.u32 [%a], %v;
  membar.sys;
  ret;
}

.visible .entry read_word(.param .u64 to, .param .u64 from) {
  .reg .u64 %a, %b;
  .reg .u32 %v;
  ld.param.u64 %a, [to];
  ld.param.u64 %b, [from];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  ld.volatile.global.u32 %v, [%b];
  st.volatile.global.u32 [%a], %v;
  membar.sys;
  ret;
}

// count[0] += 1; waits until count[0] = all, at most limit ns; then count[1] += 1.
.visible .entry meet(.param .u64 count, .param .u32 all, .param .u64 limit) {
  .reg .u64 %a, %l, %s, %n;
  .reg .u32 %v, %w;
  .reg .pred %p;
  ld.param.u64 %a, [count];
  ld.param.u32 %w, [all];
  ld.param.u64 %l, [limit];
  cvta.to.global.u64 %a, %a;
  atom.sys.global.add.u32 %v, [%a], 1;
  mov.u64 %s, %globaltimer;
again:
  ld.volatile.global.u32 %v, [%a];
  setp.ge.u32 %p, %v, %w;
  @%p bra met;
  mov.u64 %n, %globaltimer;
  sub.u64 %n, %n, %s;
  setp.lt.u64 %p, %n, %l;
  @%p bra again;
  ret;
met:
  atom.sys.global.add.u32 %v, [%a+4], 1;
  ret;
}

// to[i] = %globaltimer, i < n
.visible .entry sample_timer(.param .u64 to, .param .u32 n) {
  .reg .u64 %a, %t;
  .reg .u32 %i;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  ld.param.u32 %i, [n];
  cvta.to.global.u64 %a, %a;
again:
  mov.u64 %t, %globaltimer;
  st.global.u64 [%a], %t;
  add.u64 %a, %a, 8;
  sub.u32 %i, %i, 1;
  setp.ne.u32 %p, %i, 0;
  @%p bra again;
  ret;
}

// to = {globaltimer, clock64} at start, and the same after `limit` ns.
.visible .entry sample_clock(.param .u64 to, .param .u64 limit) {
  .reg .u64 %a, %l, %s, %n, %c;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  ld.param.u64 %l, [limit];
  cvta.to.global.u64 %a, %a;
  mov.u64 %s, %globaltimer;
  mov.u64 %c, %clock64;
  st.global.u64 [%a], %s;
  st.global.u64 [%a+8], %c;
again:
  mov.u64 %n, %globaltimer;
  mov.u64 %c, %clock64;
  sub.u64 %s, %n, %s;
  setp.lt.u64 %p, %s, %l;
  sub.u64 %s, %n, %s;
  @%p bra again;
  st.global.u64 [%a+16], %n;
  st.global.u64 [%a+24], %c;
  ret;
}

// 16 bytes a thread, grid-stride.
.visible .entry copy16(.param .u64 to, .param .u64 from, .param .u64 count) {
  .reg .u64 %a, %b, %n, %i, %step, %o, %x;
  .reg .u32 %t, %d, %c, %g, %r0, %r1, %r2, %r3;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  ld.param.u64 %b, [from];
  ld.param.u64 %n, [count];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  mov.u32 %t, %tid.x;
  mov.u32 %d, %ntid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %g, %nctaid.x;
  mul.wide.u32 %i, %c, %d;
  cvt.u64.u32 %x, %t;
  add.u64 %i, %i, %x;
  mul.wide.u32 %step, %g, %d;
again:
  setp.ge.u64 %p, %i, %n;
  @%p bra done;
  shl.b64 %o, %i, 4;
  add.u64 %x, %b, %o;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%x];
  add.u64 %x, %a, %o;
  st.global.v4.u32 [%x], {%r0, %r1, %r2, %r3};
  add.u64 %i, %i, %step;
  bra again;
done:
  ret;
}

// Arithmetic alone: n dependent fma.
.visible .entry busy(.param .u64 to, .param .u32 n) {
  .reg .u64 %a;
  .reg .u32 %i;
  .reg .f32 %x, %y;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  ld.param.u32 %i, [n];
  cvta.to.global.u64 %a, %a;
  mov.f32 %x, 0f3F800000;
  mov.f32 %y, 0f3F000000;
again:
  fma.rn.f32 %x, %x, %y, %y;
  sub.u32 %i, %i, 1;
  setp.ne.u32 %p, %i, 0;
  @%p bra again;
  st.global.f32 [%a], %x;
  ret;
}

// *address = 1, wherever that is.
.visible .entry store_at(.param .u64 address) {
  .reg .u64 %a;
  .reg .u32 %v;
  ld.param.u64 %a, [address];
  mov.u32 %v, 1;
  st.global.u32 [%a], %v;
  ret;
}

.visible .entry trap_now() { trap; ret; }

.visible .entry fail_assert() {
  .reg .u64 %t, %one;
  .reg .u32 %line;
  mov.u64 %t, assert_text;
  cvta.global.u64 %t, %t;
  mov.u64 %one, 1;
  mov.u32 %line, 7;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %t;
    st.param.b64 [p1], %t;
    st.param.b32 [p2], %line;
    st.param.b64 [p3], %t;
    st.param.b64 [p4], %one;
    call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
  ret;
}

.func (.param .b32 result) recurse(.param .b32 n) {
  .local .align 16 .b8 block[1024];
  .reg .u32 %n, %r, %m;
  .reg .u64 %a, %o;
  .reg .pred %p;
  ld.param.u32 %n, [n];
  mov.u64 %a, block;
  and.b32 %m, %n, 255;
  mul.wide.u32 %o, %m, 4;
  add.u64 %a, %a, %o;
  st.local.u32 [%a], %n;
  setp.eq.u32 %p, %n, 0;
  mov.u32 %r, 0;
  @%p bra done;
  sub.u32 %m, %n, 1;
  {
    .param .b32 p; .param .b32 q;
    st.param.b32 [p], %m;
    call.uni (q), recurse, (p);
    ld.param.b32 %r, [q];
  }
  ld.local.u32 %m, [%a];
  add.u32 %r, %r, %m;
done:
  st.param.b32 [result], %r;
  ret;
}

.visible .entry overflow_stack(.param .u64 to, .param .u32 depth) {
  .reg .u64 %a;
  .reg .u32 %n;
  ld.param.u64 %a, [to];
  ld.param.u32 %n, [depth];
  {
    .param .b32 p; .param .b32 q;
    st.param.b32 [p], %n;
    call.uni (q), recurse, (p);
    ld.param.b32 %n, [q];
  }
  st.global.u32 [%a], %n;
  ret;
}

.visible .entry few_threads(.param .u64 to) .maxntid 64, 1, 1 {
  .reg .u64 %a;
  .reg .u32 %v;
  ld.param.u64 %a, [to];
  mov.u32 %v, 1;
  st.global.u32 [%a], %v;
  ret;
}

.visible .entry local_array(.param .u64 to, .param .u32 index) {
  .local .align 16 .b8 block[256];
  .reg .u64 %a, %b, %o;
  .reg .u32 %i, %v;
  ld.param.u64 %a, [to];
  ld.param.u32 %i, [index];
  and.b32 %i, %i, 63;
  mov.u64 %b, block;
  mul.wide.u32 %o, %i, 4;
  add.u64 %b, %b, %o;
  st.local.u32 [%b], %i;
  ld.local.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}

// Copies 48 KiB of shared memory that nobody wrote; 1024 threads.
.visible .entry read_shared(.param .u64 to) {
  .shared .align 16 .b8 block[49152];
  .reg .u64 %a, %s, %o;
  .reg .u32 %i, %v;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  mov.u32 %i, %tid.x;
again:
  mul.wide.u32 %o, %i, 4;
  mov.u64 %s, block;
  add.u64 %s, %s, %o;
  ld.volatile.shared.u32 %v, [%s];
  add.u64 %o, %a, %o;
  st.global.u32 [%o], %v;
  add.u32 %i, %i, 1024;
  setp.lt.u32 %p, %i, 12288;
  @%p bra again;
  ret;
}

.visible .entry fill_shared(.param .u32 value) {
  .shared .align 16 .b8 block[49152];
  .reg .u64 %s, %o;
  .reg .u32 %i, %v;
  .reg .pred %p;
  ld.param.u32 %v, [value];
  mov.u32 %i, %tid.x;
again:
  mul.wide.u32 %o, %i, 4;
  mov.u64 %s, block;
  add.u64 %s, %s, %o;
  st.volatile.shared.u32 [%s], %v;
  add.u32 %i, %i, 1024;
  setp.lt.u32 %p, %i, 12288;
  @%p bra again;
  ret;
}

// Lanes 0..15 read lane 16 + lane, which has left; to[lane] = value,
// to[32 + lane] = the predicate. One warp.
.visible .entry shuffle_absent(.param .u64 to) {
  .reg .u64 %a, %o;
  .reg .u32 %l, %v, %s, %r;
  .reg .pred %p, %q;
  ld.param.u64 %a, [to];
  mov.u32 %l, %tid.x;
  add.u32 %v, %l, 1000;
  setp.ge.u32 %p, %l, 16;
  @%p bra done;
  add.u32 %s, %l, 16;
  shfl.sync.idx.b32 %r|%q, %v, %s, 31, 0x0000ffff;
  mul.wide.u32 %o, %l, 4;
  add.u64 %a, %a, %o;
  st.global.u32 [%a], %r;
  selp.u32 %r, 1, 0, %q;
  st.global.u32 [%a+128], %r;
done:
  ret;
}

// Threads from `stay` on leave before the barrier; the others count behind it.
.visible .entry barrier_exited(.param .u64 to, .param .u32 stay) {
  .reg .u64 %a;
  .reg .u32 %t, %s, %v;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  ld.param.u32 %s, [stay];
  mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, %s;
  @%p bra done;
  bar.sync 0;
  atom.global.add.u32 %v, [%a], 1;
done:
  ret;
}

// bar.sync with `count` threads of the block; the others go past it.
.visible .entry barrier_count(.param .u64 to) {
  .reg .u64 %a;
  .reg .u32 %t, %v;
  .reg .pred %p;
  ld.param.u64 %a, [to];
  mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, 64;
  @%p bra done;
  bar.sync 1, 64;
  atom.global.add.u32 %v, [%a], 1;
done:
  ret;
}

// Block 0 writes data[i] = i + 1, membar.gl, flag = i + 1. Block 1 waits for
// the flag, membar.gl, reads data[i]; what is not i + 1 counts in area[1], what
// was seen in area[2]. area = {flag, bad, good, pad, data...}; one thread a block.
.visible .entry pass_message(.param .u64 area, .param .u32 n, .param .u64 limit) {
  .reg .u64 %a, %d, %s, %t, %l;
  .reg .u32 %i, %n, %v, %b, %bad, %good;
  .reg .pred %p;
  ld.param.u64 %a, [area];
  ld.param.u32 %n, [n];
  ld.param.u64 %l, [limit];
  cvta.to.global.u64 %a, %a;
  add.u64 %d, %a, 16;
  mov.u64 %s, %globaltimer;
  mov.u32 %b, %ctaid.x;
  mov.u32 %i, 1;
  mov.u32 %bad, 0;
  mov.u32 %good, 0;
  setp.ne.u32 %p, %b, 0;
  @%p bra reader;
writer:
  st.global.u32 [%d], %i;
  membar.gl;
  st.volatile.global.u32 [%a], %i;
  add.u64 %d, %d, 4;
  add.u32 %i, %i, 1;
  setp.le.u32 %p, %i, %n;
  @%p bra writer;
  ret;
reader:
  ld.volatile.global.u32 %v, [%a];
  setp.ge.u32 %p, %v, %i;
  @%p bra read;
  mov.u64 %t, %globaltimer;
  sub.u64 %t, %t, %s;
  setp.gt.u64 %p, %t, %l;
  @%p bra report;
  bra reader;
read:
  membar.gl;
  ld.global.u32 %v, [%d];
  setp.eq.u32 %p, %v, %i;
  @%p add.u32 %good, %good, 1;
  @!%p add.u32 %bad, %bad, 1;
  add.u64 %d, %d, 4;
  add.u32 %i, %i, 1;
  setp.le.u32 %p, %i, %n;
  @%p bra reader;
report:
  st.global.u32 [%a+4], %bad;
  st.global.u32 [%a+8], %good;
  ret;
}

// f32 atomic and reduction on memory: area[0] += x by atom, area[1] by red.
.visible .entry atomic_add(.param .u64 area, .param .f32 x) {
  .reg .u64 %a;
  .reg .f32 %x, %o;
  ld.param.u64 %a, [area];
  ld.param.f32 %x, [x];
  cvta.to.global.u64 %a, %a;
  atom.global.add.f32 %o, [%a], %x;
  red.global.add.f32 [%a+4], %x;
  st.global.f32 [%a+8], %o;
  ret;
}
)";

}  // namespace partita
