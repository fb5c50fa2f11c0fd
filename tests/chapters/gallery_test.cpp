#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>

#include "chapters/registry.h"
#include "tests/support/ui_driver.h"

namespace {

void show(chapters::Lab& lab) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  lab.draw();
  ImGui::End();
}

}  // namespace

TEST_CASE("gallery: hidden, and every widget of widgets/ that charts data hands it over for export") {
  const auto lab = chapters::make_lab_by_id("gallery/widgets");
  REQUIRE(lab);
  CHECK(lab->info().hidden);
  lab->compute();
  support::UiDriver ui([&] { show(*lab); }, {1400, 5000}, [] { widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {})); });
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
