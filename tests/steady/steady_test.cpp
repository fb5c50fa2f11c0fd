#include <imgui_internal.h>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/platform/file_bytes.h"
#include "app/shell/explore/explore_parts.h"
#include "chapters/mechanism/registry.h"
#include "tests/bench/allocations.h"
#include "tests/bench/stage.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/monkey.h"

// "No heap allocation in a steady frame" (design.md section 4), counted: operator new and all that Dear ImGui asks for.

namespace {

std::uint64_t allocations_of_frames(bench::Stage& stage, int frames) {
  const auto before = bench::allocations();
  for (int i = 0; i < frames; ++i) stage.frame();
  return bench::allocations() - before;
}

void prepare() {
  bench::count_imgui();
  bench::assets();
}

}  // namespace

TEST_CASE("the counter sees operator new and Dear ImGui's own") {
  prepare();
  const auto before = bench::allocations();
  auto number = std::make_unique<int>(7);
  CHECK(*number == 7);
  CHECK(bench::allocations() > before);
  const auto between = bench::allocations();
  void* bytes = ImGui::MemAlloc(16);
  CHECK(bench::allocations() == between + 1);
  ImGui::MemFree(bytes);
}

TEST_CASE("every lab, alone and beside a scenario that was set aside: a steady frame of all allocates nothing") {
  prepare();
  for (const auto& entry : chapters::all_labs()) DYNAMIC_SECTION(entry.id) {
      bench::Stage stage(entry.id);
      stage.settle();
      CHECK(allocations_of_frames(stage, 10) == 0);
      app::set_aside_a(stage.shell());
      REQUIRE(stage.shell().explore.scenario_a);
      stage.shell().explore.lab = entry.id;
      stage.settle();
      CHECK(allocations_of_frames(stage, 10) == 0);
    }
}

TEST_CASE("a change that eases allocates nothing once it has come to rest") {
  prepare();
  bench::Stage stage("roofline/roofline");
  stage.settle();
  const auto* batch = stage.shell().workspace.lab().inputs().find("batch");
  REQUIRE(batch != nullptr);
  for (const double value : {2.0, 1.0, 2.0, 1.0}) {
    INFO(value << " after " << batch->number());
    batch->set_number(value);
    stage.frame();
    stage.frame();
    CHECK(stage.shell().animating);
    stage.settle();
    CHECK(allocations_of_frames(stage, 10) == 0);
  }
}

TEST_CASE("every lab: after careless hands a frame at rest allocates nothing") {
  prepare();
  for (const auto& entry : chapters::all_labs()) DYNAMIC_SECTION(entry.id) {
      const support::MonkeyTally done = support::walk({.lab = std::string(entry.id),
                                                       .seed = 7,
                                                       .events = 60,
                                                       .events_a_start = 60,
                                                       .allocations = bench::allocations});
      CHECK(done.starts == 2);
    }
}

TEST_CASE("an infeasible lab that shows its last feasible picture allocates nothing, whatever text its inputs hold") {
  prepare();
  bench::Stage stage("profiling/trace-viewer");
  auto& workspace = stage.shell().workspace;
  workspace.lab().inputs().find("search")->text() = "a text that is too long to lie within a string itself";
  stage.settle();
  const support::Folder folder;
  folder.write("broken.sqlite", "This is no database, whatever its name says.");
  // Opening refuses it; a recording that was good when it was opened may be broken when it is read again.
  const std::string path = (folder / "broken.sqlite").string();
  auto& file = workspace.lab().inputs().find("file")->file();
  file.path = path;
  file.bytes = *app::read_file_bytes(path);
  stage.settle();
  REQUIRE(workspace.lab().shows_earlier());
  CHECK(allocations_of_frames(stage, 10) == 0);
}

TEST_CASE("every tab of the drawer: a steady frame allocates nothing") {
  prepare();
  for (const auto tab :
       {app::Drawer::concept_, app::Drawer::design, app::Drawer::code, app::Drawer::debug, app::Drawer::frontier,
        app::Drawer::claims, app::Drawer::measured, app::Drawer::predict, app::Drawer::explore, app::Drawer::notes})
    DYNAMIC_SECTION("tab " << static_cast<int>(tab)) {
      bench::Stage stage("roofline/roofline");
      stage.shell().drawer = tab;
      stage.settle();
      CHECK(allocations_of_frames(stage, 10) == 0);
    }
}

TEST_CASE("the panel that opens a file, over a folder of files: a steady frame allocates nothing") {
  prepare();
  const support::Folder folder;
  for (int i = 0; i < 300; ++i) folder.write("a run with a longer name " + std::to_string(i) + ".csv", "x");
  bench::Stage stage("roofline/roofline");
  stage.shell().workspace.files.folder["csv"] = folder.path.string();
  stage.shell().workspace.files.opened = {(folder.path / "a run with a longer name 7.csv").string()};
  app::ask_for_file(stage.shell());
  stage.settle();
  REQUIRE(stage.shell().open_panel.open);
  REQUIRE(stage.shell().open_panel.list.entries.size() == 300);
  CHECK(allocations_of_frames(stage, 10) == 0);
}

TEST_CASE("presentation mode, the light theme and a folded drawer: a steady frame allocates nothing") {
  prepare();
  bench::Stage stage("roofline/roofline");
  stage.shell().presentation = true;
  stage.settle();
  CHECK(allocations_of_frames(stage, 10) == 0);
  stage.shell().presentation = false;
  stage.shell().drawer_open = false;
  stage.settle();
  CHECK(allocations_of_frames(stage, 10) == 0);
}

TEST_CASE("a mouse that moves over nothing in particular allocates nothing") {
  prepare();
  bench::Stage stage("roofline/iron-law");
  stage.settle();
  for (int i = 0; i < 60; ++i) {
    ImGui::GetIO().AddMousePosEvent(100.0f + static_cast<float>(i), 40);  // the rail's heading
    stage.frame();
  }
  const auto before = bench::allocations();
  for (int i = 0; i < 20; ++i) {
    ImGui::GetIO().AddMousePosEvent(100.0f + static_cast<float>(i), 40);
    stage.frame();
  }
  CHECK(bench::allocations() - before == 0);
}

TEST_CASE("a pointer that rests on a span of the trace viewer, whose arguments it shows, allocates nothing") {
  prepare();
  bench::Stage stage("profiling/trace-viewer");
  stage.settle();
  int shown = 0;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  for (float y = 0.15f; y < 0.8f; y += 0.05f)
    for (const float x : {0.45f, 0.6f}) {
      ImGui::GetIO().AddMousePosEvent(x * size.x, y * size.y);
      stage.settle(8);  // a job reads the span's arguments, and allocates for as long as it runs
      const auto tip_is_up = [] {
        const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
        return tip && tip->Active;
      };
      if (!tip_is_up()) continue;
      ++shown;
      INFO("at " << x << ", " << y);
      CHECK(allocations_of_frames(stage, 5) == 0);
    }
  CHECK(shown >= 5);
}

TEST_CASE("every section of the gallery, in every state of its data: a steady frame allocates nothing") {
  prepare();
  bench::Stage stage("gallery/widgets");
  for (const char* section :
       {"plots", "timeline", "bars", "grids", "graphs", "comparisons", "distributions", "mechanisms", "texts"})
    for (const char* state : {"ordinary", "empty", "one", "forty"}) {
      INFO(section << ", " << state);
      auto& inputs = stage.shell().workspace.lab().inputs();
      REQUIRE(inputs.find("section")->set_choice_id(section));
      REQUIRE(inputs.find("state")->set_choice_id(state));
      stage.settle();
      CHECK(allocations_of_frames(stage, 10) == 0);
    }
}
