#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <imgui_internal.h>

#include "tests/support/ui/ui_driver.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

struct Screen {
  int runs = 0, twice = 0, chosen = 0, palette = 0, far_clicks = 0;
  float gpus = 0;
  char name[32] = "";
  float zoom = 0;
  bool modal = false;

  void draw() {
    ImGui::SetNextWindowPos({20, 20});
    ImGui::SetNextWindowSize({500, 500});
    ImGui::Begin("Left");
    if (ImGui::Button("Run##main")) ++runs;
    ImGui::SetItemTooltip("Runs the sweep");
    ImGui::Button("Twice");
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ++twice;
    ImGui::SliderFloat("GPUs", &gpus, 0.0f, 100.0f);
    ImGui::InputText("Name", name, sizeof name);
    ImGui::Combo("Chip", &chosen, "A100\0H100\0B200\0");
    ImGui::InvisibleButton("##plot", {200, 60});
    if (ImGui::IsItemHovered()) zoom += ImGui::GetIO().MouseWheel;
    if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_K)) ++palette;
    widgets::Painter::window().text({30, 400}, "ridge point", IM_COL32_WHITE);
    ImGui::TextUnformatted("tokens per second");
    ImGui::BeginChild("list", {300, 80});
    for (int i = 0; i < 100; ++i) ImGui::Text("row %d", i);
    if (ImGui::Button("Far")) ++far_clicks;
    ImGui::EndChild();
    ImGui::End();
    ImGui::SetNextWindowPos({600, 20});
    ImGui::SetNextWindowSize({300, 300});
    ImGui::Begin("Right");
    if (ImGui::Button("Run")) runs += 100;
    ImGui::End();
    if (modal) ImGui::OpenPopup("Stop");
    if (ImGui::BeginPopupModal("Stop")) {
      ImGui::TextUnformatted("nothing else works");
      ImGui::EndPopup();
    }
  }
};

struct Driven {
  Screen screen;
  support::UiDriver ui{[this] { screen.draw(); },
                       {1280, 800},
                       [] { widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {})); }};
};

}  // namespace

TEST_CASE("driver clicks a button by its label, in the window asked for") {
  Driven d;
  d.ui.click("Run##main");
  CHECK(d.screen.runs == 1);
  d.ui.click("Right/Run");
  CHECK(d.screen.runs == 101);
  d.ui.click("Left/Run");
  CHECK(d.screen.runs == 102);
}

TEST_CASE("driver double-clicks") {
  Driven d;
  d.ui.click("Twice");
  CHECK(d.screen.twice == 0);
  d.ui.frames(60);
  d.ui.double_click("Twice");
  CHECK(d.screen.twice == 1);
}

TEST_CASE("driver drags a slider to both ends and into the middle, and types an exact value") {
  Driven d;
  d.ui.drag("GPUs", 1.0f);
  CHECK(d.screen.gpus == 100.0f);
  d.ui.drag("GPUs", 0.0f, 0.98f);
  CHECK(d.screen.gpus == 0.0f);
  d.ui.drag("GPUs", 0.5f, 0.02f);
  CHECK(d.screen.gpus > 20.0f);  // the item's width includes its label, so the middle of the track lies elsewhere
  CHECK(d.screen.gpus < 80.0f);
  d.ui.fill("GPUs", "64");
  CHECK(d.screen.gpus == 64.0f);
}

TEST_CASE("driver types into a field and replaces what it holds") {
  Driven d;
  d.ui.click("Name");
  d.ui.type("llama \xC3\xA9");
  CHECK(std::string(d.screen.name) == "llama \xC3\xA9");
  d.ui.fill("Name", "qwen");
  CHECK(std::string(d.screen.name) == "qwen");
}

TEST_CASE("driver picks a choice out of a popup") {
  Driven d;
  d.ui.click("Chip");
  REQUIRE(d.ui.has("B200"));
  d.ui.click("B200");
  CHECK(d.screen.chosen == 2);
}

TEST_CASE("driver sends key chords and the wheel") {
  Driven d;
  d.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
  CHECK(d.screen.palette == 1);
  d.ui.key(ImGuiKey_K);
  CHECK(d.screen.palette == 1);
  d.ui.wheel("##plot", 3);
  CHECK(d.screen.zoom == 3.0f);
}

TEST_CASE("driver scrolls to what lies beyond its window's edge, though Dear ImGui has not named it yet") {
  Driven d;
  REQUIRE(d.ui.has("Far"));
  CHECK_FALSE(d.ui.probe().find("Far")->visible());
  d.ui.click("Far");
  CHECK(d.screen.far_clicks == 1);
}

TEST_CASE("driver reads text drawn by Dear ImGui, by Painter and in tooltips") {
  Driven d;
  CHECK(d.ui.text_present("tokens per  second"));
  CHECK(d.ui.text_present("ridge point"));
  CHECK_FALSE(d.ui.text_present("Runs the sweep"));
  d.ui.hover("Run##main");
  CHECK(d.ui.text_present("Runs the sweep"));
}

TEST_CASE("driver says which labels there are when the one asked for is missing") {
  Driven d;
  CHECK_THROWS_MATCHES(d.ui.click("Rum"), std::runtime_error,
                       MessageMatches(ContainsSubstring("no control is labelled \"Rum\"") &&
                                      ContainsSubstring("\"Run##main\" in \"Left\"")));
}

TEST_CASE("driver refuses to click what a modal popup covers") {
  Driven d;
  d.screen.modal = true;
  d.ui.frames(3);
  CHECK_THROWS_MATCHES(d.ui.click("Right/Run"), std::runtime_error, MessageMatches(ContainsSubstring("covered")));
  CHECK(d.screen.runs == 0);
}

TEST_CASE("probing off keeps no records and leaves Dear ImGui's hooks off") {
  Driven d;
  ImGuiContext* context = d.ui.context();
  CHECK(context->TestEngineHookItems);
  {
    support::UiDriver other([] {});
    CHECK(other.probe().find("GPUs") == nullptr);
  }
  ImGuiContext* bare = ImGui::CreateContext();
  CHECK_FALSE(bare->TestEngineHookItems);
  {
    const widgets::ItemProbe probe(bare);
    CHECK(bare->TestEngineHookItems);
  }
  CHECK_FALSE(bare->TestEngineHookItems);
  CHECK(bare->TestEngine == nullptr);
  ImGui::DestroyContext(bare);
}
