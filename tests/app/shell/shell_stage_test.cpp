#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/shell/stage_area.h"
#include "chapters/mechanism/registry.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/support/lab/busy_workers.h"

namespace {

/// The front panel's title.
std::string front(Opened& o) {
  const widgets::StageView& view = app::stage_view(o.d.shell);
  return std::string(view.specs[view.main].title);
}

}  // namespace

TEST_CASE("question, answer with figures and presets stand above the panels") {
  Opened o;
  o.ui.resize({1600, 1000});
  o.ui.frames(2);
  CHECK(o.ui.text_present(o.w.lab().info().question));
  const std::string answer(o.w.lab().answer());
  REQUIRE(answer.find('`') != std::string::npos);
  CHECK(o.ui.text_present(answer.substr(0, answer.find('`'))));
  CHECK(o.ui.text_present(o.w.content.of("roofline/roofline").presets[0].name));
}

TEST_CASE("a figure of the answer that the pointer rests on lights the line or the boxes that it means") {
  const auto words_at = [](Opened& o, std::string_view words) {
    for (const widgets::Stroke& s : o.ui.record().strokes)  // of the canvas: the inspector has rows that read alike
      if (s.kind == widgets::Stroke::Kind::text && s.text == words && s.points[0].x < o.d.shell.canvas_max.x)
        return s.points[0];
    throw std::runtime_error("not on the screen: " + std::string(words));
  };
  const auto count = [](Opened& o, const auto& counts) {
    const auto record = o.ui.record();
    return std::count_if(record.strokes.begin(), record.strokes.end(), counts);
  };
  SECTION("loss scaling: the line of the normal rate, and that of one in fifty") {
    Opened o("precision/loss-scaling");
    o.ui.resize({1280, 800});
    o.ui.frames(5);
    const auto lit = [](const widgets::Stroke& s) {
      return s.kind == widgets::Stroke::Kind::polyline && s.width >= 10;
    };
    REQUIRE(count(o, lit) == 0);
    for (const char* words : {"2,001", "40.0\xC3\x97", "48,000"}) {
      INFO(words);
      const ImVec2 at = words_at(o, words);
      o.ui.move_to({at.x + 6, at.y + 8});
      o.ui.frames(3);
      CHECK(count(o, lit) >= 1);
    }
    o.ui.move_to({1, 1});
    o.ui.frames(3);
    CHECK(count(o, lit) == 0);
  }
  SECTION("mixed precision: the products in 8 bits, the two steps, the bytes of a parameter") {
    Opened o("precision/mixed");
    o.d.shell.drawer_open = false;
    o.ui.resize({1280, 800});
    o.ui.frames(5);
    const auto rect = [](const widgets::Stroke& s) { return s.kind == widgets::Stroke::Kind::rect; };
    const auto before = count(o, rect);
    for (const auto& [words, boxes] : {std::pair("79.7 %", 4), std::pair("1.41\xC3\x97", 1), std::pair("19.7 B", 1)}) {
      INFO(words);
      const ImVec2 at = words_at(o, words);
      o.ui.move_to({at.x + 6, at.y + 8});
      o.ui.frames(3);
      CHECK(count(o, rect) >= before + 2 * boxes);  // the ground and the frame of each
    }
  }
}

TEST_CASE("a tab brings its panel to the front, and a panel is enlarged and put back") {
  Opened o("compression/deploy");
  o.d.shell.drawer_open = false;
  o.ui.resize({1280, 800});
  o.ui.frames(3);
  const widgets::StageView& view = app::stage_view(o.d.shell);
  REQUIRE(view.plan.tabs);
  const std::string first = front(o);
  std::string other;
  for (const auto& spec : view.specs)
    if (spec.title != first) other = spec.title;
  o.ui.click("canvas/" + other);
  o.ui.frames(2);
  CHECK(front(o) == other);
  const auto shown = view.placed.size();
  o.ui.click("canvas/Enlarge");
  o.ui.frames(2);
  CHECK(view.enlarged);
  CHECK(view.placed.size() == 1);
  o.ui.click("Back to all");
  o.ui.frames(2);
  CHECK_FALSE(view.enlarged);
  CHECK(view.placed.size() == shown);
}

TEST_CASE("presentation shows panel after panel by the Page keys, and a strip of at most three inputs") {
  Opened o("compression/deploy");
  o.ui.key(ImGuiKey_F5);
  o.ui.frames(3);
  const widgets::StageView& view = app::stage_view(o.d.shell);
  REQUIRE(view.specs.size() > 1);
  CHECK(view.placed.size() == 1);
  const std::string first = front(o);
  o.ui.key(ImGuiKey_PageDown);
  o.ui.frames(2);
  CHECK(front(o) != first);
  o.ui.key(ImGuiKey_PageUp);
  o.ui.frames(2);
  CHECK(front(o) == first);
  std::size_t controls = 0;
  for (const auto& f : o.w.lab().inputs()) controls += o.ui.has("strip/" + std::string(f.spec.label));
  CHECK(controls >= 1);
  CHECK(controls <= 3);
}

TEST_CASE("a preset's chip is lit and its note on the screen until an input changes, however it was come to") {
  Opened o("training/data-loader");
  o.ui.resize({1600, 1000});
  o.ui.frames(3);
  const auto& presets = o.w.content.of("training/data-loader").presets;
  const app::PresetState& state = o.d.shell.preset;
  const auto note_shown = [&](std::size_t i) {
    return o.ui.text_present(presets[i].note.substr(0, presets[i].note.find(' ', 12)));
  };
  // It opens in the first, whose note nobody asked for.
  CHECK(state.lit == 0);
  CHECK_FALSE(note_shown(0));
  const auto press = [&](std::size_t i) {
    o.ui.click(presets[i].name);
    o.ui.move_to({1, 1});  // away from the chip, whose hover says the note too
    REQUIRE(o.d.settle());
    o.ui.frames(3);
  };
  press(0);
  CHECK(note_shown(0));
  press(2);
  CHECK(state.lab == "training/data-loader");
  CHECK(state.lit == 2);
  CHECK(note_shown(2));
  CHECK_FALSE(note_shown(0));
  const double workers = o.d.input("workers").number();
  o.d.input("workers").set_number(workers + 1);
  o.ui.frames(3);
  CHECK(state.lit == app::PresetState::none);
  CHECK_FALSE(note_shown(2));
  // By hand the same inputs are the same preset.
  o.d.input("workers").set_number(workers);
  o.ui.frames(3);
  CHECK(state.lit == 2);
  CHECK(note_shown(2));
}

TEST_CASE("infeasible inputs keep the last picture, dimmed, and one press makes them feasible again") {
  Opened o("serving/batching");
  REQUIRE(o.d.settle());
  REQUIRE(o.w.lab().reason().empty());
  REQUIRE(o.d.input("model").set_choice_id("deepseek-v3"));
  o.d.input("chips").set_number(1);
  REQUIRE(o.d.settle());
  REQUIRE_FALSE(o.w.lab().reason().empty());
  CHECK(o.w.lab().shows_earlier());
  CHECK(o.ui.text_present(o.w.lab().reason()));
  CHECK_FALSE(app::stage_view(o.d.shell).placed.empty());
  REQUIRE(!o.d.shell.fixes.found.empty());
  o.ui.click("canvas/" + o.d.shell.fixes.found[0].words);
  REQUIRE(o.d.settle());
  CHECK(o.w.lab().reason().empty());
  CHECK_FALSE(o.w.lab().shows_earlier());
}

TEST_CASE("headline figures say what they were before the last step") {
  Opened o;
  o.ui.resize({1600, 1000});
  o.d.type_value("inputs/Work", "1 TFLOP");
  o.ui.frames(3);
  o.d.type_value("inputs/Work", "2 TFLOP");
  o.ui.frames(3);
  CHECK(o.ui.text_present("from"));
  const auto& h = o.d.shell.headlines;
  CHECK(h.before != h.now);
}

TEST_CASE("in a low window the open drawer lies over the canvas, which keeps its panel, and one word folds it") {
  Opened o("serving/batching");
  REQUIRE(o.d.settle());
  o.ui.resize({700, 480});  // as wide as all tabs are
  o.d.shell.drawer_open = false;
  o.ui.frames(4);
  const float whole = o.d.shell.canvas_max.y - o.d.shell.canvas_min.y;
  const widgets::Rect panel = app::stage_view(o.d.shell).placed.at(0).at;
  o.ui.click("Concept");
  o.ui.frames(4);
  REQUIRE(o.d.shell.drawer_open);
  CHECK(o.d.shell.drawer_over);
  CHECK(o.d.shell.canvas_max.y - o.d.shell.canvas_min.y == whole);
  const widgets::Rect beneath = app::stage_view(o.d.shell).placed.at(0).at;
  CHECK((beneath.height() == panel.height() && beneath.width() == panel.width()));
  CHECK(o.ui.text_present("Fold"));
  o.ui.click("Fold");
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.drawer_open);
  CHECK_FALSE(o.ui.text_present("Fold"));
  // A question that is asked there stands on the canvas, not under the drawer.
  o.ui.click("Predict");
  o.ui.frames(4);
  CHECK(app::question_open(o.d.shell));
  CHECK_FALSE(o.d.shell.drawer_open);
  CHECK(o.ui.text_present("veiled until you commit"));
  o.ui.resize({1280, 800});
  o.ui.frames(3);
  o.ui.click("Concept");
  o.ui.frames(3);
  CHECK(o.d.shell.drawer_open);
  CHECK_FALSE(o.d.shell.drawer_over);
}

TEST_CASE("tabs of the drawer that have no room stand behind \"more\", at any scale") {
  Opened o("serving/batching");
  REQUIRE(o.d.settle());
  o.ui.resize({420, 480});
  o.d.shell.drawer_open = false;
  o.ui.frames(4);
  CHECK_FALSE(o.ui.text_present("Notes"));
  o.ui.click("drawer/more");
  o.ui.frames(2);
  o.ui.click("Notes");
  o.ui.frames(3);
  CHECK(o.d.shell.drawer_open);
  CHECK(o.d.shell.drawer == app::Drawer::notes);
}

TEST_CASE("in a narrow window the inspector slides over the canvas") {
  Opened o;
  o.ui.resize({640, 480});
  o.ui.frames(3);
  CHECK(o.d.shell.narrow);
  CHECK_FALSE(o.ui.has("inputs/Work"));
  o.ui.click("top/Inputs");
  o.ui.frames(3);
  CHECK(o.ui.has("inputs/Work"));
  o.ui.click("top/Inputs");
  o.ui.frames(3);
  CHECK_FALSE(o.ui.has("inputs/Work"));
}

TEST_CASE("a lab that is opened with inputs without an answer says that there is no picture") {
  Opened o;
  o.ui.resize({1600, 1000});
  const app::Json inputs{{"model", "deepseek-v3"}, {"chips", 1}};
  REQUIRE(o.w.open_with("serving/batching", inputs, app::Json::object()));
  REQUIRE(o.d.settle());
  REQUIRE_FALSE(o.w.lab().reason().empty());
  REQUIRE_FALSE(o.w.lab().shows_earlier());
  CHECK(o.ui.text_present("there is no picture"));
  CHECK(o.ui.text_present(o.w.lab().reason()));
}

TEST_CASE("a lab without an answer that is opened from under a question fills its canvas in that very frame") {
  // The veil is of the frame before, and no fix is found yet: Dear ImGui refuses a cursor that nothing follows.
  Opened o;
  o.ui.resize({1920, 1080});
  const app::Json inputs{{"model", "deepseek-v3"}, {"chips", 1}};
  REQUIRE(o.w.open_with("serving/batching", inputs, app::Json::object()));
  REQUIRE(o.d.settle());
  REQUIRE_FALSE(o.w.lab().shows_earlier());
  REQUIRE(o.w.open("roofline/roofline"));
  o.ui.frames(3);
  app::ask_question(o.d.shell, 0);
  o.ui.frames(3);
  REQUIRE(o.ui.text_present("veiled until you commit"));
  const support::BusyWorkers busy(o.w.jobs);  // what other labs share may have an answer, which comes later
  o.ui.click("rail/Serving");
  CHECK(o.d.open_lab() == "serving/batching");
  o.ui.frames(2);
  CHECK(o.ui.text_present("there is no picture"));
}

TEST_CASE("a presentation too low for the answer, its picture and the inputs leaves the inputs out") {
  Opened o("distributed/pipeline");
  o.ui.resize({1280, 720});
  o.ui.key(ImGuiKey_F5);
  o.ui.frames(3);
  const widgets::StageView& view = app::stage_view(o.d.shell);
  CHECK(o.ui.text_present("Micro-batches"));
  CHECK(o.ui.text_present("next: Kept by rank"));
  o.ui.resize({1280, 360});
  o.ui.frames(3);
  CHECK_FALSE(o.ui.text_present("Micro-batches"));
  REQUIRE(view.placed.size() == 1);
  CHECK(o.ui.text_present("rank 0"));
  CHECK(o.ui.text_present("Esc leaves"));
}

namespace {

/// Where the chips of presets stand, and each panel that has a place.
struct Places {
  ImVec2 chip;
  std::vector<std::pair<std::string, widgets::Rect>> panels;
};

Places places_at(Opened& o, ImVec2 size) {
  o.ui.resize(size);
  o.ui.frames(3);
  const auto& preset = o.w.content.of(o.w.lab().info().id).presets.at(0).name;
  Places places{o.ui.item("canvas/" + preset).min, {}};
  const widgets::StageView& view = app::stage_view(o.d.shell);
  for (const widgets::PlacedPanel& placed : view.placed)
    places.panels.emplace_back(view.specs[placed.panel].title, placed.at);
  return places;
}

/// What stood `before` stands there still.
void check_same(const Places& now, const Places& before) {
  CHECK(now.chip.x == before.chip.x);
  CHECK(now.chip.y == before.chip.y);
  for (const auto& [title, at] : before.panels) {
    INFO(title);
    const auto same =
        std::find_if(now.panels.begin(), now.panels.end(), [&](const auto& p) { return p.first == title; });
    CHECK(same != now.panels.end());
    if (same == now.panels.end()) continue;
    CHECK(std::pair(same->second.min.x, same->second.min.y) == std::pair(at.min.x, at.min.y));
    CHECK(std::pair(same->second.max.x, same->second.max.y) == std::pair(at.max.x, at.max.y));
  }
}

/// Changes a number of the lab's inputs a little, and one that is 0 to something else; false where it has none.
bool change_a_number(const chapters::Lab& lab) {
  for (const chapters::Field& f : lab.inputs()) {
    if (f.kind != chapters::Kind::real) continue;
    const chapters::Range& range = f.spec.range;
    f.set_number(f.number() != 0 ? f.number() * 1.25 : range.lo + (range.hi - range.lo) / 100);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("nothing jumps when a job ends: presets and panels stand where they stood before the answer was there") {
  constexpr ImVec2 large{1600, 1000}, small{1280, 800};
  Opened o("roofline/roofline", true);  // with the real fonts: how many lines an answer takes is theirs to say
  int jobs = 0;
  for (const auto& entry : chapters::all_labs()) {
    const std::string lab(entry.id);
    if (!chapters::make_lab_by_id(lab)->info().job) continue;
    ++jobs;
    // Under sanitizers every sixth: what a lab draws has been looked at in its own tests.
    if (support::sanitized() && jobs % 6 != 1) continue;
    INFO(lab);
    REQUIRE(o.w.open("roofline/roofline"));
    REQUIRE(o.d.settle());
    support::BusyWorkers busy(o.w.jobs);  // the job waits for as long as it is looked at
    REQUIRE(o.w.open(lab));
    REQUIRE(o.w.current().computing());
    const Places in_large = places_at(o, large);
    o.ui.frames(12);  // its bar is on the screen
    REQUIRE(o.ui.text_present("0 %"));
    check_same(places_at(o, large), in_large);
    const Places in_small = places_at(o, small);
    busy.let_go();
    REQUIRE(o.d.settle());
    REQUIRE_FALSE(o.w.lab().answer().empty());
    const Places answered = places_at(o, small);
    check_same(answered, in_small);
    // The answer makes room for the bar of the next job.
    support::BusyWorkers again(o.w.jobs);
    if (change_a_number(o.w.lab())) {
      o.ui.frames(15);
      REQUIRE(o.ui.text_present("0 %"));
      check_same(places_at(o, small), answered);
    }
    again.let_go();
    REQUIRE(o.d.settle());
    // Where the change has no answer, what would help stands in the place of the presets.
    if (o.w.lab().reason().empty()) check_same(places_at(o, large), in_large);
  }
  CHECK(jobs >= 22);
}
