#include <imgui_internal.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/platform/fonts.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/layout_faults.h"
#include "tests/support/lab/shell_driver.h"

// Every lab as it is set: the panel that answers is whole, nothing scrolls but tables and texts, nothing is cut or lies
// over something else, and every text can be read. With the real fonts, since widths decide.

using namespace support;

namespace {

struct LayoutCase {
  ImVec2 size;
  bool light, presentation;
};

std::string name_of(const LayoutCase& c) {
  return std::to_string(static_cast<int>(c.size.x)) + "x" + std::to_string(static_cast<int>(c.size.y)) +
         (c.light ? " light" : " dark") + (c.presentation ? " presentation" : "");
}

/// A window below the canvas that could be scrolled and is not a panel of tables or texts.
std::string scrolling_window(const ShellDriver& d, const widgets::StageView& stage) {
  for (const ImGuiWindow* window : d.ui.context()->Windows) {
    if (!window->WasActive || window->Hidden || (window->Flags & ImGuiWindowFlags_Popup)) continue;
    const std::string_view name = window->Name;
    if (name.find("/canvas_") == std::string_view::npos) continue;
    bool allowed = false;
    for (const widgets::PlacedPanel& p : stage.placed)
      if (stage.specs[p.panel].scrolls && window->Pos.x >= p.at.min.x - 1 && window->Pos.y >= p.at.min.y - 1 &&
          window->Pos.x <= p.at.max.x && window->Pos.y <= p.at.max.y)
        allowed = true;
    if (!allowed && (window->ScrollMax.y > 0.5f || window->ScrollMax.x > 0.5f)) return std::string(name);
  }
  return {};
}

std::vector<std::string> faults_now(ShellDriver& d, const LayoutCase& c) {
  std::vector<std::string> out;
  widgets::Record record;  // of the canvas alone
  d.shell.record = &record;
  d.ui.frames(1);
  d.shell.record = nullptr;
  const widgets::StageView& stage = app::stage_view(d.shell);
  if (stage.specs.empty()) return {"the lab shows no panel"};
  const std::size_t answers = widgets::answering_panel(stage.specs);
  const auto placed = std::find_if(stage.placed.begin(), stage.placed.end(),
                                   [&](const widgets::PlacedPanel& p) { return p.panel == answers; });
  const widgets::Rect canvas{d.shell.canvas_min, d.shell.canvas_max};
  if (placed == stage.placed.end())
    out.push_back("the panel that answers is not shown");
  else if (placed->at.max.y > canvas.max.y + 1 || placed->at.max.x > canvas.max.x + 1)
    out.push_back("the panel that answers is not whole");
  if (stage.specs[answers].scrolls) out.push_back("the panel that answers scrolls");
  if (const std::string window = scrolling_window(d, stage); !window.empty()) out.push_back(window + " scrolls");
  LayoutRules rules{
      .canvas = canvas, .ground = widgets::theme().background, .least_text_px = 8.9f * widgets::theme().scale};
  for (const widgets::PlacedPanel& p : stage.placed)
    if (stage.specs[p.panel].scrolls) rules.scrolling.push_back(p.at);
  for (auto& fault : layout_faults(record, rules)) out.push_back(std::move(fault));
  if (!d.workspace.lab().reason().empty()) return out;
  // The answer is said in figures.
  if (!d.workspace.lab().info().hidden) {
    const std::string_view answer = d.workspace.lab().answer();
    if (answer.empty()) out.push_back("the lab says no answer");
    if (std::count(answer.begin(), answer.end(), '`') % 2 != 0) out.push_back("a backtick of the answer is alone");
  }
  (void)c;
  return out;
}

/// More panels than this are more than anybody looks through.
constexpr std::size_t max_panels = 4;

std::vector<LayoutCase> cases() {
  std::vector<LayoutCase> out;
  for (const bool light : {false, true}) {
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1600, 1000}, ImVec2{1920, 1080}, ImVec2{640, 480}})
      out.push_back({size, light, false});
    out.push_back({{1280, 800}, light, true});
    out.push_back({{1920, 1080}, light, true});
  }
  return out;
}

}  // namespace

TEST_CASE("every lab: the answering panel is whole, nothing scrolls, is cut, overlaps or cannot be read") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
      REQUIRE(d.workspace.open(entry.id));
      const auto& presets = d.workspace.content.of(entry.id).presets;
      const bool few = sanitized();  // addresses are what the sanitizers look at, and every size has been drawn before
      // A state is computed once and then drawn in every window, as somebody does who drags its corner.
      for (std::size_t i = 0; i <= presets.size(); ++i) {
        if (few && i > 1) break;
        if (i == 0)
          d.workspace.current().reset();
        else
          REQUIRE(d.workspace.apply_preset(presets[i - 1]));
        compute_once(d.workspace);
        d.settle();
        if (!d.workspace.lab().info().hidden) CHECK(app::stage_view(d.shell).specs.size() <= max_panels);
        for (const LayoutCase& c : cases()) {
          if (few && (c.light || c.size.x == 1920)) continue;
          d.workspace.settings.light = c.light;
          d.shell.presentation = c.presentation;
          d.shell.drawer_open = false;
          d.ui.resize(c.size);
          d.settle();
          for (const std::string& fault : faults_now(d, c)) {
            INFO(name_of(c) << ", " << (i == 0 ? std::string("default") : "preset \"" + presets[i - 1].name + "\""));
            FAIL_CHECK(fault);
          }
        }
      }
    }
}
