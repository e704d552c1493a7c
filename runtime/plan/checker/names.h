// Names of bytes: which byte of which value, seen through ops that only move
// bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_NAMES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/pieces.h"
#include "runtime/plan/checker/ports.h"
#include "runtime/plan/checker/root_bytes.h"

namespace partita {

// Replica of a name that is asked for: any will do, as in a copy of a value
// that several devices hold.
inline constexpr int32_t kAnyReplica = -1;

// The name of a defined byte and of those after it.
struct Name {
  friend bool operator==(const Name&, const Name&) = default;
  void Shift(int64_t passed) { bytes.Shift(passed); }
  // True if bytes of this name may be read where `asked` is expected, as far as
  // both are the same bytes.
  bool Answers(const Name& asked) const {
    return root == asked.root && micro_batch == asked.micro_batch &&
           (replica == asked.replica || asked.replica == kAnyReplica);
  }

  int32_t root = -1;    // a value that no op merely moved: Names knows which
  int32_t replica = 0;  // the device whose copy it is; 0 if all are one
  int32_t micro_batch = 0;  // 0 if it is the same in all
  RootBytes bytes;  // of the whole row-major value, or of the member's own
};

struct NamedPiece {
  int64_t begin = 0;  // in what is asked for
  int64_t size = 0;
  Name name;
};

// The names of one entry's values. A root is a graph input, a literal, a
// variable as the step found it, or a result that its node computes. Results of
// ops that only move bytes are pieces of roots, so a buffer may be read as a
// view without any command. Several nodes that hold one literal are one root.
class Names {
 public:
  Names(const EntryView& view, const PortSlices& ports);

  // What member `member` of `members` on `device` holds of `value` if the value
  // is laid out by `sharding`, in the order of its bytes. Empty if the graph
  // does not say so: the value is divided otherwise where it is made. (An empty
  // value has no pieces either.)
  std::vector<NamedPiece> Of(ValueId value, const Sharding& sharding,
                             int member, int members, DeviceId device,
                             int micro_batch);

  // A value is divided in more pieces than a sensible plan's; what Of says from
  // then on means nothing.
  bool gave_up() const { return gave_up_; }

  // What member `member` of an `accumulate` on `device` holds after a
  // micro-batch: the operand of the first one, the sum so far, which no other
  // node reads, or the whole sum, which is the node's value.
  std::vector<NamedPiece> OfSumAfter(const OpView& accumulate, int member,
                                     DeviceId device, int micro_batch);

  // What a persistent range of `entry` (this one or another of the plan) holds
  // when a step starts.
  std::vector<NamedPiece> OfPersistent(const Entry& entry,
                                       const PersistentValue& value);

  DeviceId DeviceNamed(const std::string& name) const;

  // True if the value differs from one micro-batch to the next.
  bool Varies(ValueId value) const;

  // "%h bytes 0..64", "variable w bytes 0..4 of gpu:1", ...
  std::string Text(const Name& name, int64_t size) const;

 private:
  struct Root {
    std::string text;  // empty: what the graph calls `value`
    ValueId value;
    std::vector<int32_t> devices;  // where replicas lie; empty: all are one
    bool varies = false;
    bool is_partial = false;  // of a sum that is not finished
  };
  struct Piece {
    int64_t begin;
    int64_t size;
    int32_t root;
    RootBytes bytes;
    bool any_replica;
  };
  // How the bytes of a value are named: by pieces of whole roots; or, when its
  // members' bytes have no simple place in the whole (partial sums, blocked
  // layouts), as members' own bytes of `local`.
  struct Named {
    std::vector<Piece> whole;
    int32_t local = -1;
    Sharding sharding;  // local
    int members = 1;    // local
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
  std::vector<NamedPiece> OfNamed(const Named& named, const TensorType& type,
                                  const Sharding& sharding, int member,
                                  int members, DeviceId device,
                                  int micro_batch);
  bool NameMoved(const OpView& node);
  bool MoveLocal(const OpView& node);
  bool MovePieces(const OpView& node);
  bool Keep(ValueId value, std::vector<Piece> pieces);
  static void Append(const Piece& piece, std::vector<Piece>& out);
  static void AppendSlice(const std::vector<Piece>& from, int64_t begin,
                          int64_t size, int64_t to, std::vector<Piece>& out);
  std::vector<Piece> Slices(const std::vector<Piece>& whole,
                            const Range& range);
  bool PiecesVary(const Named& named) const;
  Name NameAt(const Piece& piece, DeviceId device, int micro_batch) const;
  std::string SourceKey(const OpView& node) const;

  const EntryView& view_;
  std::vector<Root> roots_;
  std::vector<Named> values_;
  absl::flat_hash_map<int32_t, Named> sums_so_far_;  // by value
  absl::flat_hash_map<std::string, int32_t> root_of_key_;
  absl::flat_hash_map<std::string, int32_t> device_index_;
  int64_t pieces_left_;
  bool gave_up_ = false;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_NAMES_H_
