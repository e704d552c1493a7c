// The loss of every step as a table, written as the training goes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_LOSS_TABLE_H_
#define PARTITA_TOOLS_PARTITA_LOSS_TABLE_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace partita {

// CSV with the columns step (from 1), epoch (from 1), loss and seconds that the
// program has trained, evaluations not counted. Losses are written with as many
// digits as make them the same f32 again. Each row is written before the next
// step, so that a process which is killed leaves no checkpoint of steps that
// the table lacks; it is not synced to the disk.
class LossTable {
 public:
  // With the head of the columns; replaces a file of that name, which stays as
  // it is where there is no room for that.
  static absl::StatusOr<LossTable> Create(const std::string& path);
  // Goes on behind the rows of the first `steps` steps. Those behind them are
  // of a training that went on from there before: they are cut off. The same as
  // Create where there is no such file, or none that keeps what is written.
  // InvalidArgument, with the line, and the file as it was, if it is no table.
  static absl::StatusOr<LossTable> Continue(const std::string& path,
                                            int64_t steps);

  // ResourceExhausted if the file has no room; it ends with a whole row then.
  // An error if it is a pipe whose reader has gone, and the signal if the
  // program does not ignore SIGPIPE.
  absl::Status Add(int64_t step, int64_t epoch, double loss, double seconds);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  LossTable(const std::string& path, std::FILE* file, off_t size)
      : path_(path), file_(file), size_(size) {}
  // `size` bytes, which are whole rows, are there to go on behind.
  static absl::StatusOr<LossTable> Open(const std::string& path,
                                        uintmax_t size);
  absl::Status Write(absl::string_view row);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  off_t size_;  // of whole rows
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_LOSS_TABLE_H_
