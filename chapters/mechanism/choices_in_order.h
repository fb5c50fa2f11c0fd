#pragma once
#include <cstddef>

#include "chapters/mechanism/field.h"

namespace chapters {

/// Choices in the order of an enumeration whose last enumerator is `last`. It does not compile where there are more or
/// fewer choices than enumerators.
template <auto last, std::size_t count>
Choices choices_in_order(const Choice (&list)[count]) {
  static_assert(count == static_cast<std::size_t>(last) + 1);
  return {list, list + count};
}

}  // namespace chapters
