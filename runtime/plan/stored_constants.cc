// Collects constants by hash.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/stored_constants.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "runtime/plan/disjoint_ranges.h"
#include "runtime/plan/weight_path.h"

namespace partita {
namespace {

class Collector {
 public:
  Collector(const Plan& plan, std::string plan_path, WeightStorage weights)
      : plan_(plan),
        pool_(plan.module.literals()),
        plan_path_(std::move(plan_path)),
        weights_(weights) {}

  absl::StatusOr<StoredConstants> Collect();

 private:
  absl::Status AddGraph(const Graph& graph);
  absl::Status Add(LiteralId id);
  absl::Status AddNamed(LiteralId id);
  int ConstantOf(LiteralId id);
  // Leaves the bytes in their file, if that is requested and possible.
  void Refer(StoredConstant& constant);
  bool StaysAt(const LiteralPool::FileRange& range, const std::string& path,
               StoredConstant& constant);
  int FileIndex(const std::string& path);

  const Plan& plan_;
  const LiteralPool& pool_;
  const std::string plan_path_;
  const WeightStorage weights_;
  StoredConstants stored_;
  absl::flat_hash_map<std::pair<ContentHash, int64_t>, int> by_hash_;
  absl::flat_hash_map<std::string, int> files_;
  absl::flat_hash_map<int, DisjointRanges> taken_;  // by file
};

absl::StatusOr<StoredConstants> Collector::Collect() {
  for (const Variable& variable : plan_.module.variables()) {
    PARTITA_RETURN_IF_ERROR(AddNamed(variable.initial));
  }
  for (const auto& function : plan_.module.functions()) {
    PARTITA_RETURN_IF_ERROR(AddGraph(*function));
  }
  for (const Entry& entry : plan_.entries) {
    for (const PersistentValue& value : entry.persistent) {
      PARTITA_RETURN_IF_ERROR(Add(value.initial));
    }
  }
  return std::move(stored_);
}

absl::Status Collector::AddGraph(const Graph& graph) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (const Attributes::Entry& attribute : node.attributes.entries()) {
      const auto* literal = std::get_if<LiteralId>(&attribute.second);
      if (literal == nullptr) continue;
      PARTITA_RETURN_IF_ERROR(AddNamed(*literal));
    }
    for (const auto& region : node.regions) {
      PARTITA_RETURN_IF_ERROR(AddGraph(*region));
    }
  }
  return absl::OkStatus();
}

// A literal of the module's text; the text contains small ones in full.
absl::Status Collector::AddNamed(LiteralId id) {
  if (id.valid() && LiteralText(pool_, id)[0] != '#') return absl::OkStatus();
  return Add(id);
}

absl::Status Collector::Add(LiteralId id) {
  if (!id.valid() || stored_.places.contains(id)) return absl::OkStatus();
  if (!pool_.has_bytes(id)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "plan @", plan_.name, ": constant ", pool_.type(id).ToString(), " #",
        pool_.hash(id).ToString(),
        ": found no bytes; expected them at hand; take the plan from its file, "
        "not from its text"));
  }
  stored_.places.emplace(id, static_cast<int>(stored_.literals.size()));
  stored_.literals.push_back({id, ConstantOf(id)});
  return absl::OkStatus();
}

int Collector::ConstantOf(LiteralId id) {
  const ContentHash& hash = pool_.hash(id);
  const int64_t size = pool_.type(id).num_bytes();
  const int next = static_cast<int>(stored_.constants.size());
  const auto [it, is_new] = by_hash_.emplace(std::pair(hash, size), next);
  if (is_new) {
    stored_.constants.push_back({hash, size, id});
    if (weights_ == WeightStorage::kReference) Refer(stored_.constants.back());
  }
  return it->second;
}

void Collector::Refer(StoredConstant& constant) {
  const auto range = pool_.file_range(constant.literal);
  // Constants in an older plan are copied to the new one, which may replace it.
  if (!range.has_value() || LooksLikePlanFile(range->file->bytes())) return;
  const std::optional<std::string> path =
      StoredWeightPath(plan_path_, range->file->path());
  if (!path.has_value()) {
    stored_.outside += constant.size;
  } else if (!StaysAt(*range, *path, constant)) {
    stored_.misplaced += constant.size;
  }
}

bool Collector::StaysAt(const LiteralPool::FileRange& range,
                        const std::string& path, StoredConstant& constant) {
  const int element = BitsOf(pool_.type(constant.literal).dtype) / 8;
  if (range.offset % element != 0) return false;
  const int file = FileIndex(path);
  // Of tensors that overlap in a file, one stays there.
  if (!taken_[file].Take(range.offset, constant.size)) return false;
  constant.file = file;
  constant.offset = range.offset;
  return true;
}

int Collector::FileIndex(const std::string& path) {
  const int next = static_cast<int>(stored_.files.size());
  const auto [it, is_new] = files_.emplace(path, next);
  if (is_new) stored_.files.push_back(path);
  return it->second;
}

}  // namespace

absl::StatusOr<StoredConstants> CollectConstants(const Plan& plan,
                                                 const std::string& plan_path,
                                                 WeightStorage weights) {
  return Collector(plan, plan_path, weights).Collect();
}

}  // namespace partita
