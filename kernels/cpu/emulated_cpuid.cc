// The processor's trap flag, and a handler that looks for CPUID and XGETBV.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/emulated_cpuid.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <cstdint>
#include <cstring>

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
// And FMA, XSAVE, OSXSAVE, AVX, F16C.
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

// After each instruction: the next one, if it is one of the two, is computed
// here and stepped over.
void OnTrap(int, siginfo_t*, void* context) {
  greg_t* const registers =
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* next = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
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
  struct sigaction action = {};
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  __writeeflags(__readeflags() | kTrapFlag);
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
