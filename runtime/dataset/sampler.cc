// Splits epochs into batches, and batches into shards of ranks.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/sampler.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ops/philox.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// Keeps rank * places far from overflow.
constexpr int64_t kMaxBatch = int64_t{1} << 31;
constexpr int64_t kMaxRanks = int64_t{1} << 20;

constexpr absl::string_view kWhere = "sampler";

absl::Status CheckOptions(const SamplerOptions& options) {
  if (options.batch_size < 1 || options.batch_size > kMaxBatch) {
    return BadFile(kWhere, absl::StrCat("batch size ", options.batch_size),
                   absl::StrCat("1 to ", kMaxBatch),
                   "give the samples of a step over all ranks");
  }
  if (options.ranks < 1 || options.ranks > kMaxRanks) {
    return BadFile(kWhere, absl::StrCat(options.ranks, " ranks"),
                   absl::StrCat("1 to ", kMaxRanks),
                   "give the number of ranks that share a batch");
  }
  if (options.rank >= 0 && options.rank < options.ranks) {
    return absl::OkStatus();
  }
  return BadFile(kWhere, absl::StrCat("rank ", options.rank),
                 absl::StrCat("0 to ", options.ranks - 1), "count them from 0");
}

int64_t NumBatches(int64_t num_samples, const SamplerOptions& options) {
  const int64_t whole = num_samples / options.batch_size;
  const bool rest = num_samples % options.batch_size != 0;
  return whole + (rest && options.last != LastBatch::kDrop ? 1 : 0);
}

// Distinguishes these words from those of random ops with the same seed:
// "SHUF".
constexpr uint32_t kPurpose = 0x53485546;

uint32_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t High(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

class RandomWords {
 public:
  RandomWords(uint64_t seed, uint64_t epoch)
      : key_{Low(seed), High(seed) ^ kPurpose}, epoch_(epoch) {}

  uint64_t Next() {
    if (half_ == 0) {
      block_ = Philox({Low(number_), High(number_), Low(epoch_), High(epoch_)},
                      key_);
      ++number_;
    }
    const uint64_t word = block_[half_] | uint64_t{block_[half_ + 1]} << 32;
    half_ ^= 2;
    return word;
  }

  // Uniform in 0 .. bound - 1: the high half of word * bound, after rejecting
  // the few words whose low half is below 2^64 mod bound.
  uint64_t Below(uint64_t bound) {
    const uint64_t uneven = -bound % bound;
    while (true) {
      const unsigned __int128 product =
          static_cast<unsigned __int128>(Next()) * bound;
      if (static_cast<uint64_t>(product) >= uneven) {
        return static_cast<uint64_t>(product >> 64);
      }
    }
  }

 private:
  const std::array<uint32_t, 2> key_;
  const uint64_t epoch_;
  uint64_t number_ = 0;  // of the next block
  std::array<uint32_t, 4> block_ = {};
  int half_ = 0;  // of the block: where its next word begins
};

}  // namespace

absl::StatusOr<Sampler> Sampler::Create(int64_t num_samples,
                                        const SamplerOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckOptions(options));
  if (num_samples < 1) {
    return BadFile(kWhere, "a dataset without samples", "one or more",
                   "give a dataset that has some");
  }
  const Sampler sampler(num_samples, options);
  if (sampler.num_batches() > 0) return sampler;
  return BadFile(kWhere, absl::StrCat(num_samples, " samples"),
                 absl::StrCat("at least one batch of ", options.batch_size),
                 "lower the batch size, or keep or fill up the last batch");
}

Sampler::Sampler(int64_t num_samples, const SamplerOptions& options)
    : num_samples_(num_samples),
      options_(options),
      num_batches_(NumBatches(num_samples, options)) {}

int64_t Sampler::Places(int64_t batch) const {
  if (options_.last == LastBatch::kPad) return options_.batch_size;
  return std::min(options_.batch_size,
                  num_samples_ - batch * options_.batch_size);
}

int64_t Sampler::Begin(int64_t rank, int64_t places) const {
  return rank * places / options_.ranks;
}

// A rank with one sample more in an uneven batch may have none more in others.
int64_t Sampler::max_share() const {
  int64_t most = 0;
  for (int64_t batch : {int64_t{0}, num_batches_ - 1}) {
    const int64_t places = Places(batch);
    most = std::max(
        most, Begin(options_.rank + 1, places) - Begin(options_.rank, places));
  }
  return most;
}

std::vector<int64_t> Sampler::Order(int64_t epoch) const {
  if (options_.shuffle) {
    return ShuffledOrder(num_samples_, options_.seed,
                         static_cast<uint64_t>(epoch));
  }
  std::vector<int64_t> order(num_samples_);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

BatchShare Sampler::Share(absl::Span<const int64_t> order,
                          int64_t batch) const {
  const int64_t begin = batch * options_.batch_size;
  const int64_t places = Places(batch);
  BatchShare share;
  share.first = Begin(options_.rank, places);
  const int64_t end = Begin(options_.rank + 1, places);
  for (int64_t place = share.first; place < end; ++place) {
    share.samples.push_back(order[(begin + place) % num_samples_]);
  }
  share.batch_counted = std::min(places, num_samples_ - begin);
  share.num_counted = std::clamp<int64_t>(share.batch_counted - share.first, 0,
                                          end - share.first);
  return share;
}

std::vector<int64_t> ShuffledOrder(int64_t count, uint64_t seed,
                                   uint64_t epoch) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  RandomWords words(seed, epoch);
  for (int64_t i = count - 1; i > 0; --i) {
    const uint64_t j = words.Below(static_cast<uint64_t>(i) + 1);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace partita
