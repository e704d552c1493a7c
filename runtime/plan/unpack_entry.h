// Reads one entry of a plan file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_UNPACK_ENTRY_H_
#define PARTITA_RUNTIME_PLAN_UNPACK_ENTRY_H_

#include "runtime/plan/metadata_reader.h"
#include "runtime/plan/plan.h"

namespace partita {

// Copies ids from the file unchecked. Needs: the functions and literals of
// `module`. Faults go to `reader`.
Entry UnpackEntry(const fb::Entry& from, const Module& module,
                  MetadataReader& reader);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_UNPACK_ENTRY_H_
