#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

TEST_CASE("gallery: hidden, and every widget of widgets/ that charts data hands it over for export") {
  const auto lab = chapters::make_lab_by_id("gallery/widgets");
  REQUIRE(lab);
  CHECK(lab->info().hidden);
  support::Canvas canvas(*lab, {1400, 5000});
  support::UiDriver& ui = canvas.ui;
  const widgets::Record record = ui.record();
  for (const char* name : {"band", "signal", "timeline", "across", "added", "heat", "tiles", "to the right", "table"}) {
    INFO(name);
    CHECK(std::any_of(record.tables.begin(), record.tables.end(), [&](const auto& t) { return t.name == name; }));
  }
  CHECK(ui.text_present("Every mark on logarithmic axes"));
  CHECK(ui.text_present("A quotation keeps its distance."));
}

TEST_CASE("gallery: the same seed gives the same data, another one other data") {
  const auto a = chapters::make_lab_by_id("gallery/widgets"), b = chapters::make_lab_by_id("gallery/widgets");
  a->compute();
  b->inputs().find("seed")->integer() = 2;
  b->compute();
  const auto mean = [](const chapters::Lab& lab) { return lab.outputs().find("mean")->real(); };
  CHECK(mean(*a) != mean(*b));
  b->inputs().find("seed")->integer() = 1;
  b->compute();
  CHECK(mean(*a) == mean(*b));
}
