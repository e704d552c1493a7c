// The shardings in which the values of a search's drafts occur.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_VALUE_FORMS_H_
#define PARTITA_PLACEMENT_PLANNER_VALUE_FORMS_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "graph/placement.h"
#include "placement/planner/item_draft.h"

namespace partita {

// A root value in one of its forms.
struct FormedValue {
  ValueId value;
  int form = 0;
};

// Numbers, by root value, the forms that items make or read: 0 is whole; the
// others are splits and partial sums over ItemSplits::devices(). An item that
// reads a value through views needs the form that becomes the one it reads; if
// there is none, it needs the whole value.
class ValueForms {
 public:
  static constexpr int kWholeForm = 0;

  // The space must outlive it.
  explicit ValueForms(const SearchSpace& space);

  int count(ValueId value) const {
    return static_cast<int>(forms_[value].size());
  }
  const Sharding& sharding(FormedValue formed) const {
    return forms_[formed.value][formed.form];
  }
  // Of an item that is placed with this split (ItemPlace::split).
  absl::Span<const FormedValue> sources(int item, int split) const {
    return items_[item][split + 1].sources;
  }
  absl::Span<const FormedValue> stored(int item, int split) const {
    return items_[item][split + 1].stored;
  }
  absl::Span<const FormedValue> results(int item, int split) const {
    return items_[item][split + 1].results;
  }
  // The form of `value` with the sharding of another value's form; whole if it
  // has none.
  int FormLike(ValueId value, FormedValue other) const;

 private:
  struct ItemForms {
    std::vector<FormedValue> sources;  // each pair once
    std::vector<FormedValue> stored;
    std::vector<FormedValue> results;
  };

  ItemForms FormsOf(int item, const ItemSplit* split);
  int NumberOf(ValueId value, const Sharding& sharding);
  FormedValue AtRoot(ValueId value, Sharding sharding);

  const SearchSpace& space_;
  IdVector<ValueId, std::vector<Sharding>> forms_;
  std::vector<std::vector<ItemForms>> items_;  // by item, and split + 1
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_VALUE_FORMS_H_
