// The interpreter of PTX: accesses, places, faults, and single instructions.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/executor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/ptx/guarded_blocks.h"
#include "testing/emulated_gpu/ptx/parser.h"

namespace partita::ptx {
namespace {

constexpr char kHead[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry f(.param .u64 to)\n{ .shared .align 8 .b8 s[256];\n"
    ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
    ".reg .b64 %rd<9>; .reg .f64 %fd<9>;\n"
    "ld.param.u64 %rd0, [to];\n";

// Runs a body over words of memory at %rd0; the body's first line is line 9.
absl::Status RunBody(absl::string_view body, std::vector<uint64_t>& words,
                     Extents grid = {}, Extents block = {},
                     LaunchOptions options = {}) {
  const auto module =
      ParseModule(absl::StrCat(kHead, body, "\nret;\n}\n"), "a.ptx");
  if (!module.ok()) return module.status();
  GuardedBlocks memory;
  const uint64_t address =
      memory.Add({reinterpret_cast<std::byte*>(words.data()), words.size() * 8},
                 Permission::kReadAndWrite);
  return Launch(module->kernels[0], grid, block, {address}, memory, options);
}

// The word that a body leaves in the memory.
uint64_t Result(absl::string_view body, uint64_t first = 0,
                NanRules nan = NanRules::kCanonical) {
  std::vector<uint64_t> words = {first, 0};
  const absl::Status status = RunBody(body, words, {}, {}, {.nan = nan});
  EXPECT_TRUE(status.ok()) << status;
  return words[0];
}

TEST(PtxExecutor, EveryThreadHasItsIndices) {
  std::vector<uint64_t> words(12);
  const absl::Status status = RunBody(
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
      "mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 8;\n"
      "add.s64 %rd2, %rd0, %rd1;\nadd.s32 %r5, %r4, 100;\n"
      "cvt.u64.u32 %rd3, %r5;\nst.global.u64 [%rd2], %rd3;",
      words, {.x = 3}, {.x = 4}, {.seed = 7});
  ASSERT_TRUE(status.ok()) << status;
  for (uint64_t i = 0; i < 12; ++i) EXPECT_EQ(words[i], 100 + i);
}

TEST(PtxExecutor, FaultsNameLineBlockAndThread) {
  std::vector<uint64_t> words(2);
  const auto message = [&](absl::string_view body, Extents block = {}) {
    return std::string(
        RunBody(body, words, {}, block, {.most_instructions = 100}).message());
  };
  EXPECT_EQ(message("ld.global.u64 %rd1, [%rd0+16];"),
            "kernel f, line 9, block 0, thread 0: ld.global.u64: found a read "
            "of 8 bytes at 0x10000000010; expected bytes of a block that may "
            "be read");
  EXPECT_EQ(message("ld.global.u64 %rd1, [%rd0+4];"),
            "kernel f, line 9, block 0, thread 0: ld.global.u64: found the "
            "address 10000000004 of 8 bytes; expected a multiple of their "
            "number");
  EXPECT_EQ(message("mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;\n"
                    "@%p1 mov.u32 %r2, 1;\nadd.s32 %r3, %r2, 1;",
                    {.x = 2}),
            "kernel f, line 12, block 0, thread 1: add.s32: found a register "
            "that no instruction wrote; expected registers written before");
  EXPECT_EQ(message("$L:\nbra $L;"),
            "kernel f, line 10, block 0, thread 0: bra: found more "
            "instructions than the limit; expected an end of the loop");
  EXPECT_EQ(message("ret;", {.x = 1025}),
            "kernel f: found 1025 threads of a block; expected 1 to 1024");
  EXPECT_EQ(message("ret;", {.z = 65}),
            "kernel f: found a grid of 1 rows and 1 planes, a block of 65 "
            "planes; expected at most 65535, 65535 and 64");
  EXPECT_EQ(message("ret;", {.x = 200}),
            "kernel f: found 200 threads; expected at most as many as "
            "instructions may run, 100");
}

// A thread costs its instructions, not the registers that a text declares: else
// the limit of instructions would bound neither time nor threads, and this test
// would end in its timeout.
TEST(PtxExecutor, ThreadsDoNotPayForDeclaredRegisters) {
  std::vector<uint64_t> words(1);
  const absl::Status status =
      RunBody(".reg .b64 %many<60000>;", words, {.x = 4096}, {.x = 1024});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(PtxExecutor, EachThreadStartsWithoutWrittenRegisters) {
  std::vector<uint64_t> words(1);
  const absl::Status status = RunBody(
      "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;\n"
      "@%p1 mov.u32 %r2, 1;\n@%p1 ret;\nadd.s32 %r3, %r2, 1;",
      words, {}, {.x = 3});
  EXPECT_EQ(status.message(),
            "kernel f, line 13, block 0, thread 1: add.s32: found a register "
            "that no instruction wrote; expected registers written before");
}

TEST(PtxExecutor, OperandsMayNotBeWritten) {
  const auto module = ParseModule(
      absl::StrCat(kHead, "st.global.u64 [%rd0], %rd0;\nret;\n}\n"), "a.ptx");
  ASSERT_TRUE(module.ok()) << module.status();
  std::byte bytes[8];
  GuardedBlocks memory;
  const uint64_t address = memory.Add(bytes, Permission::kRead);
  EXPECT_EQ(Launch(module->kernels[0], {}, {}, {address}, memory).message(),
            "kernel f, line 9, block 0, thread 0: st.global.u64: found a write "
            "of 8 bytes at 0x10000000000; expected bytes of a block that may "
            "be written");
}

TEST(PtxExecutor, VectorsAreInTheOrderOfAddresses) {
  std::vector<uint64_t> words = {0x0000000200000001u, 0x0000000400000003u};
  const absl::Status status = RunBody(
      "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];\n"
      "st.global.v4.u32 [%rd0], {%r4, %r3, %r2, %r1};",
      words);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(words[0], 0x0000000300000004u);
  EXPECT_EQ(words[1], 0x0000000100000002u);
}

TEST(PtxExecutor, NarrowValuesFillWiderRegisters) {
  EXPECT_EQ(
      Result("ld.global.s8 %rs1, [%rd0];\nst.global.u16 [%rd0], %rs1;", 0x80),
      0xff80u);
  EXPECT_EQ(
      Result("ld.global.u8 %rs1, [%rd0];\nst.global.u16 [%rd0], %rs1;", 0x1280),
      0x80u);
  EXPECT_EQ(Result("ld.global.u32 %r1, [%rd0];\n"
                   "{ .reg .b16 low; mov.b32 {low, %rs1}, %r1; }\n"
                   "cvt.u32.u16 %r2, %rs1;\nst.global.u32 [%rd0], %r2;",
                   0x12345678),
            0x1234u);
  EXPECT_EQ(Result("mov.b16 %rs1, 1;\nmov.b16 %rs2, 2;\n"
                   "mov.b32 %r1, {%rs1, %rs2};\nst.global.u32 [%rd0], %r1;"),
            0x20001u);
}

// `operation` of two values of 32 bits at %rd0.
uint64_t Of32(absl::string_view operation, uint32_t a, uint32_t b) {
  return Result(absl::StrCat("ld.global.v2.u32 {%r1, %r2}, [%rd0];\n"
                             "mov.b64 %rd1, 0;\nst.global.u64 [%rd0], %rd1;\n",
                             operation, "\nst.global.u32 [%rd0], %r3;"),
                a | uint64_t{b} << 32);
}

TEST(PtxExecutor, IntegersAreThoseOfPtx) {
  EXPECT_EQ(Of32("mul.hi.s32 %r3, %r1, %r2;", 0x80000000u, 2), 0xffffffffu);
  EXPECT_EQ(Of32("mul.hi.u32 %r3, %r1, %r2;", 0x80000000u, 2), 1u);
  EXPECT_EQ(Of32("shl.b32 %r3, %r1, %r2;", 3, 33), 0u);
  EXPECT_EQ(Of32("shr.s32 %r3, %r1, %r2;", 0x80000000u, 40), 0xffffffffu);
  EXPECT_EQ(Of32("abs.s32 %r3, %r1;", 0x80000000u, 0), 0x80000000u);
  EXPECT_EQ(Of32("div.s32 %r3, %r1, %r2;", 0xfffffff9u, 2), 0xfffffffdu);
  EXPECT_EQ(Of32("div.u32 %r3, %r1, %r2;", 0xfffffff9u, 2), 0x7ffffffcu);
  EXPECT_EQ(Of32("rem.s32 %r3, %r1, %r2;", 0xfffffff9u, 2), 0xffffffffu);
  EXPECT_EQ(Of32("rem.u32 %r3, %r1, %r2;", 0xfffffff9u, 5), 4u);
  EXPECT_EQ(Of32("div.s32 %r3, %r1, %r2;", 0x80000000u, ~0u), 0x80000000u);
  EXPECT_EQ(Of32("bfe.u32 %r3, %r1, 4, 8;", 0x12345678, 0), 0x67u);
  EXPECT_EQ(Of32("bfe.s32 %r3, %r1, 4, 4;", 0x12345f8f, 0), 0xfffffff8u);
  EXPECT_EQ(Of32("bfe.s32 %r3, %r1, 28, 8;", 0x80000000u, 0), 0xfffffff8u);
  EXPECT_EQ(Of32("setp.lo.u32 %p1, %r1, %r2;\nselp.b32 %r3, 5, 6, %p1;", 1,
                 0x80000000u),
            5u);
  EXPECT_EQ(Of32("setp.lt.s32 %p1, %r1, %r2;\nselp.b32 %r3, 5, 6, %p1;", 1,
                 0x80000000u),
            6u);
  EXPECT_EQ(Result("ld.global.s32 %rd1, [%rd0];\nst.global.u64 [%rd0], %rd1;",
                   0xfffffffeu),
            0xfffffffffffffffeu);
  EXPECT_EQ(Result("mov.u32 %r1, -2;\nmul.wide.s32 %rd1, %r1, 3;\n"
                   "st.global.u64 [%rd0], %rd1;"),
            static_cast<uint64_t>(-6));
}

uint64_t OfF32(absl::string_view operation, float a) {
  return Result(absl::StrCat("ld.global.f32 %f1, [%rd0];\n", operation),
                std::bit_cast<uint32_t>(a));
}

TEST(PtxExecutor, ConversionsToIntegersAreThoseOfPtx) {
  constexpr char kTo32[] =
      "cvt.rzi.s32.f32 %r1, %f1;\nst.global.u32 [%rd0], %r1;";
  constexpr char kTo64[] =
      "cvt.rzi.s64.f32 %rd1, %f1;\nst.global.u64 [%rd0], %rd1;";
  EXPECT_EQ(OfF32(kTo32, -1.75f), 0xffffffffu);
  EXPECT_EQ(OfF32(kTo32, 3e9f), 0x7fffffffu);
  EXPECT_EQ(OfF32(kTo32, NAN), 0u);
  EXPECT_EQ(OfF32(kTo64, NAN), 0x8000000000000000u);
  EXPECT_EQ(OfF32(kTo64, INFINITY), 0x7fffffffffffffffu);
}

TEST(PtxExecutor, ComparisonsOfNaNAreOrderedOrNot) {
  const auto holds = [](absl::string_view relation, float a) {
    return OfF32(absl::StrCat("setp.", relation,
                              ".f32 %p1, %f1, 0f3F800000;\n"
                              "selp.u32 %r1, 1, 0, %p1;\n"
                              "st.global.u32 [%rd0], %r1;"),
                 a);
  };
  EXPECT_EQ(holds("lt", NAN), 0u);
  EXPECT_EQ(holds("ltu", NAN), 1u);
  EXPECT_EQ(holds("ne", NAN), 0u);
  EXPECT_EQ(holds("neu", NAN), 1u);
  EXPECT_EQ(holds("num", NAN), 0u);
  EXPECT_EQ(holds("nan", NAN), 1u);
  EXPECT_EQ(holds("num", 2), 1u);
  EXPECT_EQ(holds("ge", 1), 1u);
}

// fma of three doubles that are NaNs with the payloads 1, 2, 3, or 1.
uint64_t FmaOfNans(bool a, bool b, bool c, NanRules nan) {
  const auto word = [](bool is_nan, int payload) {
    return absl::StrCat(is_nan ? "0d7FF800000000000" : "0d3FF000000000000",
                        is_nan ? payload : 0);
  };
  return Result(
      absl::StrCat("fma.rn.f64 %fd1, ", word(a, 1), ", ", word(b, 2), ", ",
                   word(c, 3), ";\nst.global.f64 [%rd0], %fd1;"),
      0, nan);
}

// docs/reference/gpu_facts.md, the bits of NaN results.
TEST(PtxExecutor, AnH100KeepsNaNsOfF64) {
  constexpr NanRules kH100 = NanRules::kH100;
  EXPECT_EQ(FmaOfNans(true, true, true, kH100), 0x7ff8000000000002u);
  EXPECT_EQ(FmaOfNans(true, false, true, kH100), 0x7ff8000000000003u);
  EXPECT_EQ(FmaOfNans(true, false, false, kH100), 0x7ff8000000000001u);
  EXPECT_EQ(FmaOfNans(true, true, true, NanRules::kCanonical),
            0x7fffffffffffffffu);
  EXPECT_EQ(Result("sqrt.rn.f64 %fd1, 0dBFF0000000000000;\n"
                   "st.global.f64 [%rd0], %fd1;",
                   0, kH100),
            0xfff8000000000000u);
  EXPECT_EQ(Result("neg.f64 %fd1, 0d7FF0000000000001;\n"
                   "st.global.f64 [%rd0], %fd1;",
                   0, kH100),
            0x7ff8000000000001u);
  EXPECT_EQ(Result("cvt.rn.f16.f64 %rs1, 0d7FF6A9B7D2373D32;\n"
                   "st.global.b16 [%rd0], %rs1;",
                   0, kH100),
            0x7faau);
  EXPECT_EQ(
      Result("neg.f32 %f1, 0fFFC00001;\nst.global.f32 [%rd0], %f1;", 0, kH100),
      0x7fffffffu);
}

// Thread t stores the value %r3 to word t.
constexpr char kStoreR3[] =
    "mul.wide.u32 %rd6, %r1, 8; add.s64 %rd7, %rd0, %rd6;\n"
    "cvt.u64.u32 %rd8, %r3; st.global.u64 [%rd7], %rd8;";
// %r1 is the thread, %rd3 the address of its element of s.
constexpr char kOwnElement[] =
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, s; "
    "add.s64 %rd3, %rd2, %rd1;\n";

TEST(PtxExecutor, ABarrierLetsThreadsReadWhatOthersWrote) {
  const std::string body =
      absl::StrCat(kOwnElement, "st.shared.u32 [%rd3], %r1;\nbar.sync 0;\n",
                   "xor.b32 %r2, %r1, 63; mul.wide.u32 %rd4, %r2, 4;\n"
                   "add.s64 %rd5, %rd2, %rd4; ld.shared.u32 %r3, [%rd5];\n",
                   kStoreR3);
  for (uint64_t seed : {0, 1, 2}) {
    std::vector<uint64_t> words(64);
    const absl::Status status =
        RunBody(body, words, {.x = 2}, {.x = 64}, {.seed = seed});
    // The blocks write the same words, in sequence.
    ASSERT_TRUE(status.ok()) << status;
    for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], 63 - i);
  }
}

TEST(PtxExecutor, RacesInSharedMemoryAreReported) {
  std::vector<uint64_t> words(64);
  const auto message = [&](absl::string_view body) {
    return std::string(
        RunBody(absl::StrCat(kOwnElement, body), words, {}, {.x = 2})
            .message());
  };
  EXPECT_EQ(message("ld.shared.u32 %r3, [%rd3];"),
            "kernel f, line 10, block 0, thread 0: ld.shared.u32: found a read "
            "of shared memory that no thread wrote; expected bytes written "
            "before");
  EXPECT_EQ(message("st.shared.u32 [s], %r1;"),
            "kernel f, line 10, block 0, thread 1: st.shared.u32: found a "
            "write of a byte that thread 0 wrote; expected a barrier between "
            "them");
  EXPECT_EQ(message("setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], %r1;\n"
                    "ld.shared.u32 %r3, [s];"),
            "kernel f, line 11, block 0, thread 1: ld.shared.u32: found a read "
            "of a byte that thread 0 wrote; expected a barrier between them");
  EXPECT_EQ(message("setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], %r1;\n"
                    "bar.sync 0; ld.shared.u32 %r3, [s];\n"
                    "@!%p1 st.shared.u32 [s], %r1;"),
            "kernel f, line 12, block 0, thread 1: st.shared.u32: found a "
            "write of a byte that thread 0 read; expected a barrier between "
            "them");
  EXPECT_EQ(message("st.shared.u32 [%rd3+256], %r1;"),
            "kernel f, line 10, block 0, thread 0: st.shared.u32: found 4 "
            "bytes of shared memory at 53504; expected bytes of one variable");
}

TEST(PtxExecutor, ShufflesTakeValuesOfOtherThreads) {
  const auto shuffled = [&](absl::string_view operation) {
    std::vector<uint64_t> words(64);
    const absl::Status status =
        RunBody(absl::StrCat("mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 100;\n",
                             operation, "\n", kStoreR3),
                words, {}, {.x = 64}, {.seed = 9});
    EXPECT_TRUE(status.ok()) << status;
    return words;
  };
  const auto down = shuffled("shfl.sync.down.b32 %r3, %r2, 2, 31, -1;");
  const auto up = shuffled("shfl.sync.up.b32 %r3, %r2, 2, 0, -1;");
  const auto butterfly = shuffled("shfl.sync.bfly.b32 %r3, %r2, 5, 31, -1;");
  const auto from = shuffled("shfl.sync.idx.b32 %r3, %r2, 7, 31, -1;");
  // Segments of eight threads.
  const auto segments = shuffled("shfl.sync.idx.b32 %r3, %r2, 3, 6175, -1;");
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(down[i], 100 + (i % 32 < 30 ? i + 2 : i)) << i;
    EXPECT_EQ(up[i], 100 + (i % 32 < 2 ? i : i - 2)) << i;
    EXPECT_EQ(butterfly[i], 100 + (i ^ 5)) << i;
    EXPECT_EQ(from[i], 100 + i / 32 * 32 + 7) << i;
    EXPECT_EQ(segments[i], 100 + i / 8 * 8 + 3) << i;
  }
}

TEST(PtxExecutor, DivergenceIsReported) {
  std::vector<uint64_t> words(64);
  const auto message = [&](absl::string_view body) {
    return std::string(
        RunBody(absl::StrCat("mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 3;\n",
                             body),
                words, {}, {.x = 64})
            .message());
  };
  EXPECT_EQ(message("@%p1 ret;\nbar.sync 0;"),
            "kernel f, line 11, block 0, thread 0: bar.sync: found a thread of "
            "the block that has ended; expected all threads of the block at "
            "the same barrier");
  EXPECT_EQ(message("@%p1 bar.sync 0;\nbar.sync 0;"),
            "kernel f, line 11, block 0, thread 0: bar.sync: found a thread of "
            "the block at line 10; expected all threads of the block at the "
            "same barrier");
  EXPECT_EQ(message("@!%p1 shfl.sync.down.b32 %r2, %r1, 1, 31, -1;"),
            "kernel f, line 10, block 0, thread 0: shfl.sync.down.b32: found "
            "no thread 3 of the warp at this shuffle, of mask ffffffff; "
            "expected all threads of the mask, the own one among them");
  EXPECT_EQ(message("@!%p1 shfl.sync.down.b32 %r2, %r1, 1, 31, -9;"),
            "kernel f, line 10, block 0, thread 2: shfl.sync.down.b32: found a "
            "value of thread 3 of the warp; expected one of a thread of the "
            "mask");
  EXPECT_EQ(message("bar.sync 1;"),
            "kernel f, line 10, block 0, thread 0: bar.sync: found barrier 1; "
            "expected barrier 0");
}

TEST(PtxExecutor, AKernelMayNeedAnExactBlock) {
  const auto module = ParseModule(
      ".version 8.0 .target sm_80 .address_size 64 .visible .entry f() "
      ".reqntid 64 { ret; }",
      "a.ptx");
  ASSERT_TRUE(module.ok()) << module.status();
  GuardedBlocks memory;
  EXPECT_EQ(Launch(module->kernels[0], {}, {.x = 32}, {}, memory).message(),
            "kernel f: found 32 threads of a block; expected 64");
  EXPECT_TRUE(Launch(module->kernels[0], {}, {.x = 64}, {}, memory).ok());
}

}  // namespace
}  // namespace partita::ptx
