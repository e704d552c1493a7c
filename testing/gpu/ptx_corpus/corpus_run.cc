// Copies, launches and comparisons.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/ptx_corpus/corpus_run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen_loader/testing/program_signature.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"
#include "testing/gpu/ptx_corpus/corpus.h"
#include "third_party/cuda_loader/driver_handles.h"

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
    PARTITA_RETURN_IF_ERROR(RunSamples(target, SamplePrograms(), counts));
    PARTITA_RETURN_IF_ERROR(RunSamples(target, SampleRows(), counts));
    PARTITA_RETURN_IF_ERROR(MeasureAll(target, MeasuredPrograms()));
    return MeasureAll(target, MeasuredRows());
  }

 private:
  template <typename Sample>
  absl::Status RunSamples(const char* target,
                          const std::vector<Sample>& samples,
                          CorpusCounts& counts) {
    for (const Sample& sample : samples) {
      const std::vector<Bytes> expected = InterpretedResults(sample);
      const ProgramSignature signature = SignatureOf(sample.program);
      for (int shift : {0, 1}) {
        PARTITA_ASSIGN_OR_RETURN(
            const std::vector<Bytes> found,
            Run(signature, LaunchOf(sample.program, multiprocessors_),
                sample.operands, shift));
        ++counts.runs;
        const absl::Status status = CheckResults(sample, expected, found);
        if (status.ok()) continue;
        ++counts.wrong;
        out_ << "WRONG " << target << " " << status.message() << "\n";
      }
    }
    return absl::OkStatus();
  }
  template <typename Program>
  absl::Status MeasureAll(const char* target,
                          const std::vector<Program>& programs) {
    for (const Program& program : programs) {
      PARTITA_RETURN_IF_ERROR(Measure(target, SignatureOf(program),
                                      LaunchOf(program, multiprocessors_)));
    }
    return absl::OkStatus();
  }

  absl::Status Check(CUresult result, absl::string_view call) const {
    return CudaStatus(api_, result, call);
  }

  struct Buffer {
    GlobalMemory memory;
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

  absl::Status LaunchProgram(const ProgramSignature& signature,
                             GpuLaunch launch,
                             const std::vector<Buffer>& buffers) {
    CUkernel kernel = nullptr;
    PARTITA_RETURN_IF_ERROR(Check(
        api_.LibraryGetKernel(&kernel, library_.get(), signature.name.c_str()),
        signature.name));
    std::vector<CUdeviceptr> addresses;
    for (const Buffer& buffer : buffers) addresses.push_back(buffer.address);
    std::vector<void*> parameters;
    for (CUdeviceptr& address : addresses) parameters.push_back(&address);
    return Check(api_.LaunchKernel(reinterpret_cast<CUfunction>(kernel),
                                   launch.blocks, 1, 1, launch.threads, 1, 1, 0,
                                   stream_, parameters.data(), nullptr),
                 signature.name);
  }

  // Every address is `shift` elements after an aligned one.
  absl::StatusOr<std::vector<Bytes>> Run(const ProgramSignature& signature,
                                         GpuLaunch launch,
                                         const std::vector<Bytes>& operands,
                                         int shift) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Bytes& operand = operands[i];
      PARTITA_ASSIGN_OR_RETURN(
          Buffer buffer,
          NewBuffer(static_cast<int64_t>(operand.size()),
                    shift * BytesOf(signature.operands[i].type)));
      if (!operand.empty()) {
        PARTITA_RETURN_IF_ERROR(Check(
            api_.MemcpyHtoD(buffer.address, operand.data(), operand.size()),
            "cuMemcpyHtoD"));
      }
      buffers.push_back(std::move(buffer));
    }
    std::vector<Bytes> results;
    for (const ProgramSignature::Buffer& result : signature.results) {
      results.emplace_back(static_cast<size_t>(result.bytes()));
      PARTITA_ASSIGN_OR_RETURN(
          Buffer buffer,
          NewBuffer(result.bytes(), shift * BytesOf(result.type)));
      PARTITA_RETURN_IF_ERROR(
          Check(api_.MemsetD8Async(buffer.memory.get(), kUnwritten,
                                   results.back().size() + kRoom, stream_),
                "cuMemsetD8Async"));
      buffers.push_back(std::move(buffer));
    }
    PARTITA_RETURN_IF_ERROR(LaunchProgram(signature, launch, buffers));
    PARTITA_RETURN_IF_ERROR(
        Check(api_.StreamSynchronize(stream_), signature.name));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].empty()) continue;
      const CUdeviceptr from = buffers[operands.size() + i].address;
      PARTITA_RETURN_IF_ERROR(
          Check(api_.MemcpyDtoH(results[i].data(), from, results[i].size()),
                "cuMemcpyDtoH"));
    }
    return results;
  }

  absl::Status Measure(const char* target, const ProgramSignature& signature,
                       GpuLaunch launch) {
    // The bytes that a launch has to move at least: every element once.
    int64_t moved = 0;
    std::vector<Buffer> buffers;
    for (const auto* all : {&signature.operands, &signature.results}) {
      for (const ProgramSignature::Buffer& one : *all) {
        moved += one.bytes();
        PARTITA_ASSIGN_OR_RETURN(Buffer buffer, NewBuffer(one.bytes(), 0));
        PARTITA_RETURN_IF_ERROR(Check(
            api_.MemsetD8Async(buffer.address, 0x3f, one.bytes(), stream_),
            "cuMemsetD8Async"));
        buffers.push_back(std::move(buffer));
      }
    }
    constexpr int kLaunches = 20;
    PARTITA_ASSIGN_OR_RETURN(const OwnedEvent begin,
                             NewEvent(api_, CU_EVENT_DEFAULT));
    PARTITA_ASSIGN_OR_RETURN(const OwnedEvent end,
                             NewEvent(api_, CU_EVENT_DEFAULT));
    // One launch first, which may load code.
    PARTITA_RETURN_IF_ERROR(LaunchProgram(signature, launch, buffers));
    PARTITA_RETURN_IF_ERROR(
        Check(api_.EventRecord(begin.get(), stream_), "cuEventRecord"));
    for (int i = 0; i < kLaunches; ++i) {
      PARTITA_RETURN_IF_ERROR(LaunchProgram(signature, launch, buffers));
    }
    PARTITA_RETURN_IF_ERROR(
        Check(api_.EventRecord(end.get(), stream_), "cuEventRecord"));
    PARTITA_RETURN_IF_ERROR(
        Check(api_.StreamSynchronize(stream_), signature.name));
    float milliseconds = 0;
    PARTITA_RETURN_IF_ERROR(
        Check(api_.EventElapsedTime(&milliseconds, begin.get(), end.get()),
              "cuEventElapsedTime"));
    const double seconds = milliseconds / 1e3 / kLaunches;
    out_ << absl::StreamFormat("%s %s: %.1f us a launch, %.3f TB/s\n", target,
                               signature.name, seconds * 1e6,
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
