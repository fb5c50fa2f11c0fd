#include "models/fleet/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace models::fleet {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

double goodness(const ParetoAxis& axis, std::size_t point) {
  return axis.high ? axis.values[point] : -axis.values[point];
}

/// Is `a` at least as good as `b` on every axis, and better on one?
bool dominates(std::span<const ParetoAxis> axes, std::size_t a, std::size_t b) {
  bool better = false;
  for (const ParetoAxis& axis : axes) {
    const double x = goodness(axis, a), y = goodness(axis, b);
    if (x < y) return false;
    better |= x > y;
  }
  return better;
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const ParetoAxis> axes, std::span<const std::size_t> candidates) {
  std::vector<std::size_t> order;
  for (const std::size_t point : candidates)
    if (std::none_of(axes.begin(), axes.end(), [&](const ParetoAxis& a) { return std::isnan(a.values[point]); }))
      order.push_back(point);
  // Who dominates a point comes before it, so that only those kept so far can; with two axes the last of them does.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (const ParetoAxis& axis : axes)
      if (const double x = goodness(axis, a), y = goodness(axis, b); x != y) return x > y;
    return false;
  });
  std::vector<std::size_t> front;
  for (const std::size_t point : order) {
    const std::size_t from = axes.size() <= 2 && !front.empty() ? front.size() - 1 : 0;
    bool beaten = false;
    for (std::size_t i = from; i < front.size() && !beaten; ++i) beaten = dominates(axes, front[i], point);
    if (!beaten) front.push_back(point);
  }
  std::vector<std::size_t> out;
  std::vector<std::size_t> kept = front;
  std::sort(kept.begin(), kept.end());
  for (const std::size_t point : candidates)
    if (std::binary_search(kept.begin(), kept.end(), point)) out.push_back(point);
  return out;
}

RulerTouch touch_with_ruler(std::span<const RulerPoint> points, double slope) {
  RulerTouch out;
  out.value = -no_end;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double value = slope * points[i].across + points[i].up;
    if (!(value > out.value)) continue;
    out.point = i;
    out.value = value;
  }
  out.from = 0;
  out.to = no_end;
  out.below = out.above = out.point;
  const RulerPoint& best = points[out.point];
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double across = points[i].across - best.across, up = points[i].up - best.up;
    if (across < 0 && up > 0 && up / -across >= out.from) {
      out.from = up / -across;
      out.below = i;
    } else if (across > 0 && -up / across < out.to) {
      out.to = std::max(0.0, -up / across);
      out.above = i;
    }
  }
  return out;
}

std::vector<RulerReign> reigns_of(std::span<const RulerPoint> points) {
  std::vector<RulerReign> out;
  if (points.empty()) return out;
  // At slope 0 the highest wins, and of several the one furthest across.
  std::size_t now = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].up > points[now].up || (points[i].up == points[now].up && points[i].across > points[now].across))
      now = i;
  double from = 0;
  while (true) {
    double next = no_end;
    std::size_t taker = now;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double across = points[i].across - points[now].across;
      if (!(across > 0)) continue;
      const double slope = (points[now].up - points[i].up) / across;
      // Of those that take over at one slope the furthest across.
      if (slope < next || (slope == next && points[i].across > points[taker].across)) {
        next = slope;
        taker = i;
      }
    }
    out.push_back({now, from, next});
    if (taker == now) return out;
    from = next;
    now = taker;
  }
}

}  // namespace models::fleet
