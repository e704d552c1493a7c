// Copies, launches and comparisons.
// SPDX-License-Identifier: Apache-2.0

#include "tools/gpu/ptx_corpus/corpus_run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "third_party/cuda_loader/driver_handles.h"
#include "tools/gpu/ptx_corpus/corpus.h"

namespace partita {
namespace {

using Bytes = std::vector<std::byte>;

// What results hold before a launch.
constexpr unsigned char kUnwritten = 0xa5;
// Room before a shifted address.
constexpr int64_t kRoom = 16;

class CorpusRun {
 public:
  CorpusRun(const DriverApi& api, CUstream stream, int multiprocessors,
            std::ostream& out)
      : api_(api),
        stream_(stream),
        multiprocessors_(multiprocessors),
        out_(out) {}

  absl::Status RunTarget(const std::string& folder, const char* target,
                         CorpusCounts& counts) {
    PARTITA_ASSIGN_OR_RETURN(const std::string text,
                             ReadCorpus(folder, target));
    PARTITA_ASSIGN_OR_RETURN(library_, LoadLibrary(api_, text.c_str()));
    for (const SampleProgram& sample : SamplePrograms()) {
      const std::vector<Bytes> expected = InterpretedResults(sample);
      for (int shift : {0, 1}) {
        PARTITA_ASSIGN_OR_RETURN(const std::vector<Bytes> found,
                                 Run(sample, shift));
        ++counts.runs;
        const absl::Status status = CheckResults(sample, expected, found);
        if (status.ok()) continue;
        ++counts.wrong;
        out_ << "WRONG " << target << " " << status.message() << "\n";
      }
    }
    for (const ElementwiseProgram& program : MeasuredPrograms()) {
      PARTITA_RETURN_IF_ERROR(Measure(target, program));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Check(CUresult result, absl::string_view call) const {
    return CudaStatus(api_, result, call);
  }

  struct Buffer {
    DeviceMemory memory;
    CUdeviceptr address = 0;
  };
  absl::StatusOr<Buffer> NewBuffer(int64_t bytes, int64_t shift) {
    Buffer buffer;
    PARTITA_ASSIGN_OR_RETURN(
        buffer.memory,
        NewDeviceMemory(api_, static_cast<size_t>(bytes + kRoom)));
    buffer.address = buffer.memory.get() + static_cast<CUdeviceptr>(shift);
    return buffer;
  }

  absl::Status LaunchProgram(const ElementwiseProgram& program,
                             const std::vector<Buffer>& buffers) {
    CUkernel kernel = nullptr;
    PARTITA_RETURN_IF_ERROR(Check(
        api_.LibraryGetKernel(&kernel, library_.get(), program.name.c_str()),
        program.name));
    std::vector<CUdeviceptr> addresses;
    for (const Buffer& buffer : buffers) addresses.push_back(buffer.address);
    std::vector<void*> parameters;
    for (CUdeviceptr& address : addresses) parameters.push_back(&address);
    const GpuLaunch launch = LaunchOf(program, multiprocessors_);
    return Check(api_.LaunchKernel(reinterpret_cast<CUfunction>(kernel),
                                   launch.blocks, 1, 1, launch.threads, 1, 1, 0,
                                   stream_, parameters.data(), nullptr),
                 program.name);
  }

  // Every address is `shift` elements after an aligned one.
  absl::StatusOr<std::vector<Bytes>> Run(const SampleProgram& sample,
                                         int shift) {
    const ElementwiseProgram& program = sample.program;
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      const Bytes& operand = sample.operands[i];
      PARTITA_ASSIGN_OR_RETURN(
          Buffer buffer, NewBuffer(static_cast<int64_t>(operand.size()),
                                   shift * BytesOf(program.operands[i].type)));
      if (!operand.empty()) {
        PARTITA_RETURN_IF_ERROR(Check(
            api_.MemcpyHtoD(buffer.address, operand.data(), operand.size()),
            "cuMemcpyHtoD"));
      }
      buffers.push_back(std::move(buffer));
    }
    std::vector<Bytes> results;
    for (int32_t result : program.results) {
      const int64_t element = BytesOf(program.instructions[result].type);
      results.emplace_back(static_cast<size_t>(NumElements(program) * element));
      PARTITA_ASSIGN_OR_RETURN(
          Buffer buffer, NewBuffer(static_cast<int64_t>(results.back().size()),
                                   shift * element));
      PARTITA_RETURN_IF_ERROR(
          Check(api_.MemsetD8Async(buffer.memory.get(), kUnwritten,
                                   results.back().size() + kRoom, stream_),
                "cuMemsetD8Async"));
      buffers.push_back(std::move(buffer));
    }
    PARTITA_RETURN_IF_ERROR(LaunchProgram(program, buffers));
    PARTITA_RETURN_IF_ERROR(
        Check(api_.StreamSynchronize(stream_), program.name));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].empty()) continue;
      const CUdeviceptr from = buffers[sample.operands.size() + i].address;
      PARTITA_RETURN_IF_ERROR(
          Check(api_.MemcpyDtoH(results[i].data(), from, results[i].size()),
                "cuMemcpyDtoH"));
    }
    return results;
  }

  // The bytes that a launch has to move at least: every element once.
  static int64_t MovedBytes(const ElementwiseProgram& program,
                            std::vector<int64_t>& stored) {
    int64_t moved = 0;
    for (const ProgramOperand& operand : program.operands) {
      int64_t elements = 1;
      for (size_t loop = 0; loop < program.loops.size(); ++loop) {
        elements += (program.loops[loop] - 1) * operand.strides[loop];
      }
      stored.push_back(elements * BytesOf(operand.type));
    }
    for (int32_t result : program.results) {
      stored.push_back(NumElements(program) *
                       BytesOf(program.instructions[result].type));
    }
    for (int64_t bytes : stored) moved += bytes;
    return moved;
  }

  absl::Status Measure(const char* target, const ElementwiseProgram& program) {
    std::vector<int64_t> stored;
    const int64_t moved = MovedBytes(program, stored);
    std::vector<Buffer> buffers;
    for (int64_t bytes : stored) {
      PARTITA_ASSIGN_OR_RETURN(Buffer buffer, NewBuffer(bytes, 0));
      PARTITA_RETURN_IF_ERROR(
          Check(api_.MemsetD8Async(buffer.address, 0x3f, bytes, stream_),
                "cuMemsetD8Async"));
      buffers.push_back(std::move(buffer));
    }
    constexpr int kLaunches = 20;
    PARTITA_ASSIGN_OR_RETURN(const OwnedEvent begin,
                             NewEvent(api_, CU_EVENT_DEFAULT));
    PARTITA_ASSIGN_OR_RETURN(const OwnedEvent end,
                             NewEvent(api_, CU_EVENT_DEFAULT));
    // One launch first, which may load code.
    PARTITA_RETURN_IF_ERROR(LaunchProgram(program, buffers));
    PARTITA_RETURN_IF_ERROR(
        Check(api_.EventRecord(begin.get(), stream_), "cuEventRecord"));
    for (int i = 0; i < kLaunches; ++i) {
      PARTITA_RETURN_IF_ERROR(LaunchProgram(program, buffers));
    }
    PARTITA_RETURN_IF_ERROR(
        Check(api_.EventRecord(end.get(), stream_), "cuEventRecord"));
    PARTITA_RETURN_IF_ERROR(
        Check(api_.StreamSynchronize(stream_), program.name));
    float milliseconds = 0;
    PARTITA_RETURN_IF_ERROR(
        Check(api_.EventElapsedTime(&milliseconds, begin.get(), end.get()),
              "cuEventElapsedTime"));
    const double seconds = milliseconds / 1e3 / kLaunches;
    out_ << absl::StreamFormat("%s %s: %.1f us a launch, %.3f TB/s\n", target,
                               program.name, seconds * 1e6,
                               static_cast<double>(moved) / seconds / 1e12);
    return absl::OkStatus();
  }

  const DriverApi& api_;
  const CUstream stream_;
  const int multiprocessors_;
  std::ostream& out_;
  OwnedLibrary library_;
};

}  // namespace

absl::StatusOr<CorpusCounts> RunCorpus(const DriverApi& api,
                                       const std::string& folder,
                                       std::ostream& out) {
  PARTITA_RETURN_IF_ERROR(CudaStatus(api, api.Init(0), "cuInit"));
  CUdevice device = 0;
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.DeviceGet(&device, 0), "cuDeviceGet"));
  PARTITA_ASSIGN_OR_RETURN(const PrimaryContext context,
                           PrimaryContext::Retain(api, device));
  std::array<char, 128> name{};
  int multiprocessors = 1;
  PARTITA_RETURN_IF_ERROR(CudaStatus(
      api,
      api.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
      "cuDeviceGetName"));
  PARTITA_RETURN_IF_ERROR(CudaStatus(
      api,
      api.DeviceGetAttribute(&multiprocessors,
                             CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
      "cuDeviceGetAttribute"));
  int major = 0;
  PARTITA_RETURN_IF_ERROR(CudaStatus(
      api,
      api.DeviceGetAttribute(
          &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
      "cuDeviceGetAttribute"));
  out << name.data() << ", " << multiprocessors << " multiprocessors\n";
  PARTITA_ASSIGN_OR_RETURN(const OwnedStream stream,
                           NewStream(api, CU_STREAM_NON_BLOCKING));
  CorpusCounts counts;
  CorpusRun run(api, stream.get(), std::max(1, multiprocessors), out);
  for (const char* target : kCorpusTargets) {
    // PTX for sm_90 runs on that architecture and later ones.
    if (absl::string_view(target) == "sm_90" && major < 9) continue;
    PARTITA_RETURN_IF_ERROR(run.RunTarget(folder, target, counts));
  }
  return counts;
}

}  // namespace partita
