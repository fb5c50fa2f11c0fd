#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <imgui_internal.h>

#include <algorithm>
#include <set>

#include "chapters/mechanism/registry.h"
#include "tests/app/shell/shell_fixture.h"

using Catch::Approx;

TEST_CASE("a lab's tab and a row of the rail open it, and the visit counts as progress") {
  Opened o;
  CHECK(o.w.learner.quarters("roofline/iron-law").fraction() == 0);
  o.ui.resize({1920, 1080});
  o.ui.click("top/Iron law");
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.w.learner.quarters("roofline/iron-law") == app::store::Quarters{.opened = true});
  o.ui.click("roofline/hierarchy");
  CHECK(o.d.open_lab() == "roofline/hierarchy");
  CHECK(o.ui.text_present(o.w.lab().info().question));
}

TEST_CASE("the palette opens a lab by part of its name, with the keyboard alone") {
  Opened o;
  o.d.command("transf lay");
  CHECK(o.d.open_lab() == "roofline/transformer-layer");
  CHECK_FALSE(o.d.shell.palette.open);
}

TEST_CASE("who looks for settings finds the commands that set the program up") {
  Opened o;
  o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
  o.ui.frames(2);
  o.ui.type("settings");
  o.ui.frames(2);
  for (const char* command : {"Light or dark", "Larger interface", "Keep my scenario from lab to lab"})
    CHECK(o.ui.text_present(command));
}

TEST_CASE("the palette finds presets, commands and walks with the arrow keys; Escape closes it") {
  Opened o;
  o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
  o.ui.frames(2);
  CHECK(o.d.shell.palette.open);
  o.ui.type("zzqqzz");
  CHECK(o.ui.text_present("Nothing of that name."));
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.palette.open);
  CHECK(o.d.open_lab() == "roofline/roofline");
  const auto& presets = o.w.content.of("roofline/iron-law").presets;
  REQUIRE_FALSE(presets.empty());
  o.d.command("Iron law: " + presets.back().name);
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.w.progress.labs.at("roofline/iron-law").presets.contains(presets.back().name));
  o.d.command("light or dark");
  CHECK(o.w.settings.light);
  // The first hit for "interface" and the one below it are different commands.
  o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
  o.ui.frames(2);
  o.ui.type("terface");
  o.ui.key(ImGuiKey_DownArrow);
  CHECK(o.d.shell.palette.selected == 1);
  o.ui.key(ImGuiKey_UpArrow);
  CHECK(o.d.shell.palette.selected == 0);
  o.ui.key(ImGuiKey_Escape);
}

TEST_CASE("a command found in the palette with the mouse runs once") {
  Opened o;
  o.ui.click("Ctrl K");
  o.ui.frames(2);
  REQUIRE(o.d.shell.palette.open);
  o.ui.type("presentation");
  o.ui.frames(2);
  o.ui.click("Presentation mode");
  CHECK(o.d.shell.presentation);
  CHECK_FALSE(o.d.shell.palette.open);
}

TEST_CASE("Ctrl and + or - change the scale of the interface, Ctrl+0 leaves it to the monitor") {
  Opened o;
  o.ui.key(ImGuiKey_Equal, ImGuiMod_Ctrl);
  CHECK(o.w.settings.scale == Approx(1.1));
  o.ui.frames(2);
  CHECK(static_cast<double>(widgets::theme().scale) == Approx(1.1));
  o.ui.key(ImGuiKey_Equal, ImGuiMod_Ctrl | ImGuiMod_Shift);
  CHECK(o.w.settings.scale == Approx(1.21));
  o.ui.key(ImGuiKey_Minus, ImGuiMod_Ctrl);
  CHECK(o.w.settings.scale == Approx(1.1));
  for (int i = 0; i < 30; ++i) o.ui.key(ImGuiKey_Equal, ImGuiMod_Ctrl);
  CHECK(o.w.settings.scale == 4.0);
  o.ui.key(ImGuiKey_0, ImGuiMod_Ctrl);
  CHECK(o.w.settings.scale == 0);
}

TEST_CASE("presentation mode shows the stage alone in larger type; Escape leaves it") {
  Opened o;
  REQUIRE(o.ui.has("roofline/hierarchy"));
  REQUIRE(o.ui.has("Explore"));
  const float before = widgets::theme().type(widgets::Type::body);
  o.ui.key(ImGuiKey_F5);
  o.ui.frames(2);
  CHECK_FALSE(o.ui.has("roofline/hierarchy"));
  CHECK_FALSE(o.ui.has("Explore"));
  const auto larger = [](double height) { return static_cast<float>(app::presentation_scale(height)); };
  CHECK(widgets::theme().type(widgets::Type::body) == larger(800) * before);
  CHECK(larger(720) > 1.25f);  // never so small that a class cannot read it
  CHECK(larger(1080) == 1.5f);
  CHECK(larger(2160) == 3.0f);  // type grows with the screen
  CHECK(o.ui.text_present("Roofline"));
  CHECK(o.ui.text_present(o.w.lab().info().question));
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(2);
  CHECK(o.ui.has("roofline/hierarchy"));
  CHECK(widgets::theme().type(widgets::Type::body) == before);
}

TEST_CASE("Ctrl and brackets walk the labs in teaching order and stop at the ends, never at a hidden one") {
  const auto labs = chapters::all_labs();
  Opened o(std::string(labs[0].id).c_str());
  o.ui.key(ImGuiKey_LeftBracket, ImGuiMod_Ctrl);
  CHECK(o.d.open_lab() == labs[0].id);
  const std::size_t first = support::sanitized() ? labs.size() - 8 : 0;  // the same code steps through all
  REQUIRE(o.w.open(labs[first].id));
  std::vector<std::string> walked;
  for (std::size_t i = first; i <= labs.size(); ++i) {
    o.ui.key(ImGuiKey_RightBracket, ImGuiMod_Ctrl);
    walked.emplace_back(o.d.open_lab());
    CHECK_FALSE(o.w.lab().info().hidden);
  }
  CHECK(walked[0] == labs[first + 1].id);
  CHECK(walked[1] == labs[first + 2].id);
  CHECK(walked.back() == walked[walked.size() - 2]);  // longer than there are labs: the last step went nowhere
  // All but the first and the hidden gallery.
  CHECK(std::set<std::string>(walked.begin(), walked.end()).size() + 2 == labs.size() - first);
}

TEST_CASE("a chip chosen in the top bar is chosen in every lab") {
  Opened o;
  o.ui.resize({1920, 1080});
  o.choose({"top/chip"}, "mi300", "MI300X");
  CHECK(o.chosen("chip") == "mi300x");
  o.ui.frames(2);
  o.ui.click("roofline/iron-law");
  CHECK(o.chosen("chip") == "mi300x");
}

TEST_CASE("what was set in one lab is there in the next while my scenario is kept, and not when it is not") {
  Opened o;
  o.choose({"inputs/The chip", "inputs/Chip"}, "b200", "B200");
  o.ui.click("roofline/iron-law");
  CHECK(o.chosen("chip") == "b200_sxm");
  o.d.command("keep my scenario");
  CHECK_FALSE(o.w.settings.keep_my_scenario);
  o.ui.frames(2);
  o.choose({"inputs/The chip", "inputs/Chip"}, "mi300", "MI300X");
  CHECK(o.chosen("chip") == "mi300x");
  o.ui.frames(2);
  o.ui.click("roofline/roofline");
  CHECK(o.chosen("chip") == "b200_sxm");
}

TEST_CASE("the scenario is copied as a link and as a command") {
  Opened o;
  o.d.type_value("inputs/Traffic", "2 GB");
  o.ui.key(ImGuiKey_L, ImGuiMod_Ctrl);
  CHECK(o.d.copied == "ridgeline://roofline/roofline?bytes=2000000000.0");
  CHECK(o.d.was_said("link to this scenario"));
  o.ui.key(ImGuiKey_C, ImGuiMod_Ctrl | ImGuiMod_Shift);
  CHECK(o.d.copied == "ridgeline roofline/roofline --set bytes=2000000000.0");
  o.ui.key(ImGuiKey_Q, ImGuiMod_Ctrl);
  CHECK(o.d.quit);
}

TEST_CASE("messages stack, the newest on top, and go away by themselves; an error stays longer and says so") {
  Opened o;
  o.w.say("The first thing.");
  o.ui.frames(2);
  o.w.say_failure("The second thing went wrong.");
  o.ui.frames(2);
  CHECK(o.ui.text_present("The first thing."));
  CHECK(o.ui.text_present("The second thing went wrong."));
  REQUIRE(o.d.shell.toasts.shown.size() == 2);
  CHECK(o.d.shell.toasts.shown[0].message.failure);
  CHECK(o.d.shell.animating);
  o.ui.wait(6);
  CHECK_FALSE(o.ui.text_present("The first thing."));
  CHECK(o.ui.text_present("The second thing went wrong."));
  o.ui.wait(12);
  CHECK_FALSE(o.ui.text_present("The second thing went wrong."));
  CHECK_FALSE(o.d.shell.animating);  // the window may sleep
}

TEST_CASE("a message stands beside the canvas and not over it") {
  Opened o;
  o.w.say("Something short.");
  o.ui.frames(3);
  const auto& close = o.ui.item("Close");
  CHECK(close.min.y >= o.d.shell.canvas_max.y);
  CHECK(close.max.x <= o.d.shell.canvas_max.x);
}

TEST_CASE("a message's button does what it says and closes the message; the cross closes it too") {
  Opened o;
  int done = 0;
  o.w.say("A file was written.", {"Show folder", [&] { ++done; }});
  o.ui.frames(2);
  o.press_each({"Show folder"});
  CHECK(done == 1);
  CHECK_FALSE(o.ui.text_present("A file was written."));
  o.w.say("Another thing.");
  o.ui.frames(2);
  o.press_each({"Close"});
  CHECK_FALSE(o.ui.text_present("Another thing."));
}

TEST_CASE("the same message again does not stack up, and of many the oldest that are no errors go first") {
  Opened o;
  o.w.say_failure("It failed.");
  for (int i = 0; i < 9; ++i) {
    o.w.say("Copied.");
    o.w.say("Step " + std::to_string(i) + ".");
    o.ui.frames(1);
  }
  CHECK(o.d.shell.toasts.shown.size() == 4);
  CHECK(o.d.was_said("It failed."));
  CHECK(o.d.was_said("Step 8."));
  CHECK_FALSE(o.d.was_said("Step 0."));
}

TEST_CASE("edges of drawer and inspector are dragged, within limits, and kept as settings") {
  Opened o;
  const double drawer = o.w.settings.drawer_height, inspector = o.w.settings.inspector_width;
  o.ui.drag_by("drawer edge", {0, -40});
  CHECK(o.w.settings.drawer_height == Approx(drawer + 40).margin(2));
  o.ui.drag_by("inspector edge", {30, 0});
  CHECK(o.w.settings.inspector_width == Approx(inspector - 30).margin(2));
  o.ui.drag_by("inspector edge", {900, 0});
  CHECK(o.w.settings.inspector_width == 200);
}

TEST_CASE("every control of the interface is reached by Tab") {
  Opened o;
  for (const char* group : {"inputs/The chip", "inputs/The model"}) {
    o.ui.click(group);
    o.ui.frames(2);
  }
  std::set<std::string> owed{
      "roofline/hierarchy", "roofline/iron-law",    "Roofline", "Ctrl K", "Chip", "Work", "Traffic",
      "Count KV reads",     "Arithmetic intensity", "Explore",  "Reset"};
  for (int i = 0; i < 400 && !owed.empty(); ++i) {
    o.ui.key(ImGuiKey_Tab);
    if (const auto* item = o.ui.probe().find_id(ImGui::GetCurrentContext()->NavId)) owed.erase(item->label);
  }
  CHECK(owed == std::set<std::string>{});
}

TEST_CASE("a model of one's own that is opened is chosen, named in the bar as one's own, and one step of undo away") {
  Opened o("roofline/transformer-layer");
  o.ui.resize({1600, 1000});
  const std::string before = o.chosen("model");
  REQUIRE(o.w.opening.open_and_wait(support::data_file("configs/gpt2.json")).error.empty());
  o.ui.frames(4);
  CHECK(o.chosen("model") == "gpt2");
  const widgets::Record drawn = o.ui.record();
  const auto named = std::count_if(drawn.strokes.begin(), drawn.strokes.end(),
                                   [](const auto& s) { return s.text.find("gpt2, yours") != std::string::npos; });
  CHECK(named >= 2);  // the bar and the model's row
  o.ui.key(ImGuiKey_Z, ImGuiMod_Ctrl);
  o.ui.frames(4);
  CHECK(o.chosen("model") == before);
  const widgets::Record after = o.ui.record();
  CHECK(std::none_of(after.strokes.begin(), after.strokes.end(),
                     [](const auto& s) { return s.text.find("gpt2, yours") != std::string::npos; }));
}

TEST_CASE("every lab is the first hit for its own title, and no hidden lab is offered") {
  Opened o;
  for (std::size_t at = 0; const auto& lab : o.w.labs()) {
    if (support::sanitized() && at++ % 6 != 0 && !lab.copy->info().hidden) continue;  // the same code finds all
    if (lab.copy->info().hidden) {
      o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
      o.ui.frames(2);
      CHECK(std::none_of(o.d.shell.palette.commands.begin(), o.d.shell.palette.commands.end(),
                         [&](const app::Command& c) { return c.label.starts_with(lab.title); }));
      o.ui.key(ImGuiKey_Escape);
      o.ui.frames(2);
      continue;
    }
    o.d.command(lab.title);
    CHECK(o.d.open_lab() == lab.lab);
  }
}

TEST_CASE("a term, a command by another word for it, and a figure by its label are found") {
  Opened o;
  const auto first = [&](std::string_view typed) {
    o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
    o.ui.frames(2);
    o.ui.type(typed);
    o.ui.frames(2);
    const auto& palette = o.d.shell.palette;
    const std::string label = palette.hits.empty() ? "" : palette.commands[palette.hits[0]].label;
    o.ui.key(ImGuiKey_Escape);
    o.ui.frames(2);
    return label;
  };
  CHECK(first("MFU").starts_with("MFU: "));
  CHECK(first("save") == "Export scenario (JSON)");
  CHECK(first("export").starts_with("Export picture"));
  CHECK(first("ask").starts_with("Predict: ask me a question"));
  const std::string predicts = first("predict");
  INFO(predicts);
  CHECK(predicts.starts_with("Predict: "));
  CHECK(first("present") == "Presentation mode");
  o.d.command("ask");
  CHECK(app::question_open(o.d.shell));
  CHECK(first("reveal") == "Show the answer without a guess");
}

TEST_CASE("a figure that is looked for is marked in its lab until an input changes, its group unfolded") {
  Opened o;
  o.w.open("roofline/iron-law");
  o.ui.frames(3);
  const chapters::Field* sought = nullptr;
  std::string title;
  for (const auto& lab : o.w.labs())
    if (lab.lab == "roofline/hierarchy")
      for (const auto& f : lab.copy->outputs())
        if (!f.spec.headline && !f.group.empty() && f.kind == chapters::Kind::real) {
          sought = &f;
          title = lab.title;
        }
  REQUIRE(sought);
  o.d.command(title + " " + std::string(sought->spec.label));
  CHECK(o.d.open_lab() == "roofline/hierarchy");
  const chapters::Field& f = *o.w.lab().outputs().find(sought->key);
  CHECK(app::is_sought(o.d.shell, f));
  o.ui.frames(3);
  CHECK(o.ui.text_present(f.spec.label));
  CHECK_FALSE(o.d.shell.sought.scroll);
  const auto& in = o.w.lab().inputs();
  const auto number =
      std::find_if(in.begin(), in.end(), [](const auto& i) { return i.kind == chapters::Kind::choice; });
  REQUIRE(number != in.end());
  number->set_number(number->number() == 0 ? 1 : 0);
  o.ui.frames(3);
  CHECK_FALSE(app::is_sought(o.d.shell, f));
}

TEST_CASE("a value with its unit finds the figures that read so") {
  Opened o;
  o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
  o.ui.frames(2);
  o.ui.type("3.35 TB/s");
  REQUIRE(o.d.settle());
  const auto& palette = o.d.shell.palette;
  REQUIRE_FALSE(palette.hits.empty());
  CHECK(palette.commands[palette.hits[0]].shortcut == "figure");
  CHECK(palette.commands[palette.hits[0]].label.find("3.35") != std::string::npos);
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(2);
  REQUIRE(o.d.settle());
  CHECK(o.d.output(o.d.shell.sought.key.c_str()).number() == Approx(3.35e12).epsilon(0.002));
}

TEST_CASE("back and forward go through the labs as they were left, by key and by the mouse's side buttons") {
  Opened o;
  REQUIRE(o.d.open_lab() == "roofline/roofline");
  o.w.open("roofline/iron-law");
  const auto& in = o.w.lab().inputs();
  const auto f = std::find_if(in.begin(), in.end(), [](const auto& i) { return i.kind == chapters::Kind::choice; });
  REQUIRE(f != in.end());
  const double other = f->number() == 0 ? 1 : 0;
  f->set_number(other);
  o.ui.frames(2);
  o.w.open("precision/bits");
  o.ui.frames(2);
  o.ui.key(ImGuiKey_LeftArrow, ImGuiMod_Alt);
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(f->number() == other);
  ImGui::GetIO().AddMouseButtonEvent(3, true);
  ImGui::GetIO().AddMouseButtonEvent(3, false);
  o.ui.frames(3);
  CHECK(o.d.open_lab() == "roofline/roofline");
  o.ui.key(ImGuiKey_RightArrow, ImGuiMod_Alt);
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.w.can_go(1));
  o.w.open("roofline/hierarchy");  // what lay ahead is gone
  CHECK_FALSE(o.w.can_go(1));
  while (o.w.can_go(-1)) o.w.go(-1);
  o.w.go(-1);  // nothing lies before the first
  CHECK(o.w.can_go(1));
}
