#include "models/fleet/pareto.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "models/fleet/point_set.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models::fleet;
using support::near;

namespace {

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

std::vector<std::size_t> all_of(std::size_t n) {
  std::vector<std::size_t> out(n);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

}  // namespace

// The fronts of timm, ML.ENERGY, llama.cpp, BEVFormer, YOLOv5 and RT-DETR as they were computed apart from this code
// over the published points (fleet.json, 23 November 2026): names exactly, and how many points have the axes.
TEST_CASE("pareto: forty fronts of published points are the same sets") {
  std::stringstream lines(support::read_text(support::data_file("frontier/fronts.txt")));
  std::size_t fronts = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto parts = split_at(line, '|');
    REQUIRE(parts.size() > 6);
    INFO(parts[0]);
    const auto set = read_point_set(published_points(parts[1]));
    REQUIRE(set);
    std::vector<ParetoAxis> axes;
    std::stringstream keys(parts[3]), best(parts[4]);
    for (std::string key, which; keys >> key && best >> which;) {
      const PointAxis* axis = set->axis(key.substr(0, key.find(',')));
      REQUIRE(axis);
      axes.push_back({axis->values, which.starts_with("high")});
    }
    std::vector<std::size_t> of_quality;
    std::size_t whole = 0;
    for (std::size_t p = 0; p < set->size(); ++p) {
      if (!parts[2].empty() && set->qualities[set->quality_of[p]] != parts[2]) continue;
      of_quality.push_back(p);
      bool has = true;
      for (const ParetoAxis& axis : axes) has &= !std::isnan(axis.values[p]);
      whole += has;
    }
    CHECK(std::to_string(whole) == parts[5]);
    std::vector<std::string> names;
    for (const std::size_t p : pareto_front(axes, of_quality)) names.push_back(set->names[p]);
    CHECK(names == std::vector<std::string>(parts.begin() + 6, parts.end()));
    ++fronts;
  }
  CHECK(fronts == 40);
}

TEST_CASE("pareto: equal points both stay, a point that lacks an axis is left out, and three axes keep more") {
  const double none = std::nan("");
  const std::vector<double> a{3, 3, 2, 1, none, 2}, b{1, 1, 2, 1, 9, 1}, c{0, 0, 0, 0, 0, 5};
  const std::vector<ParetoAxis> two{{a, true}, {b, true}}, three{{a, true}, {b, true}, {c, true}};
  CHECK(pareto_front(two, all_of(6)) == std::vector<std::size_t>{0, 1, 2});
  CHECK(pareto_front(three, all_of(6)) == std::vector<std::size_t>{0, 1, 2, 5});
  const std::vector<ParetoAxis> low{{a, false}, {b, true}};
  CHECK(pareto_front(low, all_of(6)) == std::vector<std::size_t>{2, 3});
  CHECK(pareto_front(two, {}).empty());
}

TEST_CASE("pareto: the sorted front is the one of all pairs, whatever the points") {
  std::uint64_t state = 7;
  const auto next = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state >> 59);  // 0 to 31, so that many are equal
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<double> columns[3];
    for (auto& column : columns)
      for (int i = 0; i < 25; ++i) column.push_back(next());
    const std::size_t count = round % 2 == 0 ? 2 : 3;
    std::vector<ParetoAxis> axes;
    for (std::size_t k = 0; k < count; ++k) axes.push_back({columns[k], k % 2 == 0});
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < 25; ++i) {
      bool beaten = false;
      for (std::size_t j = 0; j < 25; ++j) {
        bool as_good = true, better = false;
        for (const ParetoAxis& axis : axes) {
          const double x = axis.high ? axis.values[j] : -axis.values[j],
                       y = axis.high ? axis.values[i] : -axis.values[i];
          as_good &= x >= y;
          better |= x > y;
        }
        beaten |= as_good && better;
      }
      if (!beaten) expected.push_back(i);
    }
    CHECK(pareto_front(axes, all_of(25)) == expected);
  }
}

TEST_CASE("pareto: the ruler touches the corner of the hull, says how long it stays, and no ruler touches a dent") {
  // Up falls by 1, 3 and 6 from one to the next; the third lies in a dent.
  const std::vector<RulerPoint> points{{0, 10}, {1, 9}, {2, 5}, {3, 0.5}, {1, 2}};
  const RulerTouch flat = touch_with_ruler(points, 0);
  CHECK(flat.point == 0);
  CHECK(near(flat.to, 1, 1e-12));
  CHECK(flat.above == 1);
  CHECK(flat.below == flat.point);
  const RulerTouch middle = touch_with_ruler(points, 2);
  CHECK(middle.point == 1);
  CHECK(near(middle.from, 1, 1e-12));
  CHECK(near(middle.to, 4, 1e-12));
  CHECK(near(middle.value, 11, 1e-12));
  CHECK(touch_with_ruler(points, 100).point == 3);
  CHECK(std::isinf(touch_with_ruler(points, 100).to));
  const auto reigns = reigns_of(points);
  REQUIRE(reigns.size() == 4);
  CHECK(reigns[1].point == 1);
  CHECK(near(reigns[1].to, 4, 1e-12));
  CHECK(near(reigns[2].to, 4.5, 1e-12));
  const std::vector<RulerPoint> dented{{0, 10}, {1, 6}, {2, 5}};
  CHECK(reigns_of(dented).size() == 2);
}

TEST_CASE("pareto: every reign's own slope finds its point") {
  const auto set = read_point_set(published_points("timm"));
  REQUIRE(set);
  std::vector<RulerPoint> points;
  const PointAxis &speed = *set->axis("ips_4090"), &top1 = *set->axis("top1");
  for (std::size_t p = 0; p < set->size(); ++p) points.push_back({std::log2(speed.values[p]), top1.values[p]});
  const auto reigns = reigns_of(points);
  CHECK(reigns.size() > 5);
  for (const RulerReign& reign : reigns) {
    const double slope = std::isinf(reign.to) ? reign.from + 1 : (reign.from + reign.to) / 2;
    const RulerTouch touch = touch_with_ruler(points, slope);
    CHECK(touch.point == reign.point);
    CHECK(near(touch.from, reign.from, 1e-9));
  }
}
