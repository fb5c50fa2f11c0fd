#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "chapters/registry.h"
#include "tests/bench/allocations.h"
#include "tests/bench/stage.h"

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

TEST_CASE("every lab: a steady frame of the whole interface allocates nothing") {
  prepare();
  for (const auto& entry : chapters::all_labs())
    DYNAMIC_SECTION(entry.id) {
      bench::Stage stage(entry.id);
      stage.settle();
      CHECK(allocations_of_frames(stage, 10) == 0);
    }
}

TEST_CASE("every tab of the drawer: a steady frame allocates nothing") {
  prepare();
  for (const auto tab : {app::Drawer::concept_, app::Drawer::design, app::Drawer::code, app::Drawer::debug, app::Drawer::frontier, app::Drawer::claims, app::Drawer::predict, app::Drawer::explore, app::Drawer::notes})
    DYNAMIC_SECTION("tab " << static_cast<int>(tab)) {
      bench::Stage stage("roofline/roofline");
      stage.shell().drawer = tab;
      stage.settle();
      CHECK(allocations_of_frames(stage, 10) == 0);
    }
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
