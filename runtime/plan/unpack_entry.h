// One entry of a plan file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_UNPACK_ENTRY_H_
#define PARTITA_RUNTIME_PLAN_UNPACK_ENTRY_H_

#include "runtime/plan/metadata_reader.h"
#include "runtime/plan/plan.h"

namespace partita {

// Ids are as they stand in the file, so they may name nothing. Needs: the
// functions and literals of `module`. Faults go to `reader`.
Entry UnpackEntry(const fb::Entry& from, const Module& module,
                  MetadataReader& reader);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_UNPACK_ENTRY_H_
