// Names and texts of the driver's codes.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

struct CodeText {
  CUresult code;
  const char* name;
  const char* text;
};

#define PARTITA_CODE(name, text) \
  { name, #name, text }
constexpr CodeText kCodes[] = {
    PARTITA_CODE(CUDA_SUCCESS, "no error"),
    PARTITA_CODE(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    PARTITA_CODE(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    PARTITA_CODE(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    PARTITA_CODE(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    PARTITA_CODE(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    PARTITA_CODE(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    PARTITA_CODE(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    PARTITA_CODE(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    PARTITA_CODE(CUDA_ERROR_ECC_UNCORRECTABLE,
                 "uncorrectable ECC error encountered"),
    PARTITA_CODE(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                 "peer access is not supported between these two devices"),
    PARTITA_CODE(CUDA_ERROR_UNSUPPORTED_LIMIT,
                 "limit is not supported on this architecture"),
    PARTITA_CODE(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    PARTITA_CODE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                 "the provided PTX was compiled with an unsupported toolchain"),
    PARTITA_CODE(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    PARTITA_CODE(CUDA_ERROR_ILLEGAL_STATE,
                 "the operation cannot be performed in the present state"),
    PARTITA_CODE(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    PARTITA_CODE(CUDA_ERROR_NOT_READY, "device not ready"),
    PARTITA_CODE(CUDA_ERROR_ILLEGAL_ADDRESS,
                 "an illegal memory access was encountered"),
    PARTITA_CODE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                 "too many resources requested for launch"),
    PARTITA_CODE(CUDA_ERROR_LAUNCH_TIMEOUT,
                 "the launch timed out and was terminated"),
    PARTITA_CODE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                 "peer access is already enabled"),
    PARTITA_CODE(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                 "peer access has not been enabled"),
    PARTITA_CODE(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
                 "the primary context is active"),
    PARTITA_CODE(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    PARTITA_CODE(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    PARTITA_CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                 "part or all of the requested memory range is already mapped"),
    PARTITA_CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                 "pointer does not correspond to a registered memory region"),
    PARTITA_CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "an illegal instruction was encountered"),
    PARTITA_CODE(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    PARTITA_CODE(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    PARTITA_CODE(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    PARTITA_CODE(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                 "operation not permitted when stream is capturing"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                 "operation failed due to a previous error during capture"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                 "operation would result in a merge of separate capture "
                 "sequences"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                 "capture was not ended in the same stream as it began"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                 "capturing stream has unjoined work"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                 "dependency created on uncaptured work in another stream"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                 "operation would make the legacy stream depend on a capturing "
                 "blocking stream"),
    PARTITA_CODE(CUDA_ERROR_CAPTURED_EVENT,
                 "operation not permitted on an event last recorded in a "
                 "capturing stream"),
    PARTITA_CODE(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                 "attempt to terminate a thread-local capture sequence from "
                 "another thread"),
    PARTITA_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                 "the graph update was not performed because it included "
                 "changes which violated constraints specific to instantiated "
                 "graph update"),
    PARTITA_CODE(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef PARTITA_CODE

const CodeText* Find(CUresult code) {
  for (const CodeText& row : kCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

CUresult Driver::GetErrorName(CUresult code, const char** name) {
  const CodeText* found = Find(code);
  *name = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult Driver::GetErrorString(CUresult code, const char** text) {
  const CodeText* found = Find(code);
  *text = found == nullptr ? nullptr : found->text;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace partita::emulated_gpu
