// Finds the bytes of every literal in a mapped file.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/unpack_literals.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/disjoint_ranges.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/weight_path.h"

namespace partita {
namespace {

constexpr int kPlanFile = -1;  // instead of the index of another file

// Adds to the error of a file that cannot be mapped what the file is for.
absl::StatusOr<std::shared_ptr<const MappedFile>> OpenWeights(
    const std::string& path) {
  absl::StatusOr<std::shared_ptr<const MappedFile>> opened =
      MappedFile::Open(path);
  if (opened.ok()) return opened;
  return absl::Status(opened.status().code(),
                      absl::StrCat("weights: ", opened.status().message(),
                                   "; it is what the plan was compiled from"));
}

class LiteralUnpacker {
 public:
  LiteralUnpacker(std::shared_ptr<const MappedFile> plan_file,
                  const ReadPlanOptions& options, MetadataReader& reader,
                  LiteralPool& literals)
      : plan_file_(std::move(plan_file)),
        options_(options),
        reader_(reader),
        literals_(literals) {}

  void Unpack(const fb::Plan& from) {
    std::error_code error;
    by_path_[std::filesystem::canonical(plan_file_->path(), error).string()] =
        plan_file_;
    files_ = reader_.Texts(from.files());
    opened_.resize(files_.size());
    constants_ = from.constants();
    if (constants_ != nullptr &&
        !reader_.Spend(int64_t{4} * constants_->size())) {
      return;
    }
    reader_.ForEach(from.literals(), [this](const fb::Literal& literal) {
      ReadLiteral(literal);
    });
  }

 private:
  void ReadLiteral(const fb::Literal& from);
  // Null after a fault.
  std::shared_ptr<const MappedFile> FileOf(int file);
  absl::StatusOr<std::shared_ptr<const MappedFile>> OpenOnce(
      const std::string& path);
  bool CheckPlace(absl::string_view where, const fb::Constant& constant,
                  const TensorType& type, const MappedFile& file);
  // Bounds the work: each byte of the files is read at most once.
  bool TakeBytes(absl::string_view where, const fb::Constant& constant,
                 const MappedFile& file);
  bool CheckHash(absl::string_view where, const fb::Constant& constant,
                 const MappedFile& file);
  bool Fail(absl::string_view where, absl::string_view message) {
    reader_.Fail(where, message);
    return false;
  }

  std::shared_ptr<const MappedFile> plan_file_;
  const ReadPlanOptions& options_;
  MetadataReader& reader_;
  LiteralPool& literals_;
  const Tables<fb::Constant>* constants_ = nullptr;
  std::vector<std::string> files_;
  // By file; null: not opened.
  std::vector<std::shared_ptr<const MappedFile>> opened_;
  absl::flat_hash_map<std::string, std::shared_ptr<const MappedFile>> by_path_;
  absl::flat_hash_map<const MappedFile*, DisjointRanges> taken_;
  absl::flat_hash_set<int> seen_;  // several literals may share a constant
};

void LiteralUnpacker::ReadLiteral(const fb::Literal& from) {
  const int count =
      constants_ == nullptr ? 0 : static_cast<int>(constants_->size());
  TensorType type = reader_.Type(from.type());
  if (from.constant() < 0 || from.constant() >= count) {
    reader_.Fail("constant", absl::StrCat("found number ", from.constant(),
                                          "; expected one of ", count));
  }
  if (!reader_.ok()) return;
  const fb::Constant& constant = *constants_->Get(from.constant());
  std::shared_ptr<const MappedFile> file = FileOf(constant.file());
  if (file == nullptr) return;
  // Messages begin with the plan's file.
  const std::string where = absl::StrCat(
      "constant ", from.constant(),
      file == plan_file_ ? "" : absl::StrCat(" in ", file->path()));
  if (!CheckPlace(where, constant, type, *file)) return;
  if (seen_.insert(from.constant()).second &&
      (!TakeBytes(where, constant, *file) ||
       !CheckHash(where, constant, *file))) {
    return;
  }
  literals_.AddMapped(std::move(type), std::move(file), constant.offset(),
                      HashOf(constant.hash()));
}

std::shared_ptr<const MappedFile> LiteralUnpacker::FileOf(int file) {
  if (file == kPlanFile) return plan_file_;
  if (file < 0 || static_cast<size_t>(file) >= files_.size()) {
    reader_.Fail("constant", absl::StrCat("found file ", file,
                                          "; expected one of ", files_.size()));
    return nullptr;
  }
  if (opened_[file] != nullptr) return opened_[file];
  const absl::StatusOr<std::string> path =
      OpenedWeightPath(plan_file_->path(), files_[file]);
  if (!path.ok()) {
    reader_.Update(path.status());
    return nullptr;
  }
  absl::StatusOr<std::shared_ptr<const MappedFile>> opened = OpenOnce(*path);
  reader_.Update(opened.status());
  if (opened.ok()) opened_[file] = *std::move(opened);
  return opened_[file];
}

// One file may have many names.
absl::StatusOr<std::shared_ptr<const MappedFile>> LiteralUnpacker::OpenOnce(
    const std::string& path) {
  std::error_code error;
  const std::string name = std::filesystem::canonical(path, error).string();
  if (error) return OpenWeights(path);  // says what is wrong with it
  std::shared_ptr<const MappedFile>& known = by_path_[name];
  if (known == nullptr) {
    PARTITA_ASSIGN_OR_RETURN(known, OpenWeights(path));
  }
  return known;
}

bool LiteralUnpacker::CheckPlace(absl::string_view where,
                                 const fb::Constant& constant,
                                 const TensorType& type,
                                 const MappedFile& file) {
  const absl::Status fits =
      CheckFileRange(constant.offset(), constant.size(),
                     static_cast<int64_t>(file.bytes().size()));
  if (!fits.ok()) return Fail(where, fits.message());
  if (constant.size() != type.num_bytes()) {
    return Fail(where,
                absl::StrCat("found ", constant.size(), " bytes; expected ",
                             type.num_bytes(), " of ", type.ToString()));
  }
  // Other files may have any alignment.
  const int64_t alignment =
      constant.file() == kPlanFile ? 64 : BitsOf(type.dtype) / 8;
  if (constant.offset() % alignment == 0) return true;
  return Fail(where, absl::StrCat("found offset ", constant.offset(),
                                  "; expected a multiple of ", alignment));
}

bool LiteralUnpacker::TakeBytes(absl::string_view where,
                                const fb::Constant& constant,
                                const MappedFile& file) {
  if (taken_[&file].Take(constant.offset(), constant.size())) return true;
  return Fail(where, absl::StrCat("found bytes ", constant.offset(), "..",
                                  constant.offset() + constant.size(),
                                  ", which overlap another constant; expected "
                                  "separate bytes; compile again"));
}

bool LiteralUnpacker::CheckHash(absl::string_view where,
                                const fb::Constant& constant,
                                const MappedFile& file) {
  if (!options_.verify_hashes) return true;
  const ContentHash expected = HashOf(constant.hash());
  const ContentHash found =
      HashBytes(file.bytes().subspan(constant.offset(), constant.size()));
  if (found == expected) return true;
  return Fail(where, absl::StrCat("found #", found.ToString(), "; expected #",
                                  expected.ToString(),
                                  "; the file was changed since the plan was "
                                  "compiled: compile again"));
}

}  // namespace

void UnpackLiterals(const fb::Plan& from,
                    std::shared_ptr<const MappedFile> plan_file,
                    const ReadPlanOptions& options, MetadataReader& reader,
                    LiteralPool& literals) {
  LiteralUnpacker(std::move(plan_file), options, reader, literals).Unpack(from);
}

}  // namespace partita
