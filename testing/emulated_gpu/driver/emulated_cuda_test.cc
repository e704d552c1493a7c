// The emulated machine: one at a time, leaks, options, calls that it has not.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/emulated_cuda.h"

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/program_run.h"

namespace partita::emulated_gpu {
namespace {

using driver_rules::Bench;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(EmulatedCuda, OneAtATime) {
  auto first = EmulatedCuda::New({});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = EmulatedCuda::New({});
  EXPECT_EQ(second.status().message(),
            "emulated GPUs: found a second EmulatedCuda in the process; "
            "expected one at a time; end the first one");
  first->reset();
  EXPECT_TRUE(EmulatedCuda::New({}).ok());
}

TEST(EmulatedCuda, MoreMemoryThanAddressesIsRefused) {
  EXPECT_THAT(std::string(EmulatedCuda::New({.bytes_per_gpu = int64_t{1} << 62})
                              .status()
                              .message()),
              HasSubstr("found 1 GPUs of 4611686018427387904 bytes"));
  EXPECT_TRUE(EmulatedCuda::New({.bytes_per_gpu = int64_t{1} << 39}).ok());
}

TEST(EmulatedCuda, PeersAreTwoOfItsGpus) {
  for (const char* pairs : {"0-2", "0-0", "0-1,1--1", "0"}) {
    setenv("PARTITA_EMULATED_PEERS", pairs, /*overwrite=*/1);
    EXPECT_EQ(
        OptionsFromEnvironment({.gpus = 2}).status(),
        absl::InvalidArgumentError(absl::StrCat(
            "PARTITA_EMULATED_PEERS: found \"", pairs,
            "\"; expected all, none, or pairs as 0-1,2-3 of the 2 GPUs")));
  }
  unsetenv("PARTITA_EMULATED_PEERS");
}

TEST(EmulatedCuda, NvlinksAreTwoPeers) {
  setenv("PARTITA_EMULATED_PEERS", "0-1", /*overwrite=*/1);
  setenv("PARTITA_EMULATED_NVLINKS", "1-2", /*overwrite=*/1);
  EXPECT_EQ(OptionsFromEnvironment({.gpus = 3}).status(),
            absl::InvalidArgumentError(
                "PARTITA_EMULATED_NVLINKS: found \"1-2\"; expected all, none, "
                "or pairs as 0-1,2-3 of the peers"));
  setenv("PARTITA_EMULATED_NVLINKS", "all", /*overwrite=*/1);
  const auto options = OptionsFromEnvironment({.gpus = 3});
  unsetenv("PARTITA_EMULATED_PEERS");
  unsetenv("PARTITA_EMULATED_NVLINKS");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->nvlinks, options->peers);
  EXPECT_FALSE(EmulatedCuda::New({.gpus = 2, .nvlinks = {{0, 1}}}).ok());
}

TEST(EmulatedCuda, NamesAndRoutesAreTheOptions) {
  auto cuda = EmulatedCuda::New({.gpus = 3,
                                 .name = "A name",
                                 .peers = {{0, 1}, {1, 2}},
                                 .nvlinks = {{1, 0}}});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  const DriverApi& api = (*cuda)->api();
  EXPECT_TRUE(api.emulated);
  EXPECT_EQ(api.Init(0), CUDA_SUCCESS);
  char name[32] = "";
  EXPECT_EQ(api.DeviceGetName(name, sizeof(name), 2), CUDA_SUCCESS);
  EXPECT_STREQ(name, "A name");
  const auto get = [&](CUdevice_P2PAttribute attribute, int from, int to) {
    int value = -1;
    EXPECT_EQ(api.DeviceGetP2PAttribute(&value, attribute, from, to),
              CUDA_SUCCESS);
    return value;
  };
  struct Expected {
    int from, to, access, atomics, rank;
  };
  for (const auto& [from, to, access, atomics, rank] :
       {Expected{0, 1, 1, 1, 0}, Expected{1, 0, 1, 1, 0},
        Expected{1, 2, 1, 0, 1}, Expected{0, 2, 0, 0, 1}}) {
    EXPECT_EQ(get(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, from, to), access);
    EXPECT_EQ(get(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from, to),
              atomics);
    EXPECT_EQ(get(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, from, to), rank);
  }
}

// Once for each context that it is loaded in.
TEST(EmulatedCuda, LoadedCodeTakesMemory) {
  const auto free_of = [](Bench& bench) {
    size_t free = 0;
    bench.Is("free", bench.api.MemGetInfo(&free, nullptr));
    return free;
  };
  const auto texts = FindingsOf(
      [&](Bench& bench) {
        const size_t before = free_of(bench);
        bench.Is("launch", bench.Launch(bench.one, "empty"));
        bench.Is("launch again", bench.Launch(bench.one, "empty"));
        bench.Equals("taken", before - free_of(bench), size_t{1 << 20});
        CUfunction function = nullptr;
        bench.Is(
            "no room",
            bench.api.KernelGetFunction(&function, bench.Kernel("set_word")),
            CUDA_ERROR_OUT_OF_MEMORY);
      },
      {.bytes_per_gpu = (1 << 20) + (1 << 19), .bytes_per_kernel = 1 << 20});
  EXPECT_THAT(texts, IsEmpty());
}

TEST(EmulatedCuda, LeaksAreNamed) {
  auto cuda = EmulatedCuda::New({});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  const DriverApi& api = (*cuda)->api();
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  EXPECT_EQ(api.Init(0), CUDA_SUCCESS);
  EXPECT_EQ(api.DevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.CtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(api.MemAlloc(&memory, 100), CUDA_SUCCESS);
  EXPECT_EQ(api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(api.GraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_THAT(
      TextsOf((*cuda)->leaks()),
      testing::ElementsAre(
          "leak: block 1 (of gpu 0) (100 bytes) was not given back",
          "leak: stream 1 of the primary context of gpu 0 was not given back",
          "leak: graph 1 was not given back",
          "leak: the primary context of gpu 0 was not given back"));
  EXPECT_EQ(api.DevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(api.CtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_THAT(TextsOf((*cuda)->findings()),
              testing::ElementsAre("leak: block 1 (of gpu 0) was in use when "
                                   "the primary context of gpu 0 ended",
                                   "leak: stream 1 of the primary context of "
                                   "gpu 0 was in use when the primary context "
                                   "of gpu 0 ended"));
}

TEST(EmulatedCuda, ACallThatIsNotEmulatedIsNamed) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        CUdeviceptr memory = 0;
        bench.Is("cuMemAllocAsync",
                 bench.api.MemAllocAsync(&memory, 64, bench.one),
                 CUDA_ERROR_NOT_SUPPORTED);
      },
      {});
  EXPECT_THAT(texts,
              testing::ElementsAre(
                  "not emulated: cuMemAllocAsync: the call is not emulated"));
}

TEST(EmulatedCuda, AHostFunctionMakesNoCalls) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        struct Inside {
          Bench* bench;
          CUresult result;
        } inside = {&bench, CUDA_SUCCESS};
        const CUhostFn function = [](void* pointer) {
          auto* call = static_cast<Inside*>(pointer);
          CUdeviceptr memory = 0;
          call->result = call->bench->api.MemAlloc(&memory, 64);
        };
        bench.Is("host function",
                 bench.api.LaunchHostFunc(bench.one, function, &inside));
        bench.Is("synchronize", bench.api.StreamSynchronize(bench.one));
        bench.Is("the call inside", inside.result, CUDA_ERROR_NOT_PERMITTED);
      },
      {});
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("misuse: cuMemAlloc"));
}

TEST(EmulatedCuda, PeerCopiesMayBeCaptured) {
  EmulatedGpuOptions options;
  options.readings.peer_copy_captures = true;
  EXPECT_THAT(
      FindingsOf(
          [](Bench& bench) {
            const DriverApi& api = bench.api;
            const CUdeviceptr a = bench.Memory(64);
            const CUdeviceptr b = bench.Memory(64);
            CUgraph graph = nullptr;
            bench.Is("begin",
                     api.StreamBeginCapture(
                         bench.one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            bench.Is("copy", api.MemcpyPeerAsync(a, bench.context, b,
                                                 bench.context, 64, bench.one));
            bench.Is("end", api.StreamEndCapture(bench.one, &graph));
            bench.Equals("nodes", bench.NodesOf(graph),
                         std::string("memcpy 1"));
            bench.Is("destroy", api.GraphDestroy(graph));
          },
          options),
      IsEmpty());
}

TEST(EmulatedCuda, ADestroyedStreamTakesItsCaptureAlong) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        const DriverApi& api = bench.api;
        CUstream stream = nullptr;
        bench.Is("create", api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        bench.Is("begin", api.StreamBeginCapture(
                              stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        bench.Is("destroy", api.StreamDestroy(stream));
        bench.Memory(64);  // unsafe calls are allowed again
      },
      {});
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0],
              HasSubstr("capture: cuStreamDestroy of a capturing stream"));
}

TEST(EmulatedCuda, ATargetThatIsTooNewForTheDeviceIsRefused) {
  auto cuda = EmulatedCuda::New({.compute_capability_major = 8});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  Bench bench((*cuda)->api());
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  bench.Is("load", bench.api.LibraryLoadData(
                       &library,
                       ".version 8.0\n.target sm_90\n.address_size 64\n"
                       ".visible .entry f()\n{\nret;\n}\n",
                       nullptr, nullptr, 0, nullptr, nullptr, 0));
  bench.Is("get", bench.api.LibraryGetKernel(&kernel, library, "f"),
           CUDA_ERROR_INVALID_PTX);
  bench.Is("unload", bench.api.LibraryUnload(library));
  EXPECT_EQ(bench.faults(), "");
}

TEST(EmulatedCuda, AGraphIsNotLaunchedOnceItsCodeIsUnloaded) {
  auto cuda = EmulatedCuda::New({});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  {
    Bench bench((*cuda)->api());
    const DriverApi& api = bench.api;
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    bench.Is("load", api.LibraryLoadData(
                         &library,
                         ".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry f()\n{\nret;\n}\n",
                         nullptr, nullptr, 0, nullptr, nullptr, 0));
    bench.Is("get", api.LibraryGetKernel(&kernel, library, "f"));
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = reinterpret_cast<CUfunction>(kernel);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.ctx = bench.context;
    const CUgraph graph = bench.Graph();
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    bench.Is("add", api.GraphAddKernelNode(&node, graph, nullptr, 0, &params));
    bench.Is("instantiate", api.GraphInstantiate(&exec, graph, 0));
    bench.Is("launch", api.GraphLaunch(exec, bench.one));
    bench.Is("synchronize", api.StreamSynchronize(bench.one));
    bench.Is("unload", api.LibraryUnload(library));
    bench.Is("launch again", api.GraphLaunch(exec, bench.one),
             CUDA_ERROR_INVALID_VALUE);
    bench.Is("destroy", api.GraphExecDestroy(exec));
    EXPECT_EQ(bench.faults(), "");
  }
  EXPECT_THAT(TextsOf((*cuda)->findings()),
              testing::ElementsAre(
                  HasSubstr("cuGraphLaunch: found kernel f, whose library was "
                            "unloaded")));
}

// The same seed, the same order: the values of a racing program are equal.
TEST(EmulatedCuda, RunsAreRepeatedFromTheirSeed) {
  const auto run = [](uint64_t seed) {
    auto cuda = EmulatedCuda::New({.seed = seed});
    Bench bench((*cuda)->api());
    const CUdeviceptr word = bench.Memory(4);
    for (uint32_t i = 0; i < 8; ++i) {
      bench.Launch(bench.one, "set_word", word, i);
      bench.Launch(bench.two, "add_word", word, 100u);
    }
    bench.api.CtxSynchronize();
    return bench.Word(word);
  };
  std::set<uint32_t> seen;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(run(seed), run(seed));
    seen.insert(run(seed));
  }
  EXPECT_GT(seen.size(), 1u);
}

}  // namespace
}  // namespace partita::emulated_gpu
