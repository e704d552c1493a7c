// Loads, writes and describes plans for the C API.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "partita/c_api/plan_handle.h"
#include "partita/c_api/plan_in_memory.h"

namespace partita::c_api {
namespace {

using absl::StatusOr;

StatusOr<partita_plan*> NewPlan(StatusOr<ProvedPlan> proved) {
  PARTITA_RETURN_IF_ERROR(proved.status());
  auto plan = std::make_unique<partita_plan>();
  plan->proved = *std::move(proved);
  return plan.release();
}

// The body of calls that return something about a plan: `read` returns it.
template <typename Result>
partita_code FromPlan(
    const partita_plan* plan, Result* result, absl::string_view name,
    partita_status* status,
    absl::FunctionRef<StatusOr<Result>(const partita_plan&)> read) {
  return AtBorder(status, [&] {
    return Return(result, name, [&]() -> StatusOr<Result> {
      PARTITA_RETURN_IF_ERROR(CheckHandle(plan));
      return read(*plan);
    });
  });
}

}  // namespace
}  // namespace partita::c_api

using absl::StatusOr;
using partita::Entry;
using partita::LoadPlan;
using partita::WritePlan;
using partita::c_api::AtBorder;
using partita::c_api::CheckGiven;
using partita::c_api::CheckHandle;
using partita::c_api::FreeHandle;
using partita::c_api::FromPlan;
using partita::c_api::LoadPlanInMemory;
using partita::c_api::NewPlan;
using partita::c_api::Return;

partita_code partita_plan_load(const char* path, partita_plan** plan,
                               partita_status* status) {
  return AtBorder(status, [&] {
    return Return(plan, "plan", [&]() -> StatusOr<partita_plan*> {
      PARTITA_RETURN_IF_ERROR(
          CheckGiven(path, "path", "the name of a plan file"));
      return NewPlan(LoadPlan(path));
    });
  });
}

partita_code partita_plan_load_memory(const void* bytes, size_t size,
                                      partita_plan** plan,
                                      partita_status* status) {
  return AtBorder(status, [&] {
    return Return(plan, "plan", [&]() -> StatusOr<partita_plan*> {
      PARTITA_RETURN_IF_ERROR(
          CheckGiven(bytes, "bytes", "those of a plan file"));
      return NewPlan(
          LoadPlanInMemory({static_cast<const std::byte*>(bytes), size}));
    });
  });
}

partita_code partita_plan_write(partita_plan* plan, const char* path,
                                partita_status* status) {
  return AtBorder(status, [&]() -> absl::Status {
    PARTITA_RETURN_IF_ERROR(CheckHandle(plan));
    PARTITA_RETURN_IF_ERROR(
        CheckGiven(path, "path", "the name of a plan file"));
    const std::lock_guard lock(plan->hashing);
    return WritePlan(plan->contents(), path, plan->file_options).status();
  });
}

partita_code partita_plan_name(const partita_plan* plan, const char** name,
                               partita_status* status) {
  return FromPlan<const char*>(
      plan, name, "name", status,
      [](const partita_plan& of) { return of.contents().name.c_str(); });
}

partita_code partita_plan_summary(const partita_plan* plan,
                                  const char** summary,
                                  partita_status* status) {
  return FromPlan<const char*>(
      plan, summary, "summary", status, [](const partita_plan& of) {
        const auto& notes = of.contents().notes;
        return notes.has_value() ? notes->summary.c_str() : "";
      });
}

partita_code partita_plan_warnings(const partita_plan* plan,
                                   const char** warnings,
                                   partita_status* status) {
  return FromPlan<const char*>(
      plan, warnings, "warnings", status,
      [](const partita_plan& of) { return of.warnings.c_str(); });
}

partita_code partita_plan_num_entries(const partita_plan* plan, size_t* entries,
                                      partita_status* status) {
  return FromPlan<size_t>(
      plan, entries, "entries", status,
      [](const partita_plan& of) { return of.contents().entries.size(); });
}

partita_code partita_plan_entry_name(const partita_plan* plan, size_t entry,
                                     const char** name,
                                     partita_status* status) {
  return FromPlan<const char*>(
      plan, name, "name", status,
      [entry](const partita_plan& of) -> StatusOr<const char*> {
        const std::vector<Entry>& entries = of.contents().entries;
        if (entry < entries.size()) return entries[entry].name.c_str();
        return absl::InvalidArgumentError(
            absl::StrCat("plan: found entry ", entry,
                         "; expected an index below ", entries.size()));
      });
}

partita_code partita_plan_free(partita_plan* plan) { return FreeHandle(plan); }
