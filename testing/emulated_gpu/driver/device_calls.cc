// The devices, and what they are made of.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "testing/emulated_gpu/driver/driver.h"
#include "testing/emulated_gpu/driver/visible_gpus.h"

namespace partita::emulated_gpu {
namespace {

struct Attribute {
  CUdevice_attribute name;
  int value;
};

// Of an H100 (device.attributes), for what the options do not say.
constexpr Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    {CU_DEVICE_ATTRIBUTE_TCC_DRIVER, 0},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 0},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0},
};

bool AreJoined(const std::vector<std::pair<int, int>>& pairs, int a, int b) {
  return a != b && (absl::c_linear_search(pairs, std::pair(a, b)) ||
                    absl::c_linear_search(pairs, std::pair(b, a)));
}

bool ArePeers(const EmulatedGpuOptions& options, int a, int b) {
  return AreJoined(options.peers, a, b);
}

}  // namespace

CUresult Driver::DeviceGet(CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (ordinal < 0 || ordinal >= static_cast<int>(visible_.size())) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult Driver::DeviceGetCount(int* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(visible_.size());
  return CUDA_SUCCESS;
}

// cuda.h:5324: a name that is longer is shortened.
CUresult Driver::DeviceGetName(char* name, int length, CUdevice number) {
  Device* device = nullptr;
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  std::snprintf(name, static_cast<size_t>(length), "%s", options_.name.c_str());
  return CUDA_SUCCESS;
}

CUresult Driver::DeviceGetUuid(CUuuid* uuid, CUdevice number) {
  Device* device = nullptr;
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  *uuid = UuidOfGpu(visible_[number]);
  return CUDA_SUCCESS;
}

// cuda.h:9194: [domain]:[bus]:[device].[function].
CUresult Driver::DeviceGetPCIBusId(char* id, int length, CUdevice number) {
  Device* device = nullptr;
  if (id == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  std::snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0",
                visible_[number] + 1);
  return CUDA_SUCCESS;
}

CUresult Driver::DeviceTotalMem(size_t* bytes, CUdevice number) {
  Device* device = nullptr;
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  *bytes = static_cast<size_t>(options_.bytes_per_gpu);
  return CUDA_SUCCESS;
}

CUresult Driver::DeviceGetAttribute(int* value, CUdevice_attribute name,
                                    CUdevice number) {
  Device* device = nullptr;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  const Attribute of_options[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
       options_.compute_capability_major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
       options_.compute_capability_minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, options_.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, visible_[number] + 1},
  };
  const auto find = [&](absl::Span<const Attribute> rows) {
    const auto found = absl::c_find_if(
        rows, [&](const Attribute& row) { return row.name == name; });
    if (found == rows.end()) return false;
    *value = found->value;
    return true;
  };
  if (find(of_options) || find(kAttributes)) return CUDA_SUCCESS;
  Report(FindingKind::kNotEmulated,
         absl::StrCat("cuDeviceGetAttribute: attribute ",
                      static_cast<int>(name), " is not emulated"));
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult Driver::DeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  Device* device = nullptr;
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (CUdevice number : {from, to}) {
    if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS) {
      return bad;
    }
  }
  *can = ArePeers(options_, visible_[from], visible_[to]) ? 1 : 0;
  return CUDA_SUCCESS;
}

// cuda.h:23926 ff. The rank is "a relative value"; here 0 for NVLink and 1 for
// PCIe, over which native atomics do not work.
CUresult Driver::DeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute name,
                                       CUdevice from, CUdevice to) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (from == to) return CUDA_ERROR_INVALID_DEVICE;  // cuda.h:23940
  int can = 0;
  if (CUresult bad = DeviceCanAccessPeer(&can, from, to); bad != CUDA_SUCCESS) {
    return bad;
  }
  const bool by_nvlink =
      can != 0 && AreJoined(options_.nvlinks, visible_[from], visible_[to]);
  switch (name) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      *value = can;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = by_nvlink ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      *value = by_nvlink ? 0 : 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Driver::CtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  // cuda.h:23860 ff. has the codes.
  Context* peer = contexts_.Find(handle);
  if (peer == nullptr || !peer->alive || peer == context) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!ArePeers(options_, visible_[context->device->number],
                visible_[peer->device->number])) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  }
  return context->peers.insert(peer).second
             ? CUDA_SUCCESS
             : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult Driver::CtxDisablePeerAccess(CUcontext handle) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  Context* peer = contexts_.Find(handle);
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  RunContext(*context);
  return context->peers.erase(peer) == 1 ? CUDA_SUCCESS
                                         : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace partita::emulated_gpu
