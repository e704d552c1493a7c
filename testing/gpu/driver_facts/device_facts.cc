// Which device and driver the facts are about.
// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "absl/strings/str_format.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

absl::StatusOr<Reading> Name(Gpu& gpu) {
  std::array<char, 256> name{};
  int version = 0;
  Steps steps(gpu.api());
  steps.Code("name",
             gpu.api().DeviceGetName(name.data(), name.size(), gpu.device()),
             CUDA_SUCCESS);
  steps.Note(name.data());
  steps.Code("version", gpu.api().DriverGetVersion(&version), CUDA_SUCCESS);
  steps.Figure("driver_version", version);
  steps.Figure("compiled_with", CUDA_VERSION);
  return steps.End();
}

absl::StatusOr<Reading> Attributes(Gpu& gpu) {
  Steps steps(gpu.api());
  const auto figure = [&](const char* name, CUdevice_attribute attribute) {
    steps.Figure(name, gpu.attribute(attribute));
  };
  figure("capability_major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  figure("capability_minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  figure("multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  figure("warp", CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  figure("clock_kHz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  figure("memory_clock_kHz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  figure("memory_bus_bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  figure("l2_bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  figure("shared_bytes_a_block",
         CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  figure("shared_bytes_a_block_most",
         CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  figure("shared_bytes_a_multiprocessor",
         CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  figure("registers_a_block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  figure("threads_a_block", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  figure("threads_a_multiprocessor",
         CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  figure("blocks_a_multiprocessor",
         CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  figure("copy_engines", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  figure("concurrent_kernels", CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
  figure("unified_addressing", CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
  figure("pageable_memory_access", CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
  figure("host_register_at_same_address",
         CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
  figure("compute_mode", CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  figure("ecc", CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"device.name", "The device and its driver", "none", "figure", Name},
    {"device.attributes", "Its attributes", "cuda.h:5498", "figure",
     Attributes},
};

}  // namespace

FactGroup DeviceFacts() { return {"device", kFacts}; }

}  // namespace partita
