#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "models/base/characters.h"
#include "models/trace/trace.h"

namespace models::trace {
namespace {

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  std::string_view out = text.substr(0, n);
  text.remove_prefix(n);
  while (out.size() > 1 && out.front() == '0') out.remove_prefix(1);
  return out;
}

/// Below 0, 0 or above: texts by letters, with the numbers in them by value, so that "rank 9" comes before "rank 10".
int natural_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_digits(a), y = take_digits(b);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y); order != 0) return order;
      continue;
    }
    if (a.front() != b.front())
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front()) ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty() ? 0 : a.empty() ? -1 : 1;
}

}  // namespace

std::vector<std::uint32_t> display_order(const Trace& trace) {
  std::vector<std::uint32_t> order(trace.tracks.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto on_a_device = [](const Track& t) {
    return t.kind == TrackKind::stream || t.kind == TrackKind::device_annotation;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
    const Track &a = trace.tracks[x], &b = trace.tracks[y];
    if (on_a_device(a) != on_a_device(b)) return on_a_device(a);
    if (on_a_device(a)) return std::tie(a.device, a.stream) < std::tie(b.device, b.stream);
    if (a.process_sort_index != b.process_sort_index) return a.process_sort_index < b.process_sort_index;
    if (const int by = natural_order(a.process_name, b.process_name); by != 0) return by < 0;
    if (const int by = natural_order(a.pid, b.pid); by != 0) return by < 0;
    if (a.sort_index != b.sort_index) return a.sort_index < b.sort_index;
    return natural_order(a.tid, b.tid) < 0;
  });
  return order;
}

}  // namespace models::trace
