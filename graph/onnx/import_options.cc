// Errors that carry the option that would mend them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/import_options.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace partita {
namespace {

constexpr absl::string_view kPayload = "partita/import_option";

constexpr struct {
  ImportOption option;
  absl::string_view name;
} kNames[] = {
    {ImportOption::kDims, "dims"},
    {ImportOption::kShapes, "shapes"},
    {ImportOption::kValues, "values"},
    {ImportOption::kGivenExtents, "given extents"},
    {ImportOption::kStrictTypes, "strict types"},
};

}  // namespace

std::optional<ImportOption> MendingOption(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  for (const auto& row : kNames) {
    if (payload.has_value() && *payload == row.name) return row.option;
  }
  return std::nullopt;
}

absl::Status MendedBy(ImportOption option, absl::Status status) {
  for (const auto& row : kNames) {
    if (row.option == option) status.SetPayload(kPayload, absl::Cord(row.name));
  }
  return status;
}

absl::Status Reworded(const absl::Status& status, std::string message) {
  const absl::Status reworded(status.code(), message);
  const std::optional<ImportOption> option = MendingOption(status);
  return option.has_value() ? MendedBy(*option, reworded) : reworded;
}

}  // namespace partita
