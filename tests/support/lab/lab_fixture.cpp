#include "tests/support/lab/lab_fixture.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"

namespace lab_test {
namespace {

const chapters::Field& field(const chapters::Fields& fields, std::string_view key) {
  INFO(key);
  const chapters::Field* f = fields.find(key);
  REQUIRE(f);
  return *f;
}

}  // namespace

LabPtr open_lab(std::string_view id, std::string_view inputs) {
  INFO(id);
  use_bundled_catalog();
  LabPtr lab = chapters::make_lab_by_id(id);
  REQUIRE(lab);
  REQUIRE(app::apply_inputs(*lab, app::Json::parse(inputs)).error == "");
  return lab;
}

void set(Lab& lab, std::string_view key, double value) { field(lab.inputs(), key).set_number(value); }

void choose(Lab& lab, std::string_view key, std::string_view id) {
  INFO(key << " = " << id);
  REQUIRE(field(lab.inputs(), key).set_choice_id(id));
}

double out(const Lab& lab, std::string_view key) {
  INFO(lab.reason());
  REQUIRE(lab.reason().empty());
  return field(lab.outputs(), key).number();
}

double computed(Lab& lab, std::string_view key) {
  lab.compute();
  return out(lab, key);
}

double cell(const Lab& lab, std::string_view table, std::size_t row, std::string_view key) {
  const chapters::Field& rows = field(lab.outputs(), table);
  INFO(table << "[" << row << "]");
  REQUIRE(row < rows.table_size());
  chapters::Fields fields;
  rows.table_row(row, fields);
  return field(fields, key).number();
}

bool near(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

void draw_canvas(Lab& lab) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("canvas", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  lab.draw();
  ImGui::End();
}

void dark_theme() {
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {}));
  widgets::apply_to_imgui(widgets::theme());
}

Canvas::Canvas(Lab& lab, ImVec2 size) : lab_(lab), ui([this] { frame(); }, size, dark_theme) { ui.frames(3); }

void Canvas::frame() {
  if (!computed_ || !computed_->same_inputs(lab_)) {
    lab_.compute();
    computed_ = lab_.clone();
  }
  draw_canvas(lab_);
}

}  // namespace lab_test
