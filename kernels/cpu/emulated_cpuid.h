// Lets oneDNN see instructions that the processor lacks, in a process that
// queries oneDNN and runs none of its kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_EMULATED_CPUID_H_
#define PARTITA_KERNELS_CPU_EMULATED_CPUID_H_

namespace partita {

// A program that links this emulates the instruction set of its first argument
// (a DeviceTraits::isa) from before its libraries' initialisers, in which
// oneDNN queries the processor, until it calls this function. MayUse
// (instruction_set.h) sees it too. Features of the processor are kept.
// Meanwhile oneDNN is single-stepped, which takes some tenths of a second, and
// only the results of CPUID are changed. avx512_amx, which the system must
// grant, is not emulated.
void StopEmulatingCpuid();

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_EMULATED_CPUID_H_
