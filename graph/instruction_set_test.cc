// Runs with ONEDNN_MAX_CPU_ISA=sse41 (see BUILD), as on a processor of 2008.
// SPDX-License-Identifier: Apache-2.0

#include "graph/instruction_set.h"

#include "graph/host_capacity.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(InstructionSet, TheEnvironmentLimitsTheProcessor) {
  for (InstructionSet set :
       {InstructionSet::kF16c, InstructionSet::kAvx2, InstructionSet::kAvx512,
        InstructionSet::kAvx512Bf16}) {
    EXPECT_FALSE(MayUse(set));
  }
}

TEST(InstructionSet, TheHostHasTheSameLimit) {
  const std::vector<std::string> isas = ThisHost().isas;
  EXPECT_EQ(isas, UsableIsas());
  EXPECT_EQ(isas.empty(), !MayUse(InstructionSet::kSse4));
  for (const std::string& isa : isas) EXPECT_EQ(isa, "sse4");
}

}  // namespace
}  // namespace partita
