// Operands of an instruction, its kernel, and the launch.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/number_run.h"

#include <cmath>
#include <cstring>
#include <initializer_list>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Kind = NumberKind;

uint64_t WidenedBits(uint64_t f32_bits) {
  const uint32_t word = static_cast<uint32_t>(f32_bits);
  float value = 0;
  std::memcpy(&value, &word, 4);
  const double wide = value;
  uint64_t bits = 0;
  std::memcpy(&bits, &wide, 8);
  return bits;
}

std::vector<uint64_t> SpecialF32() {
  return {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
      0x00800000, 0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f800001,
      0x3f7fffff, 0x3fc00000, 0x40200000, 0xc0200000, 0x3f000000, 0xbf000000,
      0x3effffff, 0x3f000001, 0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x7f800000,
      0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345, 0x4effffff,
      0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000,
      0xdf000000, 0x5effffff, 0x5f800000, 0x3f808000, 0x3f818000, 0x3f808001,
      0x00008000, 0x00018000, 0x00000fff, 0x7f7f7fff, 0x7f7f8000, 0x477fe000,
      0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x33800000, 0x387fe000,
      0x387ff000, 0x38801000, 0x3a800fff, 0x1e3ce508, 0x60ad78ec, 0x2b8cbccc};
}

std::vector<uint64_t> SpecialsOf(Kind kind) {
  std::vector<uint64_t> values;
  switch (kind) {
    case Kind::kF32:
      return SpecialF32();
    case Kind::kF64:
      for (const uint64_t bits : SpecialF32()) {
        if (!IsNaN(Kind::kF32, bits)) values.push_back(WidenedBits(bits));
      }
      for (const uint64_t bits : std::initializer_list<uint64_t>{
               0x0000000000000001u, 0x000fffffffffffffu, 0x0010000000000000u,
               0x7fefffffffffffffu, 0x7ff8000000000000u, 0xfff8000000012345u,
               0x7ff0000000000001u, 0x3ff0000000000001u, 0x36a0000000000000u,
               0x369fffffffffffffu, 0x36a0000000000001u, 0x47efffffe0000000u,
               0x47efffffefffffffu, 0x47effffff0000000u, 0x3ff0000010000000u,
               0x3ff0000030000000u, 0xc1e0000000200000u, 0x41dfffffffc00000u}) {
        values.push_back(bits);
      }
      return values;
    case Kind::kF16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00,
              0x3c01, 0xbc00, 0x3800, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
              0x7e00, 0xfe12, 0x7c01, 0xfd55, 0x3555, 0x1400, 0x5000};
    case Kind::kBF16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f80, 0x3f81,
              0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81};
    case Kind::kInt32:
      return {0,          1,          2,          3,          7,
              10,         31,         32,         33,         63,
              64,         255,        256,        0x7fffffff, 0x80000000,
              0x80000001, 0xffffffff, 0xfffffffe, 0xfffffff9, 0x00ffffff,
              0x01000000, 0x01000001, 0x01000002, 0x01000003};
    case Kind::kInt64:
      return {0,
              1,
              0xffffffffffffffffu,
              0x7fffffffffffffffu,
              0x8000000000000000u,
              0x8000000000000001u,
              0x0000000001000001u,
              0x0000000001000003u,
              0x0020000000000001u,
              0x0020000000000003u,
              0x8000008000000000u,
              0x8000008000000001u,
              0xffffff8000000000u,
              0xffffff7fffffffffu,
              0x4000004000000000u,
              0x4000004000000001u};
  }
  return values;
}

const char* RegisterOf(Kind kind) {
  switch (BytesOf(kind)) {
    case 2:
      return "b16";
    case 4:
      return kind == Kind::kF32 ? "f32" : "b32";
    default:
      return kind == Kind::kF64 ? "f64" : "b64";
  }
}

// Moves the low bytes of the 64-bit register `wide` to `narrow`, or back.
std::string Narrow(Kind kind, const char* narrow, const char* wide) {
  switch (BytesOf(kind)) {
    case 2:
      return absl::StrFormat("cvt.u16.u64 %s, %s;", narrow, wide);
    case 4:
      return absl::StrFormat("cvt.u32.u64 %%w, %s; mov.b32 %s, %%w;", wide,
                             narrow);
    default:
      return absl::StrFormat("mov.b64 %s, %s;", narrow, wide);
  }
}

std::string Widen(Kind kind, const char* wide, const char* narrow) {
  switch (BytesOf(kind)) {
    case 2:
      return absl::StrFormat("cvt.u64.u16 %s, %s;", wide, narrow);
    case 4:
      return absl::StrFormat("mov.b32 %%w, %s; cvt.u64.u32 %s, %%w;", narrow,
                             wide);
    default:
      return absl::StrFormat("mov.b64 %s, %s;", wide, narrow);
  }
}

// to[i] = instruction(from[3i], from[3i + 1], from[3i + 2])
std::string KernelText(const TestedInstruction& instruction) {
  static constexpr const char* kOperands[] = {"", ", %a", ", %a, %b",
                                              ", %a, %b, %c"};
  return absl::StrFormat(
      R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry run(.param .u64 to, .param .u64 from, .param .u32 n) {
  .reg .u64 %%t, %%f, %%o, %%x, %%y, %%z;
  .reg .u32 %%i, %%n, %%d, %%k, %%w;
  .reg .pred %%p;
  .reg .%s %%a, %%b, %%c;
  .reg .%s %%r;
  ld.param.u64 %%t, [to];
  ld.param.u64 %%f, [from];
  ld.param.u32 %%n, [n];
  mov.u32 %%i, %%tid.x;
  mov.u32 %%d, %%ntid.x;
  mov.u32 %%k, %%ctaid.x;
  mad.lo.u32 %%i, %%k, %%d, %%i;
  setp.ge.u32 %%p, %%i, %%n;
  @%%p bra done;
  mul.wide.u32 %%o, %%i, 24;
  add.u64 %%f, %%f, %%o;
  ld.global.u64 %%x, [%%f];
  ld.global.u64 %%y, [%%f+8];
  ld.global.u64 %%z, [%%f+16];
  %s
  %s
  %s
  %s %%r%s;
  %s
  mul.wide.u32 %%o, %%i, 8;
  add.u64 %%t, %%t, %%o;
  st.global.u64 [%%t], %%x;
done:
  ret;
}
)",
      RegisterOf(instruction.from), RegisterOf(instruction.to),
      Narrow(instruction.from, "%a", "%x"),
      Narrow(instruction.from, "%b", "%y"),
      Narrow(instruction.from, "%c", "%z"), instruction.ptx,
      kOperands[instruction.operands], Widen(instruction.to, "%x", "%r"));
}

}  // namespace

NumberInputs InputsOf(const TestedInstruction& instruction) {
  const std::vector<uint64_t> values = SpecialsOf(instruction.from);
  NumberInputs inputs;
  const size_t step = instruction.operands == 3 ? 3 : 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (instruction.operands == 1) {
      inputs.Add(values[i], 0, 0);
      continue;
    }
    for (size_t j = 0; j < values.size(); j += step) {
      if (instruction.operands == 2) {
        inputs.Add(values[i], values[j], 0);
        continue;
      }
      for (size_t k = 0; k < values.size(); k += step) {
        inputs.Add(values[i], values[j], values[k]);
      }
    }
  }
  const uint64_t mask =
      BytesOf(instruction.from) == 8
          ? ~uint64_t{0}
          : (uint64_t{1} << (8 * BytesOf(instruction.from))) - 1;
  uint64_t state = 42;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((state >> 32) | (state << 32)) & mask;
  };
  for (int i = 0; i < 20000; ++i) {
    const uint64_t a = next();
    const uint64_t b = next();
    inputs.Add(a, b, next());
  }
  return inputs;
}

absl::StatusOr<std::vector<uint64_t>> RunOnGpu(
    const Gpu& gpu, const TestedInstruction& instruction,
    const NumberInputs& inputs) {
  const DriverApi& api = gpu.api();
  const std::string text = KernelText(instruction);
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, text.c_str()));
  CUkernel kernel = nullptr;
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.LibraryGetKernel(&kernel, library.get(), "run"), "run"));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  std::vector<uint64_t> results(inputs.cases());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory from,
                           NewDeviceMemory(api, inputs.words.size() * 8));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory to,
                           NewDeviceMemory(api, results.size() * 8));
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      api.MemcpyHtoD(from.get(), inputs.words.data(), inputs.words.size() * 8),
      "cuMemcpyHtoD"));
  CUdeviceptr to_address = to.get();
  CUdeviceptr from_address = from.get();
  uint32_t count = static_cast<uint32_t>(results.size());
  void* parameters[] = {&to_address, &from_address, &count};
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(gpu.LaunchKernel(stream.get(), kernel,
                                  {(count + 127) / 128, 128}, parameters),
                 "cuLaunchKernel"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.StreamSynchronize(stream.get()), "cuStreamSynchronize"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.MemcpyDtoH(results.data(), to.get(), results.size() * 8),
                 "cuMemcpyDtoH"));
  return results;
}

std::string CaseText(const TestedInstruction& instruction,
                     const uint64_t* operands, uint64_t result) {
  std::string text;
  for (int i = 0; i < instruction.operands; ++i) {
    absl::StrAppendFormat(&text, "%s%x", i == 0 ? "" : ",", operands[i]);
  }
  return absl::StrFormat("(%s)=%x", text, result);
}

}  // namespace partita
