#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

TEST_CASE("gallery: hidden, and every widget of widgets/ that charts data hands it over for export") {
  const auto lab = chapters::make_lab_by_id("gallery/widgets");
  REQUIRE(lab);
  CHECK(lab->info().hidden);
  support::Canvas canvas(*lab, {1400, 5000});
  support::UiDriver& ui = canvas.ui;
  const auto show = [&](const char* key, const char* id) {
    REQUIRE(lab->inputs().find(key)->set_choice_id(id));
    ui.frames(3);
  };
  // A section at a time, as the control panel chooses it.
  const std::pair<const char*, std::vector<const char*>> sections[] = {
      {"plots", {"band", "signal"}},
      {"timeline", {"timeline"}},
      {"bars", {"across", "added"}},
      {"grids", {"heat", "tiles"}},
      {"vessels", {"vessel", "bytes", "pillars"}},
      {"graphs", {"to the right"}},
      {"comparisons", {"tornado", "dots", "intervals", "ports"}},
      {"distributions", {"ecdf", "few", "many"}},
      {"mechanisms", {"road", "adder", "matrix"}},
      {"texts", {"table"}},
  };
  for (const auto& [tab, names] : sections) {
    show("section", tab);
    const widgets::Record record = ui.record();
    for (const char* name : names) {
      INFO(tab << ": " << name);
      CHECK(std::any_of(record.tables.begin(), record.tables.end(), [&](const auto& t) { return t.name == name; }));
    }
  }
  CHECK(ui.text_present("A quotation keeps its distance."));
  show("section", "plots");
  CHECK(ui.text_present("Every mark on logarithmic axes"));
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

TEST_CASE("gallery: each new chart says in one sentence that it has nothing to show, and draws a single point") {
  const auto lab = chapters::make_lab_by_id("gallery/widgets");
  support::Canvas canvas(*lab, {1400, 1400});
  support::UiDriver& ui = canvas.ui;
  const auto show = [&](const char* key, const char* id) {
    REQUIRE(lab->inputs().find(key)->set_choice_id(id));
    ui.frames(3);
  };
  show("section", "comparisons");
  show("state", "empty");
  for (const char* s : {"Nothing to show: there is no change to compare.", "Nothing to show: there are no rows.",
                        "Nothing to show: there are no ports."})
    CHECK(ui.text_present(s));
  show("section", "distributions");
  CHECK(ui.text_present("Nothing to show: there are no values."));
  CHECK(ui.text_present("No skipped steps."));
  show("section", "mechanisms");
  for (const char* s : {"Nothing to show: nothing was driven.", "Nothing to show: there are no bits.",
                        "Nothing to show: the matrix is empty."})
    CHECK(ui.text_present(s));
  show("state", "one");
  CHECK_FALSE(ui.text_present("Nothing to show: the matrix is empty."));
  CHECK(ui.text_present("weight, 1 \xC3\x97 1"));
}

TEST_CASE("gallery: every section draws where there is next to no room") {
  const auto lab = chapters::make_lab_by_id("gallery/widgets");
  REQUIRE(lab);
  support::Canvas canvas(*lab, {320, 240});
  const auto* section = lab->inputs().find("section");
  for (const auto& option : *section->options) {
    INFO(option.id);
    REQUIRE(section->set_choice_id(option.id));
    for (const ImVec2 size : {ImVec2{320, 240}, ImVec2{340, 260}, ImVec2{900, 240}, ImVec2{60, 700}, ImVec2{24, 24}}) {
      canvas.ui.resize(size);
      canvas.ui.frames(3);  // Dear ImGui asserts where a cursor was set and nothing stands there
    }
  }
}
