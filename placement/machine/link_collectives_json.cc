// Reads and writes the collectives of links.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/link_collectives_json.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/status_macros.h"
#include "placement/machine/traits_json.h"

namespace partita {
namespace {

absl::StatusOr<std::optional<CollectiveFigures>> ReadFigures(
    const JsonObject& link, absl::string_view key) {
  if (!link.Has(key)) return std::nullopt;
  PARTITA_ASSIGN_OR_RETURN(const JsonObject object, link.Object(key));
  PARTITA_RETURN_IF_ERROR(object.AllowKeys({"bandwidth", "latency"}));
  CollectiveFigures figures;
  PARTITA_RETURN_IF_ERROR(
      ReadTransferFigures(object, figures.bandwidth, figures.latency));
  return figures;
}

std::string FiguresJson(absl::string_view key,
                        const std::optional<CollectiveFigures>& figures) {
  if (!figures.has_value()) return "";
  return absl::StrCat(", ", JsonQuoted(key), ": {",
                      TransferFiguresJson(figures->bandwidth, figures->latency),
                      "}");
}

}  // namespace

absl::StatusOr<LinkCollectives> ReadLinkCollectives(const JsonObject& link) {
  LinkCollectives collectives;
  PARTITA_ASSIGN_OR_RETURN(collectives.gather, ReadFigures(link, "gather"));
  PARTITA_ASSIGN_OR_RETURN(collectives.reduce, ReadFigures(link, "reduce"));
  return collectives;
}

std::string LinkCollectivesJson(const LinkCollectives& collectives) {
  return absl::StrCat(FiguresJson("gather", collectives.gather),
                      FiguresJson("reduce", collectives.reduce));
}

}  // namespace partita
