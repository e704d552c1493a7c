// Uses the processor's trap flag and a handler that recognizes CPUID and
// XGETBV. Each step costs thousands of instructions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/emulated_cpuid.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <cstdint>
#include <cstring>
#include <iterator>

namespace partita {
namespace {

// Bits of CPUID that oneDNN's instruction sets need, by leaf and register.
struct Features {
  const char* isa;
  uint32_t leaf1_ecx;
  uint32_t leaf7_ebx;
  uint32_t leaf7_ecx;
  uint32_t leaf7_1_eax;
};
// SSE3, SSSE3, SSE 4.1, SSE 4.2, MOVBE, POPCNT.
constexpr uint32_t kSse4 =
    1u << 0 | 1u << 9 | 1u << 19 | 1u << 20 | 1u << 22 | 1u << 23;
// Also FMA, XSAVE, OSXSAVE, AVX, F16C.
constexpr uint32_t kAvx =
    kSse4 | 1u << 12 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 29;
// BMI1, AVX2, BMI2; F, DQ, CD, BW, VL.
constexpr uint32_t kAvx2 = 1u << 3 | 1u << 5 | 1u << 8;
constexpr uint32_t kAvx512 =
    kAvx2 | 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
constexpr uint32_t kVnni = 1u << 11;
constexpr Features kFeatures[] = {
    {"sse4", kSse4, 0, 0, 0},
    {"avx2", kAvx, kAvx2, 0, 0},
    {"avx512", kAvx, kAvx512, 0, 0},
    {"avx512_bf16", kAvx, kAvx512, kVnni, 1u << 5},
};
// The system saves the registers of x87, SSE, AVX and AVX-512.
constexpr uint32_t kSavedRegisters = 0xe7;
constexpr uint64_t kTrapFlag = 0x100;

const Features* wanted = nullptr;

struct Leaf {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Leaf Ask(uint32_t leaf, uint32_t subleaf) {
  Leaf l;
  __cpuid_count(leaf, subleaf, l.eax, l.ebx, l.ecx, l.edx);
  return l;
}

Leaf Completed(uint32_t leaf, uint32_t subleaf) {
  Leaf l = Ask(leaf, subleaf);
  if (leaf == 0 && l.eax < 7) l.eax = 7;
  if (leaf == 1) l.ecx |= wanted->leaf1_ecx;
  if (leaf == 7 && subleaf == 0) {
    l.ebx |= wanted->leaf7_ebx;
    l.ecx |= wanted->leaf7_ecx;
    if (wanted->leaf7_1_eax != 0 && l.eax < 1) l.eax = 1;
  }
  if (leaf == 7 && subleaf == 1) l.eax |= wanted->leaf7_1_eax;
  return l;
}

bool HasAll(const Features& features) {
  const Leaf one = Ask(1, 0), seven = Ask(7, 0), more = Ask(7, 1);
  return (features.leaf1_ecx & ~one.ecx) == 0 &&
         (features.leaf7_ebx & ~seven.ebx) == 0 &&
         (features.leaf7_ecx & ~seven.ecx) == 0 &&
         (features.leaf7_1_eax & ~more.eax) == 0;
}

// Which code is single-stepped: code that queries the processor and code that
// calls it. Functions that these call run at full speed.
enum class Code : uint8_t { kAsking, kLoader, kOther };

struct CodeRange {
  uintptr_t begin, end;
  Code code;
};
CodeRange ranges[16];
size_t num_ranges = 0;

// The program, which queries in Begin; oneDNN; and the loader, which calls
// initialisers.
Code CodeOfFile(const char* name) {
  if (name[0] == '\0' || std::strstr(name, "libdnnl") != nullptr) {
    return Code::kAsking;
  }
  return std::strstr(name, "/ld-linux") != nullptr ? Code::kLoader
                                                   : Code::kOther;
}

int AddRanges(dl_phdr_info* file, size_t, void*) {
  const Code code = CodeOfFile(file->dlpi_name);
  for (int i = 0; i < file->dlpi_phnum && code != Code::kOther; ++i) {
    const auto& segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (num_ranges == std::size(ranges)) return 1;
    const uintptr_t begin = file->dlpi_addr + segment.p_vaddr;
    ranges[num_ranges++] = {begin, begin + segment.p_memsz, code};
  }
  return 0;
}

Code CodeAt(greg_t address) {
  const auto at = static_cast<uintptr_t>(address);
  for (size_t i = 0; i < num_ranges; ++i) {
    if (at >= ranges[i].begin && at < ranges[i].end) return ranges[i].code;
  }
  return Code::kOther;
}

bool IsReturn(greg_t address) {
  const auto* code = reinterpret_cast<const unsigned char*>(address);
  const bool has_prefix = code[0] == 0xf2 || code[0] == 0xf3;
  return code[has_prefix] == 0xc3 || code[has_prefix] == 0xc2;
}

// The return address of functions that run at full speed. One suffices, since
// nothing is stepped while one runs.
[[gnu::naked]] void Returned() { asm("int3"); }
bool IsReturned(greg_t next) {
  const auto begin = reinterpret_cast<uintptr_t>(&Returned);
  return static_cast<uintptr_t>(next) - begin <= 8;
}
greg_t caller = 0;  // the real return address of the running function
greg_t last = 0;    // the previous instruction

// True if a function was just called that need not be stepped; its return
// address is on top of the stack.
bool CallsOther(greg_t next) {
  if (last == 0 || IsReturn(last)) return false;
  const Code from = CodeAt(last), to = CodeAt(next);
  return (from == Code::kAsking && to != Code::kAsking) ||
         (from == Code::kLoader && to == Code::kOther);
}

void RunAtFullSpeed(greg_t* registers) {
  auto& return_address = *reinterpret_cast<greg_t*>(registers[REG_RSP]);
  caller = return_address;
  return_address = reinterpret_cast<greg_t>(&Returned);
  registers[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
  last = 0;
}

// Called after each instruction. If the next one is CPUID or XGETBV, emulates
// it and skips it.
void OnTrap(int, siginfo_t*, void* context) {
  greg_t* const registers =
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (IsReturned(registers[REG_RIP])) {
    registers[REG_RIP] = caller;
    registers[REG_EFL] |= kTrapFlag;
  } else if (CallsOther(registers[REG_RIP])) {
    return RunAtFullSpeed(registers);
  }
  last = registers[REG_RIP];
  const auto* next = reinterpret_cast<const unsigned char*>(last);
  if (next[0] == 0x0f && next[1] == 0xa2) {  // cpuid
    const Leaf l = Completed(static_cast<uint32_t>(registers[REG_RAX]),
                             static_cast<uint32_t>(registers[REG_RCX]));
    registers[REG_RAX] = l.eax;
    registers[REG_RBX] = l.ebx;
    registers[REG_RCX] = l.ecx;
    registers[REG_RDX] = l.edx;
    registers[REG_RIP] += 2;
  } else if (next[0] == 0x0f && next[1] == 0x01 && next[2] == 0xd0) {  // xgetbv
    registers[REG_RAX] = kSavedRegisters;
    registers[REG_RDX] = 0;
    registers[REG_RIP] += 3;
  }
}

void Begin(int argc, char** argv, char**) {
  if (argc != 2) return;
  for (const Features& features : kFeatures) {
    if (std::strcmp(features.isa, argv[1]) == 0) wanted = &features;
  }
  if (wanted == nullptr || HasAll(*wanted)) {
    wanted = nullptr;
    return;
  }
  dl_iterate_phdr(AddRanges, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  __writeeflags(__readeflags() | kTrapFlag);
  __builtin_cpu_init();  // for MayUse
}

// Before the initialisers of all libraries.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const begin)(int, char**, char**) = Begin;

}  // namespace

void StopEmulatingCpuid() {
  if (wanted != nullptr) __writeeflags(__readeflags() & ~kTrapFlag);
}

}  // namespace partita
#else
namespace partita {
void StopEmulatingCpuid() {}
}  // namespace partita
#endif
