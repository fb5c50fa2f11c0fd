#pragma once
#include <optional>
#include <string>
#include <utility>

namespace models {

/// Either a value or one sentence that says why there is none: whole, with a full stop, fit to be shown to a person.
/// Together with Status the only way in which a function of Ridgeline says that it failed.
template <class T>
struct [[nodiscard]] Result {
  std::optional<T> value;
  std::string error;  ///< empty exactly when there is a value

  static Result ok(T v) { return {std::move(v), {}}; }
  static Result fail(std::string sentence) { return {std::nullopt, std::move(sentence)}; }
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  T& operator*() { return *value; }
  const T* operator->() const { return &*value; }
  T* operator->() { return &*value; }
};

/// The outcome of something that gives no value: done, or one sentence that says why not.
struct [[nodiscard]] Status {
  std::string error;  ///< empty when it was done

  static Status ok() { return {}; }
  static Status fail(std::string sentence) { return {std::move(sentence)}; }
  explicit operator bool() const { return error.empty(); }
};

}  // namespace models
