#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace widgets {

/// Values by their number: those of an array, or worked out one by one from what stands elsewhere, so that ten million
/// need no copy. Passed by value like a span; what it looks into must outlive it.
template <class T>
class TimelineSequence {
 public:
  using At = T (*)(const void* context, std::size_t i);

  TimelineSequence() = default;
  TimelineSequence(std::span<const T> values) : context_(values.data()), size_(values.size()) {}
  TimelineSequence(const std::vector<T>& values) : TimelineSequence(std::span<const T>(values)) {}
  /// `at` is asked for each value, often; it must not allocate.
  TimelineSequence(const void* context, std::size_t size, At at) : context_(context), size_(size), at_(at) {}

  T operator[](std::size_t i) const { return at_ ? at_(context_, i) : static_cast<const T*>(context_)[i]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  const void* context_ = nullptr;
  std::size_t size_ = 0;
  At at_ = nullptr;  ///< null: `context_` is an array
};

/// The first number from `first` to `last` for which `holds` is true, when it then is for all that follow; `last` when
/// for none.
template <class Holds>
std::size_t first_place(std::size_t first, std::size_t last, const Holds& holds) {
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (holds(middle))
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

}  // namespace widgets
