// Reads the literals of a plan file, and maps the files with their bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_UNPACK_LITERALS_H_
#define PARTITA_RUNTIME_PLAN_UNPACK_LITERALS_H_

#include <memory>

#include "graph/literal_pool.h"
#include "runtime/plan/metadata_reader.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// Adds the literals of the plan in `plan_file` to the pool, in order. Their
// bytes stay in that file or in files beside it; each file is mapped once.
// Faults go to `reader`.
void UnpackLiterals(const fb::Plan& from,
                    std::shared_ptr<const MappedFile> plan_file,
                    const ReadPlanOptions& options, MetadataReader& reader,
                    LiteralPool& literals);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_UNPACK_LITERALS_H_
