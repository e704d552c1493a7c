// Errors with the option that would fix them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/import_options.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "graph/option_error.h"

namespace partita {
namespace {

constexpr absl::string_view kPayload = "partita/import_option";
constexpr absl::string_view kGivenName = "partita/given_name";
// Names in sequence, each ended by a byte that no name contains.
constexpr absl::string_view kInputs = "partita/deciding_inputs";
constexpr absl::string_view kNameEnd("\0", 1);

constexpr struct {
  ImportOption option;
  absl::string_view name;
} kNames[] = {
    {ImportOption::kDims, "dims"},
    {ImportOption::kShapes, "shapes"},
    {ImportOption::kValues, "values"},
    {ImportOption::kGivenExtents, "given extents"},
    {ImportOption::kStrictTypes, "strict types"},
    {ImportOption::kInputs, "inputs"},
};

absl::string_view NameOf(ImportOption option) {
  for (const auto& row : kNames) {
    if (row.option == option) return row.name;
  }
  return "";
}

std::optional<ImportOption> OptionNamed(absl::string_view name) {
  for (const auto& row : kNames) {
    if (row.name == name) return row.option;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ImportOption> RemedyOption(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  return OptionNamed(std::string(*payload));
}

absl::Status WithRemedyOption(ImportOption option, absl::Status status) {
  status.SetPayload(kPayload, absl::Cord(NameOf(option)));
  return status;
}

absl::Status GivenWrongly(ImportOption option, absl::string_view name,
                          absl::string_view message) {
  absl::Status status =
      OfOption(NameOf(option), absl::InvalidArgumentError(message));
  status.SetPayload(kGivenName, absl::Cord(name));
  return status;
}

std::optional<GivenOption> GivenOptionOf(const absl::Status& status) {
  const absl::optional<absl::Cord> name = status.GetPayload(kGivenName);
  const std::optional<ImportOption> option = OptionNamed(OptionOf(status));
  if (!name.has_value() || !option.has_value()) return std::nullopt;
  return GivenOption{*option, std::string(*name)};
}

absl::Status DecidedBy(const std::vector<std::string>& inputs,
                       absl::Status status) {
  status.SetPayload(kInputs, absl::Cord(absl::StrJoin(inputs, kNameEnd)));
  return WithRemedyOption(ImportOption::kValues, std::move(status));
}

std::vector<std::string> DecidingInputs(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kInputs);
  if (!payload.has_value() || payload->empty()) return {};
  return absl::StrSplit(std::string(*payload), kNameEnd);
}

std::string JoinedInputs(const std::vector<std::string>& inputs) {
  if (inputs.size() == 1) return absl::StrCat("input ", inputs[0]);
  return absl::StrCat("inputs ", absl::StrJoin(inputs, ", "));
}

absl::Status ReplaceMessage(const absl::Status& status, std::string message) {
  absl::Status with_advice(status.code(), message);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord&) {
    with_advice.SetPayload(url, *status.GetPayload(url));
  });
  return with_advice;
}

}  // namespace partita
