#pragma once
#include <algorithm>
#include <utility>
#include <vector>

namespace app {

/// Puts `item` in the place of the one with its id, or at the end where there is none.
template <class T>
void put_by_id(std::vector<T>& list, T item) {
  const auto same = std::find_if(list.begin(), list.end(), [&](const T& e) { return e.id == item.id; });
  if (same != list.end())
    *same = std::move(item);
  else
    list.push_back(std::move(item));
}

}  // namespace app
