// A generated kernel on two emulated GPUs: events, a copy from peer to peer,
// page-locked staging; equal bits in every schedule, and no finding.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "third_party/cuda_loader/driver_handles.h"

namespace partita {
namespace {

using emulated_gpu::EmulatedCuda;
using emulated_gpu::Finding;

constexpr size_t kElements = 1003;
constexpr size_t kBytes = kElements * sizeof(float);

// z = x * y + x
std::string KernelText() {
  std::ifstream file("tests/kernels/golden/scaled_sum.ptx");
  return {std::istreambuf_iterator<char>(file), {}};
}

float X(size_t i) { return 0.1f * static_cast<float>(i) - 3; }
float Y(size_t i) { return 0.7f / static_cast<float>(i + 1); }

// One GPU: its context, a stream, and x, y, z.
struct Gpu {
  Gpu(const DriverApi& driver, int device)
      : api(driver), context(*PrimaryContext::Retain(driver, device)) {
    stream = *NewStream(api, CU_STREAM_NON_BLOCKING);
    event = *NewEvent(api, CU_EVENT_DISABLE_TIMING);
    for (GlobalMemory* memory : {&x, &y, &z}) {
      *memory = *NewDeviceMemory(api, kBytes);
    }
  }

  ~Gpu() { api.CtxSetCurrent(context.get()); }  // to give the rest back

  CUresult Launch(CUkernel kernel) {
    CUdeviceptr addresses[] = {x.get(), y.get(), z.get()};
    void* parameters[] = {&addresses[0], &addresses[1], &addresses[2]};
    return api.LaunchKernel(reinterpret_cast<CUfunction>(kernel), 3, 1, 1, 64,
                            1, 1, 0, stream.get(), parameters, nullptr);
  }

  const DriverApi& api;
  PrimaryContext context;
  OwnedStream stream;
  OwnedEvent event;
  GlobalMemory x;
  GlobalMemory y;
  GlobalMemory z;
};

// z1 = f(f(x, y), y), the inner one on the first GPU, the outer on the second.
std::vector<float> ComputeOnBoth(const DriverApi& api,
                                 const std::string& text) {
  EXPECT_EQ(api.Init(0), CUDA_SUCCESS);
  Gpu one(api, 0);
  Gpu two(api, 1);
  const OwnedLibrary library = *LoadLibrary(api, text.c_str());
  CUkernel kernel = nullptr;
  EXPECT_EQ(api.LibraryGetKernel(&kernel, library.get(), "scaled_sum"),
            CUDA_SUCCESS);
  const PinnedMemory staging = *NewPinnedMemory(api, 3 * kBytes);
  auto* host = static_cast<float*>(staging.get());
  for (size_t i = 0; i < kElements; ++i) {
    host[i] = X(i);
    host[kElements + i] = Y(i);
  }
  api.MemcpyHtoDAsync(one.x.get(), host, kBytes, one.stream.get());
  api.MemcpyHtoDAsync(one.y.get(), host + kElements, kBytes, one.stream.get());
  EXPECT_EQ(one.Launch(kernel), CUDA_SUCCESS);
  api.EventRecord(one.event.get(), one.stream.get());
  api.MemcpyHtoDAsync(two.y.get(), host + kElements, kBytes, two.stream.get());
  api.StreamWaitEvent(two.stream.get(), one.event.get(), 0);
  EXPECT_EQ(api.MemcpyPeerAsync(two.x.get(), two.context.get(), one.z.get(),
                                one.context.get(), kBytes, two.stream.get()),
            CUDA_SUCCESS);
  EXPECT_EQ(two.Launch(kernel), CUDA_SUCCESS);
  api.MemcpyDtoHAsync(host + 2 * kElements, two.z.get(), kBytes,
                      two.stream.get());
  EXPECT_EQ(api.StreamSynchronize(two.stream.get()), CUDA_SUCCESS);
  return {host + 2 * kElements, host + 3 * kElements};
}

TEST(KernelsOnEmulatedGpus, TwoGpusGiveEqualBits) {
  const std::string text = KernelText();
  ASSERT_FALSE(text.empty());
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    auto cuda = EmulatedCuda::New(
        {.gpus = 2, .peers = emulated_gpu::AllPeers(2), .seed = seed});
    ASSERT_TRUE(cuda.ok()) << cuda.status();
    const std::vector<float> z = ComputeOnBoth((*cuda)->api(), text);
    for (size_t i = 0; i < kElements; ++i) {
      const float inner = std::fma(X(i), Y(i), X(i));
      ASSERT_EQ(z[i], std::fma(inner, Y(i), inner)) << i;
    }
    for (const Finding& finding : (*cuda)->findings()) {
      ADD_FAILURE() << TextOf(finding);
    }
    for (const Finding& leak : (*cuda)->leaks()) ADD_FAILURE() << TextOf(leak);
  }
}

}  // namespace
}  // namespace partita
