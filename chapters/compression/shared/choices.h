#pragma once
#include <cstddef>
#include <iterator>

#include "chapters/mechanism/field.h"

namespace chapters::compression {

/// The choices of an enumeration whose last enumerator is `last`, in its order: as many as it has, or it does not
/// compile.
template <auto last, std::size_t count>
Choices choices_up_to(const Choice (&list)[count]) {
  static_assert(count == static_cast<std::size_t>(last) + 1, "one choice for each enumerator");
  return Choices(std::begin(list), std::end(list));
}

}  // namespace chapters::compression
