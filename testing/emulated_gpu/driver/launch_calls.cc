// Launches of kernels and of host functions.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

// launch.bad_shapes.
bool FitsDevice(const ptx::Extents& grid, const ptx::Extents& block,
                uint32_t most_threads) {
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 0x7fffffff &&
         grid.y <= 65535 && grid.z <= 65535 && block.x > 0 && block.y > 0 &&
         block.z > 0 && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
         block.count() <= most_threads;
}

uint64_t ReadValue(const void* from, int bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, static_cast<size_t>(bytes));
  return value;
}

}  // namespace

// launch.parameter_buffer: a buffer that is too long is refused, one that is
// too short is not.
CUresult Driver::ParametersFromBuffer(const KernelCode& code, void** extra,
                                      std::vector<uint64_t>& values) {
  const char* buffer = nullptr;
  size_t size = 0;
  for (int i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<const char*>(extra[i + 1]);
    } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = *static_cast<const size_t*>(extra[i + 1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  const auto& parameters = code.kernel->parameters;
  size_t end = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const uint64_t offset = code.ParameterOffset(i);
    end = offset + static_cast<size_t>(parameters[i].bytes);
    if (end > size) {
      Report(FindingKind::kMisuse,
             absl::StrCat("launch of ", code.name(), ": found a buffer of ",
                          size, " bytes, which ends before parameter ", i));
      values.push_back(0);
    } else {
      values.push_back(ReadValue(buffer + offset, parameters[i].bytes));
    }
  }
  return size > end ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

CUresult Driver::MakeLaunch(const Kernel& kernel,
                            const LaunchArguments& arguments,
                            KernelLaunch& launch) {
  const ptx::Kernel& code = *kernel.code->kernel;
  if (!FitsDevice(arguments.grid, arguments.block, code.most_threads) ||
      static_cast<int64_t>(arguments.shared_bytes) >
          kernel.most_dynamic_shared) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  launch = {
      .code = kernel.code, .grid = arguments.grid, .block = arguments.block};
  if (arguments.extra != nullptr) {
    if (arguments.parameters != nullptr) return CUDA_ERROR_INVALID_VALUE;
    return ParametersFromBuffer(*kernel.code, arguments.extra,
                                launch.parameters);
  }
  if (code.parameters.empty()) return CUDA_SUCCESS;
  if (arguments.parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < code.parameters.size(); ++i) {
    launch.parameters.push_back(
        ReadValue(arguments.parameters[i], code.parameters[i].bytes));
  }
  return CUDA_SUCCESS;
}

CUresult Driver::SubmitLaunch(CUfunction function,
                              const LaunchArguments& arguments,
                              CUstream handle) {
  Stream* stream = nullptr;
  Kernel* kernel = nullptr;
  Context* context = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (CUresult bad = FindKernel(function, kernel, context);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  // launch.contexts: a function belongs to a context, a kernel to none.
  if (context != nullptr && context != stream->context) {
    Report(FindingKind::kWrongContext,
           absl::StrCat("launch of ", kernel->code->name(),
                        ": found a function of ", context->name, " and ",
                        stream->name));
    return CUDA_ERROR_INVALID_HANDLE;
  }
  KernelLaunch launch;
  if (CUresult bad = MakeLaunch(*kernel, arguments, launch);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = Load(*kernel, *stream->context); bad != CUDA_SUCCESS) {
    return bad;
  }
  CommandRef issued;
  if (CUresult bad = Submit(*stream, std::move(launch),
                            CU_GRAPH_NODE_TYPE_KERNEL, &issued);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  return issued != nullptr ? MayWait(issued) : CUDA_SUCCESS;
}

CUresult Driver::LaunchKernel(CUfunction function, unsigned grid_x,
                              unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y,
                              unsigned block_z, unsigned shared_bytes,
                              CUstream stream, void** parameters,
                              void** extra) {
  return SubmitLaunch(function,
                      {.grid = {grid_x, grid_y, grid_z},
                       .block = {block_x, block_y, block_z},
                       .shared_bytes = shared_bytes,
                       .parameters = parameters,
                       .extra = extra},
                      stream);
}

CUresult Driver::LaunchKernelEx(const CUlaunchConfig* config,
                                CUfunction function, void** parameters,
                                void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (config->numAttrs > 0) {
    return NotEmulated("cuLaunchKernelEx with attributes");
  }
  return LaunchKernel(function, config->gridDimX, config->gridDimY,
                      config->gridDimZ, config->blockDimX, config->blockDimY,
                      config->blockDimZ, config->sharedMemBytes,
                      config->hStream, parameters, extra);
}

// cuda.h:18064 ff.
CUresult Driver::LaunchHostFunc(CUstream handle, CUhostFn function,
                                void* argument) {
  Stream* stream = nullptr;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  return Submit(*stream, HostCall{function, argument}, CU_GRAPH_NODE_TYPE_HOST);
}

}  // namespace partita::emulated_gpu
