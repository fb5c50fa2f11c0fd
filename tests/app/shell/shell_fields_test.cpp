#include <catch2/catch_test_macros.hpp>

#include "app/shell/controls/controls.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/shell_driver.h"
#include "tests/support/lab/toy_lab.h"
#include "tests/support/ui/ui_driver.h"

// One control for each kind of field, on a lab that has them all.

namespace {

struct Panel {
  chapters::LabPtr lab = support::toy_lab();
  app::ControlState state;
  support::UiDriver ui{[this] { draw(); },
                       {700, 1000},
                       [] {
                         widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {}));
                         widgets::apply_to_imgui(widgets::theme());
                       }};

  void draw() {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({600, 1000});
    ImGui::Begin("panel", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    for (const auto& f : lab->inputs()) app::draw_control(f, state, 560);
    ImGui::End();
  }
  const chapters::Field& f(const char* key) { return *lab->inputs().find(key); }
  /// Presses a box that turns into a text input, types over what it holds, presses Enter.
  void type_into(const char* label, const char* text) {
    ui.click(label);
    ui.frames(2);
    REQUIRE(ImGui::GetIO().WantTextInput);
    type_and_enter(text);
  }
  void type_cell(int row, std::size_t column, const char* text) {
    ui.click_at(cells(row)[column].centre());
    ui.frames(2);
    type_and_enter(text);
  }
  void type_and_enter(const char* text) {
    ui.type(text);
    ui.key(ImGuiKey_Enter);
    ui.frames(2);
  }
  /// The cells of the table's row, left to right, whatever they are labelled.
  std::vector<widgets::ProbedItem> cells(int row) {
    std::vector<widgets::ProbedItem> all, out;
    for (const auto& item : ui.probe().all())
      if (item.label.find("cell") != std::string::npos) all.push_back(item);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.min.y != b.min.y ? a.min.y < b.min.y : a.min.x < b.min.x; });
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<int>(i) / 3 == row) out.push_back(all[i]);
    return out;
  }
};

std::vector<std::string> names(Panel& p) {
  std::vector<std::string> out;
  chapters::Fields cells;
  for (std::size_t i = 0; i < p.f("rows").table_size(); ++i) {
    p.f("rows").table_row(i, cells);
    out.push_back(cells.find("name")->text());
  }
  return out;
}
double amount(Panel& p, std::size_t row) {
  chapters::Fields cells;
  p.f("rows").table_row(row, cells);
  return cells.find("amount")->real();
}

}  // namespace

TEST_CASE("an option that another input rules out is not offered, unless it is the one chosen") {
  static const chapters::Choices operations{{"gather", "All-gather", ""}, {"reduce", "All-reduce", ""}};
  static const chapters::Choices algorithms{
      {"ring", "Ring", ""}, {"tree", "Tree", "", {"operation", "reduce"}}, {"bruck", "Bruck", ""}};
  std::string operation = "gather", algorithm = "ring";
  chapters::Fields inputs;
  inputs.choice("operation", operation, operations, "Operation");
  inputs.choice("algorithm", algorithm, algorithms, "Algorithm");
  CHECK_FALSE(chapters::holds(algorithms[1].when, inputs));
  app::ControlState state;
  state.inputs = &inputs;
  support::UiDriver ui([&] {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 400});
    ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration);
    app::draw_control(*inputs.find("algorithm"), state, 360);
    ImGui::End();
  });
  const auto offers = [&](std::string_view label) {
    ui.click("Algorithm");
    ui.frames(3);
    const bool there = ui.text_present(label);
    ui.key(ImGuiKey_Escape);
    ui.frames(3);
    return there;
  };
  CHECK(offers("Bruck"));
  CHECK_FALSE(offers("Tree"));
  operation = "reduce";
  CHECK(offers("Tree"));
  operation = "gather";
  algorithm = "tree";  // of a scenario: what is set is shown, and the lab says why it is not feasible
  CHECK(offers("Tree"));
}

TEST_CASE("a text is typed over, and a list of numbers as JSON; a wrong list is refused in one sentence") {
  Panel p;
  p.type_into("Note", "bonjour");
  CHECK(p.f("note").text() == "bonjour");
  p.type_into("Weights", "[4, 0.5, 9]");
  CHECK(p.f("weights").reals() == std::vector<double>{4, 0.5, 9});
  p.type_into("Weights", "[4, 11]");
  CHECK(p.f("weights").reals() == std::vector<double>{4, 0.5, 9});
  CHECK(p.state.error == "weights is 11: a list of at most 4 numbers from 0 to 10 B is allowed.");
  CHECK(p.ui.text_present("weights is 11"));
  p.type_into("Weights", "[]");
  CHECK(p.f("weights").reals().empty());
  CHECK(p.state.error == "");
}

TEST_CASE("a file is named by its path, refused when it is not there, and cleared by a button") {
  Panel p;
  const support::Folder folder;
  folder.write("in.txt", "content");
  p.type_into("File", (folder / "none.txt").c_str());
  CHECK(p.f("file").file().path == "");
  CHECK(p.state.error == "file: The file " + (folder / "none.txt").string() +
                             " cannot be opened: check the path and that it may be read.");
  p.type_into("File", (folder / "in.txt").c_str());
  CHECK(p.f("file").file().text == "content");
  p.ui.click("Clear");
  CHECK(p.f("file").file().path == "");
  CHECK(p.f("file").file().text == "");
}

TEST_CASE("a number with a step moves by it and stops at the ends") {
  Panel p;
  CHECK(p.f("count").integer() == 4);
  p.ui.drag("Count", 0.0f, 0.05f);
  CHECK(p.f("count").integer() == 1);
  p.ui.drag("Count", 1.0f, 0.05f);
  CHECK(p.f("count").integer() == 64);
  p.ui.drag("Count", 0.5f, 0.95f);
  CHECK((p.f("count").integer() == 32 || p.f("count").integer() == 33));  // the middle of 1 to 64
}

TEST_CASE("several options are turned on and off one by one") {
  Panel p;
  CHECK(p.f("tones").chosen() == std::vector<std::string>{"red", "blue"});
  p.ui.click("Green");
  p.ui.click("Red");
  CHECK(p.f("tones").chosen() == std::vector<std::string>{"blue", "green"});
}

TEST_CASE("a field kept as an enumerator is chosen from its list") {
  Panel p;
  p.ui.click("Shape");
  p.ui.frames(2);
  p.ui.click("Square");
  CHECK(p.f("shape").choice_id() == "square");
}

TEST_CASE("table cells are typed and ticked, rows added up to the most allowed, and removed from the middle") {
  Panel p;
  REQUIRE(p.cells(0).size() == 3);
  p.type_cell(0, 1, "12.5");
  CHECK(amount(p, 0) == 12.5);
  p.type_cell(0, 1, "2000");
  CHECK(amount(p, 0) == 12.5);
  CHECK(p.state.error == "amount is 2000.0: a number from 0 to 1,000 B is allowed.");
  p.ui.click_at(p.cells(0)[2].centre());
  chapters::Fields cells;
  p.f("rows").table_row(0, cells);
  CHECK(cells.find("doubled")->toggle());

  p.ui.click("Add row");
  p.ui.frames(2);
  p.ui.click("Add row");
  p.ui.frames(2);
  CHECK(p.f("rows").table_size() == 3);
  CHECK_FALSE(p.ui.has("Add row"));
  for (const int row : {1, 2}) {
    p.ui.click_at(p.cells(row)[0].centre());
    p.ui.frames(2);
    p.ui.type(row == 1 ? "second" : "third");
    p.ui.key(ImGuiKey_Enter);
    p.ui.frames(2);
  }
  CHECK(names(p) == std::vector<std::string>{"first", "second", "third"});
  std::vector<widgets::ProbedItem> removers;
  for (const auto& item : p.ui.probe().all())
    if (item.label == "x") removers.push_back(item);
  REQUIRE(removers.size() == 3);
  p.ui.click_at(removers[1].centre());
  CHECK(names(p) == std::vector<std::string>{"first", "third"});
  CHECK(amount(p, 0) == 12.5);
}

TEST_CASE("a figure that is pressed and left as it is keeps its last digit") {
  Panel p;
  const double exact = 123.456789012345678;
  p.f("width").real() = exact;
  chapters::Fields cells;
  p.f("rows").table_row(0, cells);
  cells.find("amount")->real() = exact;
  p.ui.frames(2);
  for (const char* leave : {"enter", "away"}) {
    support::press_value(p.ui, "Width");
    REQUIRE(ImGui::GetIO().WantTextInput);
    if (std::string_view(leave) == "enter")
      p.ui.key(ImGuiKey_Enter);
    else
      p.ui.click_at({690, 990});
    p.ui.frames(2);
    INFO(leave);
    CHECK(p.f("width").real() == exact);
    CHECK_FALSE(ImGui::GetIO().WantTextInput);
  }
  p.ui.click_at(p.cells(0)[1].centre());
  p.ui.frames(2);
  REQUIRE(ImGui::GetIO().WantTextInput);
  p.ui.key(ImGuiKey_Enter);
  p.ui.frames(2);
  CHECK(amount(p, 0) == exact);
}
