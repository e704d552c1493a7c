// The loss of every step as a table, written as the training goes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_LOSS_TABLE_H_
#define PARTITA_TOOLS_PARTITA_LOSS_TABLE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace partita {

// CSV with the columns step (from 1), epoch (from 1), loss and seconds since
// the program began to train. Losses are written with as many digits as make
// them the same f32 again.
class LossTable {
 public:
  // With the head of the columns; replaces a file of that name.
  static absl::StatusOr<LossTable> Create(const std::string& path);

  absl::Status Add(int64_t step, int64_t epoch, double loss, double seconds);
  // All rows so far to the file: ResourceExhausted if it has no room.
  absl::Status Flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  LossTable(const std::string& path, std::FILE* file)
      : path_(path), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_LOSS_TABLE_H_
