// Libraries, their kernels, and functions, which are kernels in a context.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

// Of an H100 (launch.shared_limit).
constexpr int kMostSharedBytes = 232448;
constexpr uint32_t kMostRegistersOfThread = 255;

// The first bytes of a file of machine code: ELF, or a container of several.
bool IsMachineCode(const char* code) {
  return std::strncmp(code,
                      "\x7f"
                      "ELF",
                      4) == 0 ||
         std::strncmp(code, "\x50\xed\x55\xba", 4) == 0;
}

void WriteLog(const std::string& text, CUjit_option* options, void** values,
              unsigned count) {
  char* buffer = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
      buffer = static_cast<char*>(values[i]);
    } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      size = reinterpret_cast<size_t>(values[i]);
    }
  }
  if (buffer == nullptr || size == 0) return;
  const size_t length = std::min(size - 1, text.size());
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

}  // namespace

// code.refused: the call succeeds though the text is wrong, the log says why,
// and to get a kernel is refused.
CUresult Driver::LibraryLoadData(CUlibrary* handle, const void* code,
                                 CUjit_option* options, void** values,
                                 unsigned count, CUlibraryOption*, void**,
                                 unsigned) {
  if (handle == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const char* text = static_cast<const char*>(code);
  if (IsMachineCode(text)) return NotEmulated("cuLibraryLoadData of a cubin");
  auto library = std::make_unique<Library>();
  library->text = CompileText(text, 10 * options_.compute_capability_major +
                                        options_.compute_capability_minor);
  if (library->text.refusal == CUDA_ERROR_NOT_SUPPORTED) {
    Report(FindingKind::kNotEmulated, library->text.log);
  }
  WriteLog(library->text.log, options, values, count);
  *handle = libraries_.HandleOf(libraries_.Add(std::move(library)));
  return CUDA_SUCCESS;
}

CUresult Driver::LibraryUnload(CUlibrary handle) {
  Library* library = libraries_.Find(handle);
  if (library == nullptr) return BadHandle(libraries_, handle, "library");
  for (const auto& [name, kernel_handle] : library->kernels) {
    Kernel* kernel = kernels_.Find(kernel_handle);
    Unload(*kernel);
    *kernel->code->is_unloaded = true;
    for (const auto& [context, function] : kernel->functions) {
      functions_.End(functions_.Find(function));
    }
    kernels_.End(kernel);
  }
  libraries_.End(library);
  return CUDA_SUCCESS;
}

CUresult Driver::LibraryGetKernel(CUkernel* handle, CUlibrary library_handle,
                                  const char* name) {
  if (handle == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Library* library = libraries_.Find(library_handle);
  if (library == nullptr) {
    return BadHandle(libraries_, library_handle, "library");
  }
  if (library->text.refusal != CUDA_SUCCESS) return library->text.refusal;
  const auto known = library->kernels.find(name);
  if (known != library->kernels.end()) {
    *handle = known->second;
    return CUDA_SUCCESS;
  }
  const ptx::Kernel* found = library->text.module->Find(name);
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;  // cuda.h:8027
  auto kernel = std::make_unique<Kernel>();
  kernel->library = library;
  kernel->code = std::make_shared<const KernelCode>(
      KernelCode{library->text.module, found});
  *handle = kernels_.HandleOf(kernels_.Add(std::move(kernel)));
  library->kernels[name] = *handle;
  return CUDA_SUCCESS;
}

CUresult Driver::KernelGetFunction(CUfunction* handle, CUkernel kernel_handle) {
  Context* context = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  Kernel* kernel = kernels_.Find(kernel_handle);
  if (kernel == nullptr) return BadHandle(kernels_, kernel_handle, "kernel");
  if (CUresult bad = Load(*kernel, *context); bad != CUDA_SUCCESS) return bad;
  CUfunction& function = kernel->functions[context];
  if (function == nullptr) {
    auto made = std::make_unique<Function>();
    made->kernel = kernel;
    made->context = context;
    function = functions_.HandleOf(functions_.Add(std::move(made)));
  }
  *handle = function;
  return CUDA_SUCCESS;
}

// Code takes memory of the device, beside what is allocated.
CUresult Driver::Load(const Kernel& kernel, Context& context) {
  if (context.loaded.contains(&kernel)) return CUDA_SUCCESS;
  const auto bytes = static_cast<uint64_t>(options_.bytes_per_kernel);
  if (bytes > FreeBytes(*context.device)) return CUDA_ERROR_OUT_OF_MEMORY;
  context.loaded.insert(&kernel);
  context.device->context_bytes += bytes;
  if (options_.readings.loading_waits) RunContext(context);
  return CUDA_SUCCESS;
}

void Driver::Unload(const Kernel& kernel) {
  for (Context* context : contexts_.live()) {
    if (context->loaded.erase(&kernel) == 0) continue;
    context->device->context_bytes -=
        static_cast<uint64_t>(options_.bytes_per_kernel);
  }
}

// Where a CUfunction is expected, a CUkernel may stand (cuda.h:17492); it has
// no context of its own.
CUresult Driver::FindKernel(CUfunction handle, Kernel*& kernel,
                            Context*& context) {
  context = nullptr;
  kernel = kernels_.Find(reinterpret_cast<CUkernel>(handle));
  if (kernel != nullptr) return CUDA_SUCCESS;
  const Function* function = functions_.Find(handle);
  if (function != nullptr) {
    kernel = function->kernel;
    context = function->context;
    return CUDA_SUCCESS;
  }
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernels_.HasEnded(reinterpret_cast<CUkernel>(handle))) {
    return BadHandle(kernels_, reinterpret_cast<CUkernel>(handle), "kernel");
  }
  return BadHandle(functions_, handle, "function");
}

CUresult Driver::FunctionAttribute(const Kernel& kernel,
                                   CUfunction_attribute name, int* value) {
  const ptx::Kernel& code = *kernel.code->kernel;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (name) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(code.most_threads);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = 0;  // The interpreter refuses such memory.
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value =
          static_cast<int>(std::min(code.registers, kMostRegistersOfThread));
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = kernel.code->module->version;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 10 * options_.compute_capability_major +
               options_.compute_capability_minor;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = kernel.most_dynamic_shared;
      return CUDA_SUCCESS;
    default:
      return NotEmulated("cuFuncGetAttribute of such an attribute");
  }
}

CUresult Driver::KernelGetAttribute(int* value, CUfunction_attribute name,
                                    CUkernel handle, CUdevice number) {
  Device* device = nullptr;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  const Kernel* kernel = kernels_.Find(handle);
  if (kernel == nullptr) return BadHandle(kernels_, handle, "kernel");
  return FunctionAttribute(*kernel, name, value);
}

CUresult Driver::FuncGetAttribute(int* value, CUfunction_attribute name,
                                  CUfunction handle) {
  Kernel* kernel = nullptr;
  Context* context = nullptr;
  if (CUresult bad = FindKernel(handle, kernel, context); bad != CUDA_SUCCESS) {
    return bad;
  }
  return FunctionAttribute(*kernel, name, value);
}

// cuda.h:17203.
CUresult Driver::FuncSetAttribute(CUfunction handle, CUfunction_attribute name,
                                  int value) {
  Kernel* kernel = nullptr;
  Context* context = nullptr;
  if (CUresult bad = FindKernel(handle, kernel, context); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (name != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    return NotEmulated("cuFuncSetAttribute of such an attribute");
  }
  if (value < 0 || value > kMostSharedBytes) return CUDA_ERROR_INVALID_VALUE;
  kernel->most_dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult Driver::KernelGetParamInfo(CUkernel handle, size_t index,
                                    size_t* offset, size_t* size) {
  const Kernel* kernel = kernels_.Find(handle);
  if (kernel == nullptr) return BadHandle(kernels_, handle, "kernel");
  const KernelCode& code = *kernel->code;
  if (index >= code.kernel->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  if (offset != nullptr) *offset = code.ParameterOffset(index);
  if (size != nullptr) {
    *size = static_cast<size_t>(code.kernel->parameters[index].bytes);
  }
  return CUDA_SUCCESS;
}

CUresult Driver::ModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult Driver::FuncLoad(CUfunction handle) {
  Kernel* kernel = nullptr;
  Context* context = nullptr;
  if (CUresult bad = FindKernel(handle, kernel, context); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (context == nullptr) {
    if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  }
  return Load(*kernel, *context);
}

// code.lazy_loading: to get a function loads it.
CUresult Driver::FuncIsLoaded(CUfunctionLoadingState* state,
                              CUfunction handle) {
  Kernel* kernel = nullptr;
  Context* context = nullptr;
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindKernel(handle, kernel, context); bad != CUDA_SUCCESS) {
    return bad;
  }
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

}  // namespace partita::emulated_gpu
