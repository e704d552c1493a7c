// cpu.random_uniform: Philox4x32-10 on several counters at once.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// A call of Philox makes four numbers (graph/ops/philox.h); this many calls run
// side by side.
constexpr int kWords = 4;
constexpr int kCalls = 16;
constexpr int64_t kBatch = kWords * kCalls;

// The arguments of the random function, except the position.
struct Stream {
  uint32_t key[2];
  uint32_t step;
  uint32_t id;
};

// One word of kCalls counters or results.
struct Lanes {
  uint32_t words[kCalls];
};

[[gnu::always_inline]] inline void Multiply(uint32_t by, const Lanes& x,
                                            Lanes& high, Lanes& low) {
#pragma omp simd
  for (int i = 0; i < kCalls; ++i) {
    const uint64_t product = uint64_t{by} * x.words[i];
    high.words[i] = static_cast<uint32_t>(product >> 32);
    low.words[i] = static_cast<uint32_t>(product);
  }
}

[[gnu::always_inline]] inline void Round(uint32_t key0, uint32_t key1,
                                         Lanes (&c)[kWords]) {
  Lanes high_a, low_a, high_b, low_b;
  Multiply(0xD2511F53, c[0], high_a, low_a);
  Multiply(0xCD9E8D57, c[2], high_b, low_b);
#pragma omp simd
  for (int i = 0; i < kCalls; ++i) {
    c[0].words[i] = high_b.words[i] ^ c[1].words[i] ^ key0;
    c[2].words[i] = high_a.words[i] ^ c[3].words[i] ^ key1;
  }
  c[1] = low_b;
  c[3] = low_a;
}

// The numbers of calls [call, call + kCalls), in [0, 1) in steps of 2^-24.
[[gnu::always_inline]] inline void MakeBatch(const Stream& stream,
                                             uint64_t call, float* y) {
  Lanes c[kWords];
#pragma omp simd
  for (int i = 0; i < kCalls; ++i) {
    const uint64_t counter = call + static_cast<uint64_t>(i);
    c[0].words[i] = static_cast<uint32_t>(counter);
    c[1].words[i] = static_cast<uint32_t>(counter >> 32);
    c[2].words[i] = stream.step;
    c[3].words[i] = stream.id;
  }
  uint32_t key0 = stream.key[0], key1 = stream.key[1];
  for (int round = 0; round < 10; ++round) {
    Round(key0, key1, c);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
#pragma omp simd
  for (int i = 0; i < kCalls; ++i) {
    for (int word = 0; word < kWords; ++word) {
      // 24 bits, so a signed conversion suffices, which is a vector
      // instruction.
      const int32_t bits = static_cast<int32_t>(c[word].words[i] >> 8);
      y[i * kWords + word] = static_cast<float>(bits) * 0x1p-24f;
    }
  }
}

// Numbers [first, first + count) of the stream.
struct MakeRun {
  [[gnu::always_inline]] static inline void Run(const Stream* stream,
                                                uint64_t first, int64_t count,
                                                float* y) {
    uint64_t call = first / kWords;
    int64_t skip = static_cast<int64_t>(first % kWords);
    for (; count > 0; call += kCalls, skip = 0) {
      const int64_t made = std::min(count, kBatch - skip);
      if (made == kBatch) {
        MakeBatch(*stream, call, y);
      } else {
        float batch[kBatch];
        MakeBatch(*stream, call, batch);
        std::memcpy(y, batch + skip, made * sizeof(float));
      }
      y += made;
      count -= made;
    }
  }
};

// A shard of a row-major tensor as runs of neighbours in the whole one, each
// split into tasks.
class Runs {
 public:
  explicit Runs(const OpView& node) : dims_(node.result_type(0).dims) {
    Shape whole = dims_;
    Shape origin(dims_.size(), 0);
    Read(node, "whole", whole);
    Read(node, "origin", origin);
    const Shape strides = RowMajorStrides(whole);
    for (size_t d = 0; d < dims_.size(); ++d) first_ += origin[d] * strides[d];
    // Dimensions that the shard has whole are merged with those before them.
    size_t outer = dims_.size();
    while (outer > 0) {
      --outer;
      length_ *= dims_[outer];
      if (dims_[outer] != whole[outer]) break;
    }
    dims_.resize(outer);
    strides_.assign(strides.begin(), strides.begin() + outer);
    for (int64_t dim : dims_) count_ *= dim;
    tasks_per_run_ = (length_ + kTask - 1) / kTask;
  }

  int64_t num_tasks() const { return count_ * tasks_per_run_; }

  void RunTask(int64_t task, const Stream& stream, float* y) const {
    const int64_t run = task / tasks_per_run_;
    const int64_t begin = task % tasks_per_run_ * kTask;
    int64_t first = first_ + begin;
    int64_t rest = run;
    for (size_t d = dims_.size(); d-- > 0; rest /= dims_[d]) {
      first += rest % dims_[d] * strides_[d];
    }
    RunVectorised<MakeRun>(&stream, static_cast<uint64_t>(first),
                           std::min(kTask, length_ - begin),
                           y + run * length_ + begin);
  }

 private:
  static constexpr int64_t kTask = 64 * kBatch;

  static void Read(const OpView& node, const char* name, Shape& dims) {
    const std::vector<int64_t>& values = node.attr_ints(name);
    if (!values.empty()) dims.assign(values.begin(), values.end());
  }

  Shape dims_;     // of runs
  Shape strides_;  // in the whole tensor
  int64_t first_ = 0;
  int64_t length_ = 1;
  int64_t count_ = 1;
  int64_t tasks_per_run_ = 1;
};

class RandomUniformKernel : public Kernel {
 public:
  RandomUniformKernel(const OpView& node, int threads)
      : runs_(node),
        id_(static_cast<uint32_t>(node.attr_int("id"))),
        threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const uint64_t seed = *static_cast<const uint64_t*>(args.operands[0]);
    const uint64_t step = *static_cast<const uint64_t*>(args.operands[1]);
    const Stream stream = {
        {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        static_cast<uint32_t>(step),
        id_};
    float* y = static_cast<float*>(args.results[0]);
    const int64_t tasks = runs_.num_tasks();
    const int threads = tasks < 2 ? 1 : threads_;
    ParallelFor(threads, tasks,
                [&](int64_t task) { runs_.RunTask(task, stream, y); });
    return absl::OkStatus();
  }

 private:
  Runs runs_;
  uint32_t id_;
  int threads_;
};

bool Accepts(const OpView& node) {
  return node.is(kRandomUniform) && node.result_type(0).num_elements() != 0 &&
         node.operand_type(0).dtype == DType::kU64 &&
         node.operand_type(1).dtype == DType::kU64;
}

}  // namespace

extern const CpuFamily kCpuRandomUniform = {
    .kernel = "cpu.random_uniform",
    .bandwidth = 0.1,
    .exact = true,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<RandomUniformKernel>,
};

}  // namespace partita
