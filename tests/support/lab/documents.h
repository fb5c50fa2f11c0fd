#pragma once

namespace support {

/// Whether two of a person's documents hold the same; some of them say all that they hold themselves.
template <class T>
bool same_document(const T& a, const T& b) {
  if constexpr (requires { a.all(); })
    return a.all() == b.all();
  else
    return a == b;
}

}  // namespace support
