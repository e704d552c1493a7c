// The versions: oneDNN states its own, the code generator that of its LLVM, and
// headers those of Abseil and protobuf.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/version_text.h"

#include <google/protobuf/stubs/common.h>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/host_capacity.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/cpu/onednn_isa.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_format.h"
#include "tools/partita/build_version.h"

namespace partita {
namespace {

std::string Commit() {
  const std::string commit = kBuildCommit;
  return commit.empty() ? "not recorded in this build" : commit;
}

std::string Llvm() {
  const absl::StatusOr<std::string> version = LlvmVersion();
  if (version.ok()) return absl::StrCat("LLVM ", *version);
  return absl::StrCat("no LLVM (", version.status().message(), ")");
}

std::string Libraries() {
  return absl::StrCat(
      "Abseil ", ABSL_LTS_RELEASE_VERSION, ", oneDNN ", OnednnVersion(),
      ", protobuf ",
      google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION), ", ",
      Llvm());
}

}  // namespace

std::string VersionText() {
  return absl::StrCat("partita ", kBuildVersion, "\ncommit: ", Commit(),
                      "\nplans: writes format ", kPlanFormatVersion,
                      ", reads it and older ones; proves by ", kCheckerName,
                      "\nlibraries: ", Libraries(),
                      "\ninstruction sets: ", absl::StrJoin(UsableIsas(), ", "),
                      "\n");
}

}  // namespace partita
