#include <catch2/catch_test_macros.hpp>

#include "app/explore/known_figures.h"

using app::figures_that_read, app::KnownFigure;

namespace {

std::vector<KnownFigure> some() {
  return {{"a/b", "bandwidth", "Bandwidth", "B/s", 3.352e12},
          {"a/b", "time", "Time", "s", 3.35},
          {"a/c", "memory", "Memory", "B", 80.0 * 1024 * 1024 * 1024}};
}

}  // namespace

TEST_CASE("a figure is found by its value, rounded to the digits that were typed, in its own unit alone") {
  const auto known = some();
  const auto keys = [&](std::string_view typed) {
    std::string out;
    for (const KnownFigure* f : figures_that_read(known, typed)) out += f->key + " ";
    return out;
  };
  CHECK(keys("3.35 TB/s") == "bandwidth ");
  CHECK(keys("3.352 TB/s") == "bandwidth ");
  CHECK(keys("3.4 TB/s") == "bandwidth ");
  CHECK(keys("3.36 TB/s").empty());
  CHECK(keys("3,352 GB/s") == "bandwidth ");
  CHECK(keys("80 GiB") == "memory ");
  CHECK(keys("3.35 s") == "time ");
  CHECK(keys("3.35").empty());  // of any unit: too much would fit
  CHECK(keys("bandwidth").empty());
  CHECK(keys("0 s").empty());
}
