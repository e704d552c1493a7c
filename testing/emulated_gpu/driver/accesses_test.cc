// What kernels and copies access: bounds, undefined bytes, threads that race.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "testing/emulated_gpu/driver/program_run.h"

namespace partita::emulated_gpu {
namespace {

using driver_rules::Bench;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Single kernels.

TEST(Accesses, AKernelReadsUndefinedBytes) {
  EXPECT_EQ(MissingInSchedules(
                "undefined bytes",
                [](Bench& bench) {
                  CUdeviceptr from = 0;
                  const CUdeviceptr to = bench.Memory(4);
                  bench.Is("alloc", bench.api.MemAlloc(&from, 4));
                  bench.Is("launch",
                           bench.Launch(bench.one, "copy_word", to, from));
                  EXPECT_NE(bench.Word(to), 0u);  // junk
                  bench.Is("free", bench.api.MemFree(from));
                }),
            "");
}

TEST(Accesses, UndefinedBytesAreCopiedAndReportedOnTheirWayToTheHost) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        const DriverApi& api = bench.api;
        CUdeviceptr from = 0;
        const CUdeviceptr to = bench.Memory(8);
        uint32_t words[2] = {};
        bench.Is("alloc", api.MemAlloc(&from, 8));
        bench.Is("fill", api.MemsetD32Async(from, 3, 1, bench.one));
        bench.Is("copy", api.MemcpyDtoDAsync(to, from, 8, bench.one));
        bench.Is("fetch", api.MemcpyDtoHAsync(words, to, 4, bench.one));
        EXPECT_EQ(words[0], 3u);
        bench.Is("fetch", api.MemcpyDtoHAsync(words, to, 8, bench.one));
        bench.Is("free", api.MemFree(from));
      },
      {});
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("undefined bytes: copy of 8 bytes"));
  EXPECT_THAT(texts[0], HasSubstr("reads byte 4 of block 1"));
}

TEST(Accesses, AKernelWritesBehindItsBlock) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        const CUdeviceptr memory = bench.Memory(100);
        bench.Is("launch",
                 bench.Launch(bench.one, "set_word", memory + 100, 1u));
        bench.Is("synchronize", bench.api.StreamSynchronize(bench.one),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
      },
      {});
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("out of bounds: kernel set_word"));
  EXPECT_THAT(texts[0], HasSubstr("0 bytes behind the end of block 1"));
}

TEST(Accesses, AFreedBlockIsNamed) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        CUdeviceptr memory = 0;
        bench.Is("alloc", bench.api.MemAlloc(&memory, 64));
        bench.Is("free", bench.api.MemFree(memory));
        bench.Is("launch", bench.Launch(bench.one, "set_word", memory, 1u));
        bench.Is("synchronize", bench.api.StreamSynchronize(bench.one),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
        bench.Is("free again", bench.api.MemFree(memory),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
      },
      {});
  ASSERT_EQ(texts.size(), 2);
  EXPECT_THAT(texts[0], HasSubstr("of block 1 (of gpu 0), which was freed"));
  EXPECT_THAT(texts[1], HasSubstr("misuse: cuMemFree"));
}

TEST(Accesses, PeersMemoryNeedsAccess) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        SecondGpu far(bench);
        bench.Is("disable", bench.api.CtxDisablePeerAccess(far.context));
        bench.Is("launch", bench.Launch(bench.one, "set_word", far.memory, 1u));
        bench.Is("synchronize", bench.api.StreamSynchronize(bench.one),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
      },
      ScheduleOptions(1));
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("foreign memory: kernel set_word"));
  EXPECT_THAT(texts[0],
              HasSubstr("the primary context of gpu 0 has no access to"));
}

TEST(Accesses, AHostPointerIsNoDeviceAddress) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        const CUdeviceptr memory = bench.Memory(64);
        bench.Is("HtoD from the device",
                 bench.api.MemcpyHtoDAsync(
                     memory, reinterpret_cast<const void*>(memory + 32), 32,
                     bench.one),
                 CUDA_ERROR_INVALID_VALUE);
      },
      {});
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("host dereference: cuMemcpyHtoDAsync"));
}

TEST(AccessesDeathTest, TheHostCannotReadDeviceMemory) {
  auto cuda = EmulatedCuda::New({});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  Bench bench((*cuda)->api());
  const CUdeviceptr memory = bench.Memory(64);
  EXPECT_DEATH(
      {
        const volatile int word = *reinterpret_cast<const int*>(memory);
        static_cast<void>(word);
      },
      "");
}

// ---- Threads of one launch.

constexpr char kThreads[] = R"(
.version 8.0
.target sm_80
.address_size 64

// Thread i of n writes to[i], or to[0] if `same`.
.visible .entry write_words(.param .u64 to, .param .u32 same)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [to];
  ld.param.u32 %r0, [same];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1;
  setp.ne.s32 %p, %r0, 0;
  @%p mov.u32 %r4, 0;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
}

.visible .entry forever()
{
again:
  bra again;
}
)";

std::vector<std::string> LaunchThreads(const char* name, unsigned same,
                                       CUresult expected) {
  auto cuda = EmulatedCuda::New({.most_instructions = 100000});
  if (!cuda.ok()) return {std::string(cuda.status().message())};
  {
    Bench bench((*cuda)->api());
    const DriverApi& api = bench.api;
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    bench.Is("load", api.LibraryLoadData(&library, kThreads, nullptr, nullptr,
                                         0, nullptr, nullptr, 0));
    bench.Is("kernel", api.LibraryGetKernel(&kernel, library, name));
    CUdeviceptr memory = bench.Memory(256);
    void* parameters[] = {&memory, &same};
    bench.Is("launch",
             api.LaunchKernel(reinterpret_cast<CUfunction>(kernel), 2, 1, 1, 32,
                              1, 1, 0, bench.one, parameters, nullptr));
    bench.Is("synchronize", api.StreamSynchronize(bench.one), expected);
    bench.Is("unload", api.LibraryUnload(library));
    EXPECT_EQ(bench.faults(), "");
  }
  return TextsOf((*cuda)->findings());
}

TEST(Accesses, ThreadsOfOneLaunchRace) {
  EXPECT_THAT(LaunchThreads("write_words", 0, CUDA_SUCCESS), IsEmpty());
  const auto texts = LaunchThreads("write_words", 1, CUDA_SUCCESS);
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("which another thread of the launch writes"));
}

TEST(Accesses, AKernelThatDoesNotEndIsADeadlock) {
  const auto texts = LaunchThreads("forever", 0, CUDA_ERROR_LAUNCH_TIMEOUT);
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("deadlock: kernel forever"));
}

TEST(Accesses, ACopyNodeNeedsAccessToTheMemoryOfItsPeer) {
  const auto texts_with = [](bool access) {
    return FindingsOf(
        [access](Bench& bench) {
          const DriverApi& api = bench.api;
          const CUdeviceptr near = bench.Memory(64);
          const SecondGpu far(bench);
          if (!access) {
            bench.Is("no access", api.CtxDisablePeerAccess(far.context));
          }
          bench.AddCopy(bench.Graph(), {}, far.memory, near, 64);
        },
        ScheduleOptions(1));
  };
  EXPECT_THAT(texts_with(true), IsEmpty());
  const auto texts = texts_with(false);
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0],
              HasSubstr("foreign memory: cuGraphAddMemcpyNode: found "));
  EXPECT_THAT(texts[0], HasSubstr("expected a copy by way of the host"));
}

}  // namespace
}  // namespace partita::emulated_gpu
