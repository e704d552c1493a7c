// The workers, and the ring that they fill for one consumer.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/loader.h"

#include <sys/prctl.h>

#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr absl::string_view kWhere = "loader";
constexpr int kMaxWorkers = 256;
constexpr int kMaxBuffers = 1024;

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  return passed.count();
}

TensorType BatchType(const DatasetField& field, int64_t samples) {
  TensorType type = field.type;
  type.dims.insert(type.dims.begin(), samples);
  return type;
}

absl::Status CheckRange(absl::string_view what, int64_t found, int64_t least,
                        int64_t most) {
  if (found >= least && found <= most) return absl::OkStatus();
  return BadFile(kWhere, absl::StrCat(what, " ", found),
                 absl::StrCat(least, " to ", most));
}

absl::Status CheckOptions(const LoaderOptions& options,
                          const Sampler& sampler) {
  // 64 bits count the batches of all epochs.
  const int64_t most_epochs =
      std::numeric_limits<int64_t>::max() / sampler.num_batches();
  PARTITA_RETURN_IF_ERROR(
      CheckRange("workers", options.workers, 1, kMaxWorkers));
  PARTITA_RETURN_IF_ERROR(
      CheckRange("buffers", options.buffers, 2, kMaxBuffers));
  PARTITA_RETURN_IF_ERROR(
      CheckRange("end epoch", options.end_epoch, 1, most_epochs));
  PARTITA_RETURN_IF_ERROR(
      CheckRange("first epoch", options.first_epoch, 0, options.end_epoch - 1));
  return CheckRange("first batch", options.first_batch, 0,
                    sampler.num_batches() - 1);
}

absl::Status CheckBuffers(const Dataset& dataset, const Sampler& sampler) {
  if (sampler.num_samples() != dataset.num_samples()) {
    return BadFile(
        kWhere,
        absl::StrCat("a sampler of ", sampler.num_samples(), " samples"),
        absl::StrCat(dataset.num_samples(), " as in the dataset"));
  }
  for (const DatasetField& field : dataset.fields()) {
    const absl::Status status =
        CheckType(BatchType(field, sampler.max_share()));
    if (!status.ok()) {
      return AtPlace(absl::StrCat(kWhere, ": ", field.name), status);
    }
  }
  return absl::OkStatus();
}

}  // namespace

struct Loader::Slot {
  enum class State { kEmpty, kFilled, kHeld };
  State state = State::kEmpty;
  int64_t number = 0;  // number of the batch that it holds or waits for
  // Owned by the worker while kEmpty, then by the caller.
  int64_t epoch = 0;
  int64_t batch = 0;
  BatchShare share;
  std::vector<HostTensor> buffers;  // by field, for the largest shard
  std::vector<HostTensor> fields;   // of the present shard, in the buffers
  absl::Status status;
};

LoadedBatch::LoadedBatch(LoadedBatch&& other) noexcept
    : loader_(std::exchange(other.loader_, nullptr)), slot_(other.slot_) {}

LoadedBatch& LoadedBatch::operator=(LoadedBatch&& other) noexcept {
  std::swap(loader_, other.loader_);
  std::swap(slot_, other.slot_);
  return *this;
}

LoadedBatch::~LoadedBatch() {
  if (loader_ != nullptr) loader_->Release(slot_);
}

int64_t LoadedBatch::epoch() const { return loader_->slots_[slot_].epoch; }
int64_t LoadedBatch::batch() const { return loader_->slots_[slot_].batch; }
const BatchShare& LoadedBatch::share() const {
  return loader_->slots_[slot_].share;
}
const HostTensor& LoadedBatch::field(int i) const {
  return loader_->slots_[slot_].fields[i];
}
HostTensor& LoadedBatch::field(int i) {
  return loader_->slots_[slot_].fields[i];
}

absl::StatusOr<std::unique_ptr<Loader>> Loader::Create(
    SharedDataset dataset, const Sampler& sampler,
    const LoaderOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckOptions(options, sampler));
  PARTITA_RETURN_IF_ERROR(CheckBuffers(*dataset, sampler));
  std::unique_ptr<Loader> loader(
      new Loader(std::move(dataset), sampler, options));
  for (int i = 0; i < options.workers; ++i) {
    loader->workers_.emplace_back(&Loader::Work, loader.get());
  }
  return loader;
}

Loader::Loader(SharedDataset dataset, const Sampler& sampler,
               const LoaderOptions& options)
    : dataset_(std::move(dataset)),
      sampler_(sampler),
      options_(options),
      num_batches_((options.end_epoch - options.first_epoch) *
                       sampler.num_batches() -
                   options.first_batch),
      slots_(options.buffers) {
  for (size_t s = 0; s < slots_.size(); ++s) {
    slots_[s].number = static_cast<int64_t>(s);
    for (const DatasetField& field : dataset_->fields()) {
      slots_[s].buffers.emplace_back(BatchType(field, sampler_.max_share()));
    }
  }
}

Loader::~Loader() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  freed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Loader::Work() {
  prctl(PR_SET_NAME, "partita-loader");
  while (Slot* slot = Claim()) Publish(*slot, Fill(*slot));
}

Loader::Slot* Loader::Claim() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (stopping_ || next_claimed_ == num_batches_) return nullptr;
  const int64_t number = next_claimed_++;
  Slot& slot = slots_[number % slots_.size()];
  freed_.wait(lock, [&] { return stopping_ || slot.number == number; });
  return stopping_ ? nullptr : &slot;
}

absl::Status Loader::Fill(Slot& slot) {
  const int64_t at = options_.first_batch + slot.number;
  slot.epoch = options_.first_epoch + at / sampler_.num_batches();
  slot.batch = at % sampler_.num_batches();
  slot.share = ShareOf(slot.epoch, slot.batch);
  const std::vector<int64_t>& samples = slot.share.samples;
  slot.fields.clear();
  std::vector<std::byte*> to;
  for (size_t i = 0; i < slot.buffers.size(); ++i) {
    to.push_back(slot.buffers[i].bytes());
    slot.fields.push_back(HostTensor::View(
        BatchType(dataset_->fields()[i], static_cast<int64_t>(samples.size())),
        to.back()));
  }
  for (int64_t sample : samples) {
    if (stopping_) return absl::CancelledError("the loader is being stopped");
    const absl::Status status = dataset_->CopySample(sample, to);
    if (!status.ok()) {
      return AtPlace(absl::StrCat("epoch ", slot.epoch, " batch ", slot.batch,
                                  " sample ", sample),
                     status);
    }
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] += dataset_->fields()[i].type.num_bytes();
    }
  }
  return absl::OkStatus();
}

void Loader::Publish(Slot& slot, absl::Status status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    slot.status = std::move(status);
    slot.state = Slot::State::kFilled;
  }
  filled_.notify_all();
}

absl::StatusOr<std::optional<LoadedBatch>> Loader::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (next_handed_ == num_batches_) return std::nullopt;
  const size_t index = next_handed_ % slots_.size();
  Slot& slot = slots_[index];
  if (slot.state == Slot::State::kHeld) {
    return absl::FailedPreconditionError(absl::StrCat(
        kWhere, ": found all ", slots_.size(),
        " buffers in use; expected one that was given back; destroy batches "
        "that are done with, or ask for more buffers"));
  }
  const auto filled = [&] { return slot.state == Slot::State::kFilled; };
  if (!filled()) {
    const auto asked = std::chrono::steady_clock::now();
    filled_.wait(lock, filled);
    seconds_waited_ += SecondsSince(asked);
  }
  if (!slot.status.ok()) return slot.status;
  slot.state = Slot::State::kHeld;
  ++next_handed_;
  return LoadedBatch(this, static_cast<int>(index));
}

void Loader::Release(int slot) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    slots_[slot].state = Slot::State::kEmpty;
    slots_[slot].number += static_cast<int64_t>(slots_.size());
  }
  freed_.notify_all();
}

// Workers are at one epoch or at two consecutive ones, unless epochs are
// shorter than the ring; then an order may be computed again.
BatchShare Loader::ShareOf(int64_t epoch, int64_t batch) {
  const std::lock_guard<std::mutex> lock(orders_mutex_);
  EpochOrder& order = orders_[epoch % 2];
  if (order.epoch != epoch) order = {epoch, sampler_.Order(epoch)};
  return sampler_.Share(order.samples, batch);
}

}  // namespace partita
