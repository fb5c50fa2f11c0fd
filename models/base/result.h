#pragma once
#include <optional>
#include <string>
#include <utility>

namespace models {

/// A value, or one sentence that says why there is none.
template <class T>
struct Result {
  std::optional<T> value;
  std::string error;  ///< empty exactly when there is a value

  static Result ok(T v) { return {std::move(v), {}}; }
  static Result fail(std::string sentence) { return {std::nullopt, std::move(sentence)}; }
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  T& operator*() { return *value; }
  const T* operator->() const { return &*value; }
};

}  // namespace models
