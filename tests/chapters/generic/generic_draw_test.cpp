#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/explore/random_inputs.h"
#include "app/shell/shell.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/shell_driver.h"

// Every lab inside the real shell, at three window sizes in both themes: Dear ImGui's and our own assertions are on.

using namespace support;

namespace {

/// A vertex or a recorded point that is not finite; empty when there is none.
std::string bad_position(support::UiDriver& ui) {
  const widgets::Record record = ui.record();
  for (const auto& stroke : record.strokes)
    for (const ImVec2 p : stroke.points)
      if (!std::isfinite(p.x) || !std::isfinite(p.y))
        return "a stroke of kind " + std::to_string(static_cast<int>(stroke.kind)) + " \"" + stroke.text + "\"";
  const ImDrawData* data = ImGui::GetDrawData();
  for (const ImDrawList* list : data->CmdLists)
    for (const ImDrawVert& v : list->VtxBuffer)
      if (!std::isfinite(v.pos.x) || !std::isfinite(v.pos.y)) return "a vertex";
  return "";
}

/// A seed of random inputs that cannot be; none where all that were tried are feasible.
std::optional<std::uint64_t> infeasible_seed(chapters::Lab& lab) {
  std::uint64_t seed = 0;
  for (const Budget budget{20, 200, 0.1}; budget.allows(seed); ++seed) {
    app::randomize(lab, seed);
    lab.compute_facts();
    if (!lab.reason().empty()) return seed;
  }
  return {};
}

}  // namespace

TEST_CASE("every lab: its plots and bars can be told apart, so that another scenario's can be laid beside each") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content(), nowhere(), {1600, 1000});
      REQUIRE(d.workspace.open(entry.id));
      compute_once(d.workspace);
      d.ui.frames(3);
      d.shell.explore.lab = entry.id;
      d.shell.explore.scenario_a = d.workspace.lab().clone();
      d.ui.frames(6);
      CHECK(d.shell.explore.frames_of_a == 3);
      CHECK(d.shell.explore.picture_a.clashes == 0);
    }
}

TEST_CASE(
    "every lab: draws at three window sizes in both themes with finite positions, and drawing alone sets nothing") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content());
      REQUIRE(d.workspace.open(entry.id));
      const std::uint64_t seeds = full() ? 10 : sanitized() ? 2 : 3;  // 0 is the defaults
      for (const bool light : {false, true})
        for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1920, 1080}, ImVec2{640, 480}}) {
          d.workspace.settings.light = light;
          d.ui.resize(size);
          for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            INFO(size.x << " x " << size.y << (light ? " light" : " dark") << ", seed " << seed);
            auto& lab = d.workspace.lab();
            if (seed == 0)
              lab.reset();
            else
              app::randomize(lab, seed);
            compute_once(d.workspace);
            const auto before = lab.clone();
            d.ui.frames(3);
            CHECK(bad_position(d.ui) == "");
            CHECK(lab.same_inputs(*before));
          }
        }
    }
}

TEST_CASE("every lab: a canvas of any height down to none draws with finite positions") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content());
      REQUIRE(d.workspace.open(entry.id));
      compute_once(d.workspace);
      d.shell.drawer_open = false;
      d.ui.frames(3);
      for (float height = 360; height > 120; height -= sanitized() ? 7.0f : 1.0f) {
        d.ui.resize({1280, height});
        d.ui.frames(1);
        INFO("height " << height);
        CHECK(bad_position(d.ui) == "");
      }
    }
}

TEST_CASE("every lab: an infeasible state is drawn with its reason in words") {
  use_bundled_catalog();
  int shown = 0;
  for (const auto& entry : labs_under_test()) {
    const auto seed = infeasible_seed(*entry.make());
    if (!seed) continue;
    ShellDriver d(bundled_content());
    REQUIRE(d.workspace.open(entry.id));
    auto& lab = d.workspace.lab();
    app::randomize(lab, *seed);
    lab.compute();
    d.ui.frames(3);
    INFO(entry.id << ": " << lab.reason());
    REQUIRE_FALSE(lab.reason().empty());
    CHECK(bad_position(d.ui) == "");
    const std::string start = lab.reason().substr(0, 12);  // the rest may wrap
    CHECK(d.ui.text_present(start));
    ++shown;
  }
  if (shown == 0) SKIP("No random state of these labs is infeasible.");
}

TEST_CASE(
    "every lab: every tab of the drawer, presentation mode and the ends of the interface scale draw with finite "
    "positions") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content());
      REQUIRE(d.workspace.open(entry.id));
      compute_once(d.workspace);
      for (int tab = 0; tab <= static_cast<int>(app::Drawer::lesson); ++tab) {
        d.shell.drawer = static_cast<app::Drawer>(tab);
        d.ui.frames(3);
        INFO("tab " << tab);
        CHECK(bad_position(d.ui) == "");
      }
      for (const double scale : {0.5, 4.0}) {
        d.workspace.settings.scale = scale;
        d.ui.frames(3);
        INFO("scale " << scale);
        CHECK(bad_position(d.ui) == "");
      }
      d.workspace.settings.scale = 1;
      d.shell.presentation = true;
      d.ui.frames(3);
      CHECK(bad_position(d.ui) == "");
    }
}
