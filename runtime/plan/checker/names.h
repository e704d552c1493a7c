// Names of bytes: each byte is traced to a byte of the value that was computed,
// through ops that only move bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_NAMES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/ports.h"
#include "runtime/plan/checker/root_bytes.h"
#include "runtime/plan/checker/shards.h"

namespace partita {

// As the replica of an expected name: any replica will do, as in a copy of a
// value that several devices hold.
inline constexpr int32_t kAnyReplica = -1;

// The name of a defined byte and of the bytes after it.
struct Name {
  friend bool operator==(const Name&, const Name&) = default;
  void Shift(int64_t passed) { bytes.Shift(passed); }
  // True if bytes of this name may be read where `asked` is expected, as far as
  // their bytes are the same.
  bool Answers(const Name& asked) const {
    return root == asked.root && micro_batch == asked.micro_batch &&
           (replica == asked.replica || asked.replica == kAnyReplica);
  }

  int32_t root = -1;    // a value that is not just moved from another
  int32_t replica = 0;  // the device that holds it; 0 if all are equal
  // The first if the value is the same in all.
  MicroBatchId micro_batch = kFirstMicroBatch;
  RootBytes bytes;  // of the whole row-major value, or of the rank's shard
};

struct NamedSegment {
  int64_t begin = 0;  // in the expected bytes
  int64_t size = 0;
  Name name;
};

// The names of one entry's values. A root is a graph input, a literal, a
// variable at the start of the step, or a result that a node computes. Results
// of ops that only move bytes consist of segments of roots, so a buffer may be
// read as a view without any command. All nodes of one literal are one root.
class Names {
 public:
  Names(const EntryView& view, const PortSlices& ports);

  // The names of the bytes that rank `rank` of `ranks` on `device` holds of
  // `value` under `sharding`, in the order of its bytes. Empty if the graph
  // does not determine them, because the value has another sharding where it is
  // made. (An empty value has no segments either.)
  std::vector<NamedSegment> Of(ValueId value, const Sharding& sharding,
                               int rank, int ranks, DeviceId device,
                               MicroBatchId micro_batch);

  // True if a value has more segments than a sensible plan needs. From then on,
  // results of Of are meaningless.
  bool gave_up() const { return gave_up_; }

  // The names of what rank `rank` of an `accumulate` on `device` holds after a
  // micro-batch: the operand of the first micro-batch, a partial sum that no
  // other node reads, or, at the end, the node's value.
  std::vector<NamedSegment> OfSumAfter(const OpView& accumulate, int rank,
                                       DeviceId device,
                                       MicroBatchId micro_batch);

  // What a persistent range of `entry` (this entry or another of the plan)
  // holds when a step starts.
  std::vector<NamedSegment> OfPersistent(const Entry& entry,
                                         const PersistentValue& value);

  DeviceId DeviceNamed(const std::string& name) const;

  // True if the value differs between micro-batches.
  bool Varies(ValueId value) const;

  // "%h bytes 0..64", "variable w bytes 0..4 of gpu:1", ...
  std::string Text(const Name& name, int64_t size) const;

 private:
  struct Root {
    std::string text;  // empty: the graph's name of `value`
    ValueId value;
    std::vector<int32_t> devices;  // of replicas; empty: all are equal
    bool varies = false;
    bool is_partial = false;  // of an accumulation that is not finished
  };
  struct Segment {
    int64_t begin;
    int64_t size;
    int32_t root;
    RootBytes bytes;
    bool any_replica;
  };
  // The names of a value's bytes: segments of whole roots; or, if a rank's
  // bytes have no simple position in the whole value (partial sums, blocked
  // layouts), each rank's bytes of `local`.
  struct Named {
    std::vector<Segment> whole;
    int32_t local = -1;
    Sharding sharding;  // local
    int ranks = 1;      // local
  };

  int32_t AddRoot(ValueId value, bool varies);
  int32_t RootOfKey(const std::string& key, Root root);
  std::vector<int32_t> DeviceIndices(const Placement& placement) const;
  static bool NamedLocally(const TensorType& type, const Sharding& sharding);
  void NameInput(ValueId value, bool sliced);
  void NameResults(const OpView& node);
  void NameSource(const OpView& node);
  void NameOwn(const OpView& node, int result);
  void NameSum(const OpView& node);
  Named OwnNames(const OpView& node, int result, bool varies);
  std::vector<NamedSegment> OfNamed(const Named& named, const TensorType& type,
                                    const Sharding& sharding, int rank,
                                    int ranks, DeviceId device,
                                    MicroBatchId micro_batch);
  bool NameMoved(const OpView& node);
  bool MoveLocal(const OpView& node);
  bool MoveSegments(const OpView& node);
  bool Keep(ValueId value, std::vector<Segment> segments);
  static void Append(const Segment& segment, std::vector<Segment>& out);
  static void AppendSlice(const std::vector<Segment>& from, int64_t begin,
                          int64_t size, int64_t to, std::vector<Segment>& out);
  std::vector<Segment> Slices(const std::vector<Segment>& whole,
                              const Range& range);
  bool SegmentsVary(const Named& named) const;
  Name NameAt(const Segment& segment, DeviceId device,
              MicroBatchId micro_batch) const;
  std::string SourceKey(const OpView& node) const;

  const EntryView& view_;
  std::vector<Root> roots_;
  std::vector<Named> values_;
  absl::flat_hash_map<int32_t, Named> sums_so_far_;  // by value
  absl::flat_hash_map<std::string, int32_t> root_of_key_;
  absl::flat_hash_map<std::string, int32_t> device_index_;
  int64_t segments_left_;
  bool gave_up_ = false;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_NAMES_H_
