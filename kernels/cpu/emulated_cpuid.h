// Lets oneDNN find instructions that the processor lacks, in a process that
// asks oneDNN what it would do with them and runs none of its kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_EMULATED_CPUID_H_
#define PARTITA_KERNELS_CPU_EMULATED_CPUID_H_

namespace partita {

// A program that links this has the instruction set of its first argument (a
// DeviceTraits::isa) from before its libraries' initialisers, in which oneDNN
// asks the processor, until it calls this; MayUse of it (instruction_set.h),
// too. What the processor has, it has anyway. oneDNN runs one instruction at a
// time meanwhile, which takes some tenths of a second, and what CPUID gives is
// completed: nothing else is changed. avx512_amx, which the system must grant,
// is not emulated.
void StopEmulatingCpuid();

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_EMULATED_CPUID_H_
