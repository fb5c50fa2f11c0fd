#include "widgets/charts/ecdf.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

TEST_CASE("quantiles are values of the sample: the least that the share does not exceed") {
  const std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, none;
  CHECK(quantile_of_sorted(ten, 0.5) == 5);
  CHECK(quantile_of_sorted(ten, 0.99) == 10);
  CHECK(quantile_of_sorted(ten, 0.9) == 9);
  CHECK(quantile_of_sorted(ten, 0) == 1);
  CHECK(std::isnan(quantile_of_sorted(none, 0.5)));
}

TEST_CASE("the band's half height is that of Dvoretzky, Kiefer and Wolfowitz: 0.0608 for 500 values at 95 %") {
  CHECK(std::abs(dkw_half_width(500, 0.95) - 0.060736) <= 1e-5);
  CHECK(dkw_half_width(1, 0.95) == 1);
  CHECK(dkw_half_width(0, 0.95) == 0);
  CHECK(dkw_half_width(10, std::nan("")) == 0);
}

TEST_CASE("an ECDF steps at each value, and the share beyond a limit is counted without its equals") {
  PlainTheme theme;
  const std::vector<double> values{4, 1, 3, 2};
  const EcdfSeries series[] = {{"one", values}};
  EcdfLayout l;
  layout_ecdf(series, {.unit = "s", .limit = 2}, {{0, 0}, {600, 300}}, seven_px, l);
  const EcdfCurve& c = l.curves[0];
  CHECK(c.sorted == std::vector<double>{1, 2, 3, 4});
  CHECK(c.beyond == 0.5);
  REQUIRE(c.line.size() == 10);  // two points a step, and both ends
  for (std::size_t i = 1; i < c.line.size(); ++i) {
    CHECK(c.line[i].x >= c.line[i - 1].x);
    CHECK(c.line[i].y <= c.line[i - 1].y);
  }
  CHECK(std::abs(c.line[3].x - static_cast<float>(l.x_map.pixel(2))) <= 0.5f);
  CHECK(std::abs(c.p50_px.y - static_cast<float>(l.y_map.pixel(0.5))) <= 0.5f);
  CHECK(std::abs(c.p50_px.x - static_cast<float>(l.x_map.pixel(2))) <= 0.5f);
  CHECK(l.words[0].view() == "one: 50 % beyond");
  CHECK(std::abs(l.limit_px - static_cast<float>(l.x_map.pixel(2))) <= 0.5f);
}

TEST_CASE("an ECDF of many values has a few points a column of pixels, and its labels stay clear of each other") {
  PlainTheme theme;
  std::vector<std::vector<double>> data(40);
  std::vector<EcdfSeries> series;
  for (std::size_t s = 0; s < data.size(); ++s) {
    for (int i = 0; i < 5000; ++i) data[s].push_back(static_cast<double>(i) * (1 + 0.01 * static_cast<double>(s)));
    series.push_back({"a series with a name", data[s], Tint::series(s)});
  }
  EcdfLayout l;
  layout_ecdf(series, {}, {{0, 0}, {400, 240}}, seven_px, l);
  for (const EcdfCurve& c : l.curves) CHECK(c.line.size() <= 2 * 402 + 2);
  CHECK(l.legend_left_out > 0);
  CHECK(l.legend_left_out + l.placed_legend.size() == 40);
  CHECK(l.plot.height() > 100);
  for (std::size_t i = 0; i < l.labels.size(); ++i) {
    const Rect& a = l.labels[i].rect;
    CHECK((a.min.x >= l.plot.min.x && a.max.x <= l.plot.max.x && a.min.y >= l.plot.min.y && a.max.y <= l.plot.max.y));
    for (std::size_t j = 0; j < i; ++j) {
      const Rect& b = l.labels[j].rect;
      CHECK_FALSE((a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y));
    }
  }
}

TEST_CASE("an ECDF leaves out what its axis has no place for, and says how many") {
  PlainTheme theme;
  const std::vector<double> values{-1, 0, std::nan(""), 5, 50};
  const EcdfSeries series[] = {{"mixed", values}};
  EcdfLayout l;
  layout_ecdf(series, {.axis = AxisKind::log10}, {{0, 0}, {400, 240}}, seven_px, l);
  CHECK(l.curves[0].sorted == std::vector<double>{5, 50});
  CHECK(l.problem.view() == "3 values have no place on this axis and are left out.");
  layout_ecdf({}, {}, {{0, 0}, {400, 240}}, seven_px, l);
  CHECK(l.curves.empty());
}
