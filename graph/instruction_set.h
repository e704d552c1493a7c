// The one place that says which vector instructions this process may use.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_INSTRUCTION_SET_H_
#define PARTITA_GRAPH_INSTRUCTION_SET_H_

namespace partita {

enum class InstructionSet {
  kSse4,        // SSE 4.2 and POPCNT
  kF16c,        // conversions of f16
  kAvx2,        // with FMA
  kAvx512,      // F, BW, DQ and VL
  kAvx512Bf16,  // products of bf16
  kAvx512Amx,   // and of tiles of int8 and bf16, as far as the system lets us
};

// True if the processor has it and the environment allows it. As oneDNN does,
// the environment's ONEDNN_MAX_CPU_ISA, or DNNL_MAX_CPU_ISA, may name less than
// the processor has (SSE41, AVX, AVX2, AVX512_CORE, ...): it holds for oneDNN's
// kernels, for ours and for what this host is said to have, so that one sees
// what an older processor would do. AVX allows no more here than SSE41 does.
bool MayUse(InstructionSet set);

}  // namespace partita

#endif  // PARTITA_GRAPH_INSTRUCTION_SET_H_
