#include <algorithm>

#include "chapters/inference/optimize/lab.h"

namespace chapters::inference::optimize {

std::size_t index_of(RequestChange change) { return static_cast<std::size_t>(change); }

ChangeOrder order_of_number(std::int64_t number) {
  std::vector<RequestChange> left;
  for (std::size_t i = 0; i < request_change_count; ++i) left.push_back(static_cast<RequestChange>(i));
  ChangeOrder order{};
  std::int64_t rest = std::clamp<std::int64_t>(number, 1, order_count) - 1, ways = order_count;
  for (std::size_t i = 0; i < request_change_count; ++i) {
    ways /= static_cast<std::int64_t>(request_change_count - i);
    const auto at = left.begin() + rest / ways;
    order[i] = *at;
    left.erase(at);
    rest %= ways;
  }
  return order;
}

std::int64_t number_of_order(const ChangeOrder& order) {
  std::int64_t number = 1, ways = order_count;
  for (std::size_t i = 0; i < request_change_count; ++i) {
    ways /= static_cast<std::int64_t>(request_change_count - i);
    number += ways * std::count_if(order.begin() + static_cast<std::ptrdiff_t>(i), order.end(),
                                   [&](RequestChange c) { return c < order[i]; });
  }
  return number;
}

std::vector<RequestChange> changes_on(const Inputs& in, const ChangeOrder& order) {
  std::vector<RequestChange> on;
  for (const RequestChange c : order)
    if (in.made[index_of(c)] == Made::on) on.push_back(c);
  return on;
}

void move_change(Inputs& in, const std::vector<RequestChange>& now, std::size_t from, std::size_t to) {
  if (from >= now.size() || to >= now.size() || from == to) return;
  std::vector<RequestChange> moved = now;
  const auto at = moved.begin();
  const auto f = static_cast<std::ptrdiff_t>(from), t = static_cast<std::ptrdiff_t>(to);
  if (f < t)
    std::rotate(at + f, at + f + 1, at + t + 1);
  else
    std::rotate(at + t, at + f, at + f + 1);
  // The others keep their places in the listed order behind them.
  ChangeOrder order{};
  std::copy(moved.begin(), moved.end(), order.begin());
  auto next = order.begin() + static_cast<std::ptrdiff_t>(moved.size());
  for (std::size_t i = 0; i < request_change_count; ++i)
    if (const auto c = static_cast<RequestChange>(i); std::find(moved.begin(), moved.end(), c) == moved.end())
      *next++ = c;
  in.order = Order::own;
  in.own_order = number_of_order(order);
}

}  // namespace chapters::inference::optimize
