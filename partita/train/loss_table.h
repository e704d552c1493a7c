// The loss of every step as a table, written during the training.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_LOSS_TABLE_H_
#define PARTITA_PARTITA_TRAIN_LOSS_TABLE_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace partita {

// CSV with the columns step (from 1), epoch (from 1), loss, and seconds of
// training, without evaluations. Losses have enough digits to parse as the same
// f32. Each row is written before the next step, so that a killed process
// leaves no checkpoint with steps that the table lacks; it is not synced to the
// disk.
class LossTable {
 public:
  // With the header; replaces a file of that name, which does not change if the
  // disk is full.
  static absl::StatusOr<LossTable> Create(const std::string& path);
  // Continues after the rows of the first `steps` steps. Later rows, from a
  // previous run, are removed. Like Create if there is no such file, or if it
  // is not a regular one. InvalidArgument, with the line, and the file
  // unchanged, if it is not a table.
  static absl::StatusOr<LossTable> Continue(const std::string& path,
                                            int64_t steps);

  // ResourceExhausted if the disk is full; the file then ends with a whole row.
  // An error if it is a pipe without a reader, and the signal if the program
  // does not ignore SIGPIPE.
  absl::Status Add(int64_t step, int64_t epoch, double loss, double seconds);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  LossTable(const std::string& path, std::FILE* file, off_t size)
      : path_(path), file_(file), size_(size) {}
  // `size`: bytes of whole rows, after which writing continues.
  static absl::StatusOr<LossTable> Open(const std::string& path,
                                        uintmax_t size);
  absl::Status Write(absl::string_view row);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  off_t size_;  // of whole rows
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_LOSS_TABLE_H_
