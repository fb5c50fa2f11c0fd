#include "widgets/plot/axis.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace widgets;

namespace {

float seven_px(std::string_view s) {
  float w = 0;
  for (const char c : s) w += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0.0f : 7.0f;
  return w;
}

AxisTicks ticks(const AxisSpec& spec, double px, bool vertical = false) {
  AxisTicks out;
  const Range r = sane_range(spec.kind, {spec.lo, spec.hi});
  layout_ticks(spec, r, vertical ? AxisMap(spec.kind, r, px, 0) : AxisMap(spec.kind, r, 0, px),
               {seven_px, 14, vertical}, out);
  return out;
}

AxisSpec axis(AxisKind kind, double lo, double hi, std::string_view unit) {
  AxisSpec spec;
  spec.kind = kind;
  spec.lo = lo;
  spec.hi = hi;
  spec.unit = unit;
  return spec;
}

std::vector<std::string> labels(const AxisTicks& t) {
  std::vector<std::string> out;
  for (const Tick& tick : t.major()) out.emplace_back(tick.label.view());
  return out;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("ticks are round and share one multiple") {
  const AxisTicks memory = ticks(
      {
          .lo = 0,
          .hi = 80e9,
          .label = "memory",
          .unit = "B",
      },
      500);
  CHECK(labels(memory) == Labels{"0", "10", "20", "30", "40", "50", "60", "70", "80"});
  CHECK(axis_title({.label = "memory", .unit = "B"}, memory).view() == "memory (GB)");
  CHECK(labels(ticks({.lo = -1, .hi = 1}, 300)) == Labels{"-1", "-0.5", "0", "0.5", "1"});
}

TEST_CASE("a log axis names its decades, as the roofline needs") {
  const AxisTicks y = ticks(
      {
          .kind = AxisKind::log10,
          .lo = 1e11,
          .hi = 1e16,
          .label = "attainable",
          .unit = "FLOP/s",
      },
      560, true);
  CHECK(labels(y) == Labels{"0.1", "1", "10", "100", "1,000", "10,000"});
  CHECK(y.unit.view() == "TFLOP/s");
  CHECK(y.minor_count == 5 * 8);  // 2 to 9 in each of five decades
  const AxisTicks time = ticks(axis(AxisKind::log10, 1e-9, 1, "s"), 900);
  CHECK(labels(time) == Labels{"1 ns", "10 ns", "100 ns", "1 \xC2\xB5s", "10 \xC2\xB5s", "100 \xC2\xB5s", "1 ms",
                               "10 ms", "100 ms", "1 s"});
  CHECK(time.unit.length == 0);
  CHECK(labels(ticks({.kind = AxisKind::log10, .lo = 1, .hi = 100}, 600)) ==
        Labels{"1", "2", "5", "10", "20", "50", "100"});
  // Less than a decade in little room: even steps would leave 200 alone.
  CHECK(labels(ticks({.kind = AxisKind::log10, .lo = 45, .hi = 360}, 130)) == Labels{"50", "100", "200"});
  CHECK(labels(ticks({.kind = AxisKind::log10, .lo = 1100, .hi = 90000}, 130)) == Labels{"2,000", "20,000"});
}

TEST_CASE("binary axes count in powers of two") {
  CHECK(labels(ticks({.kind = AxisKind::log2, .lo = 1, .hi = 256}, 400)) ==
        Labels{"1", "2", "4", "8", "16", "32", "64", "128", "256"});
  CHECK(labels(ticks(axis(AxisKind::log2, 1024, 1048576, "B"), 250)) == Labels{"4 KiB", "32 KiB", "256 KiB"});
  const AxisTicks batch = ticks(axis(AxisKind::log2, 1, 128, "tokens"), 400);
  CHECK(labels(batch) == Labels{"1", "2", "4", "8", "16", "32", "64", "128"});
  CHECK(batch.unit.view() == "tokens");
  const AxisTicks linear = ticks(axis(AxisKind::linear_bytes, 0, 80.0 * 1073741824.0, "B"), 400);
  CHECK(labels(linear) == Labels{"0", "16", "32", "48", "64", "80"});
  CHECK(linear.unit.view() == "GiB");
}

TEST_CASE("time goes by the clock") {
  const AxisTicks t = ticks(axis(AxisKind::time, 0, 3600, "s"), 600);
  CHECK(labels(t) == Labels{"0", "5", "10", "15", "20", "25", "30", "35", "40", "45", "50", "55", "60"});
  CHECK(t.unit.view() == "min");
  CHECK(ticks(axis(AxisKind::time, 0, 54 * 86400.0, "s"), 600).unit.view() == "days");
  const AxisTicks fine = ticks(axis(AxisKind::time, 0, 0.012, "s"), 300);
  CHECK(labels(fine) == Labels{"0", "2", "4", "6", "8", "10", "12"});
  CHECK(fine.unit.view() == "ms");
}

TEST_CASE("a log axis of seconds names marks of a clock beyond two minutes, never 16.7 min or 11.6 days") {
  const auto named = [](double lo, double hi, double px) {
    return labels(ticks({.kind = AxisKind::log10, .lo = lo, .hi = hi, .unit = "s"}, px, true));
  };
  CHECK(named(1, 1e6, 400) == Labels{"1 s", "10 s", "60 s", "10 min", "60 min", "10 h", "10 days"});
  CHECK(named(2e4, 2.4e6, 400) == Labels{"10 h", "24 h", "2 days", "5 days", "10 days", "20 days"});
  // Sixteen decades in little room: every third power, and the hour between the second and a hundred days.
  CHECK(named(1e-9, 1e8, 180) == Labels{"1 ns", "1 \xC2\xB5s", "1 ms", "1 s", "60 min", "100 days"});
  // Below, decades stay decades.
  CHECK(named(1e-3, 100, 400) == Labels{"1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"});
}

TEST_CASE("labels never touch, whatever the range and the room") {
  double lo = 1e-7;
  for (int i = 0; i < 400; ++i) {
    lo = std::fmod(lo * 7.3, 1e9) + 1e-7;
    const double hi = lo * (1.0001 + 0.37 * i * i);
    for (const AxisKind kind :
         {AxisKind::linear, AxisKind::log10, AxisKind::log2, AxisKind::time, AxisKind::linear_bytes})
      for (const double px : {40.0, 200.0, 1000.0})
        for (const bool vertical : {false, true}) {
          const AxisTicks t = ticks(
              {
                  .kind = kind,
                  .lo = lo,
                  .hi = hi,
                  .unit = kind == AxisKind::time ? "s" : "B",
              },
              px, vertical);
          for (std::size_t k = 1; k < t.major_count; ++k) {
            const Tick &a = t.major()[k - 1], &b = t.major()[k];
            const float need = vertical ? 14.0f : (seven_px(a.label) + seven_px(b.label)) / 2;
            INFO(lo << " to " << hi << " kind " << static_cast<int>(kind) << " px " << px << ": " << a.label.view()
                    << ", " << b.label.view());
            REQUIRE(std::abs(b.pixel - a.pixel) >= static_cast<double>(need));
            REQUIRE(a.label.view() != b.label.view());
          }
          INFO(lo << " to " << hi << " kind " << static_cast<int>(kind) << " px " << px << " vertical " << vertical);
          if (px >= 200.0) REQUIRE(t.major_count >= 1);
        }
  }
}

TEST_CASE("category axes name whole numbers and skip evenly when crowded") {
  const std::string_view names[] = {"forward", "backward", "optimizer", "communication"};
  CHECK(labels(ticks({.lo = -0.5, .hi = 3.5, .categories = names}, 500)) ==
        Labels{"forward", "backward", "optimizer", "communication"});
  CHECK(labels(ticks({.lo = -0.5, .hi = 3.5, .categories = names}, 260)) == Labels{"forward", "optimizer"});
  CHECK(axis_value({.categories = names}, 1.2).view() == "backward");
}

TEST_CASE("pixels and values invert each other") {
  for (const AxisKind kind : {AxisKind::linear, AxisKind::log10, AxisKind::log2}) {
    const AxisMap map(kind, {0.1, 5000}, 600, 20);
    CHECK(std::abs(map.pixel(0.1) - 600) <= 1e-9);
    CHECK(std::abs(map.pixel(5000) - 20) <= 1e-9);
    for (const double v : {0.2, 3.0, 4999.0}) CHECK(std::abs(map.value(map.pixel(v)) - v) <= 1e-9 * v);
  }
  CHECK(std::abs(AxisMap(AxisKind::log10, {1, 100}, 0, 200).pixel(10) - 100) <= 1e-9);
}

TEST_CASE("zoom keeps the value under the cursor in place") {
  for (const AxisKind kind : {AxisKind::linear, AxisKind::log10}) {
    const Range before{1, 1000};
    const Range after = zoom_range(kind, before, 30, 0.5);
    const AxisMap a(kind, before, 0, 800), b(kind, after, 0, 800);
    CHECK(std::abs(a.pixel(30) - b.pixel(30)) <= 1e-6);
    const Range back = zoom_range(kind, after, 30, 2);
    CHECK(std::abs(back.lo - 1) <= 1e-9);
    CHECK(std::abs(back.hi - 1000) <= 1e-6);
  }
}

TEST_CASE("zooming and panning without end stays drawable") {
  for (const AxisKind kind : {AxisKind::linear, AxisKind::log10, AxisKind::log2}) {
    for (const double factor : {0.3, 4.0}) {
      Range r{1, 10};
      for (int i = 0; i < 2000; ++i) {
        r = zoom_range(kind, r, 3, factor);
        REQUIRE(r.lo < r.hi);
        REQUIRE((std::isfinite(r.lo) && std::isfinite(r.hi)));
      }
      for (int i = 0; i < 2000; ++i) {
        r = pan_range(kind, r, 0.9);
        REQUIRE(r.lo < r.hi);
        REQUIRE(std::isfinite(r.hi));
      }
    }
  }
  const Range panned = pan_range(AxisKind::log10, {1, 100}, 0.5);
  CHECK(std::abs(panned.lo - 10) <= 1e-9);
  CHECK(std::abs(panned.hi - 1000) <= 1e-6);
}

TEST_CASE("impossible ranges become drawable ones") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const AxisKind kind :
       {AxisKind::linear, AxisKind::log10, AxisKind::log2, AxisKind::time, AxisKind::linear_bytes})
    for (const double lo : {nan, -inf, inf, 0.0, 5.0, -3.0, 1e308, 5e-324})
      for (const double hi : {nan, -inf, inf, 0.0, 5.0, -3.0, 1e308, 5e-324}) {
        INFO(static_cast<int>(kind) << ": " << lo << ", " << hi);
        const Range r = sane_range(kind, {lo, hi});
        REQUIRE(r.lo < r.hi);
        REQUIRE(std::isfinite(r.hi - r.lo));
        if (is_log(kind)) REQUIRE(r.lo > 0);
        const AxisMap map(kind, r, 0, 300);
        REQUIRE(std::isfinite(map.pixel(r.hi)));
        AxisTicks t;
        layout_ticks({.kind = kind}, r, map, {seven_px, 14, false}, t);
        for (const Tick& tick : t.major()) REQUIRE(std::isfinite(tick.pixel));
      }
}

TEST_CASE("an axis below a day is in hours, and a low one has two names where one would leave it without a scale") {
  const AxisTicks hours = ticks(axis(AxisKind::time, 0, 30600, "s"), 300, true);
  CHECK(hours.unit.view() == "h");
  CHECK(labels(hours) == Labels{"0", "1", "2", "3", "4", "5", "6", "7", "8"});
  // So low that names at their usual distance would leave 0 alone.
  const AxisTicks low = ticks(axis(AxisKind::time, 0, 30600, "s"), 45, true);
  CHECK(low.unit.view() == "h");
  CHECK(labels(low) == Labels{"0", "6"});
  // No room for two: one is better than none.
  CHECK(labels(ticks(axis(AxisKind::time, 0, 30600, "s"), 12, true)).size() == 1);
  CHECK(ticks(axis(AxisKind::time, 0, 200000, "s"), 90, true).unit.view() == "days");
}
