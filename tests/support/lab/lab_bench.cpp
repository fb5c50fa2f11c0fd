#include "tests/support/lab/lab_bench.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/link.h"
#include "app/scenario/scenario.h"

namespace support {
namespace {

const chapters::Field& at(const chapters::Fields& fields, std::string_view key) {
  INFO(key);
  const chapters::Field* found = fields.find(key);
  REQUIRE(found);
  return *found;
}

}  // namespace

LabPtr open_lab(std::string_view id, std::string_view inputs) {
  INFO(id);
  use_bundled_catalog();
  LabPtr lab = chapters::make_lab_by_id(id);
  REQUIRE(lab);
  set(*lab, app::Json::parse(inputs));
  return lab;
}

LabPtr open_preset(std::string_view id, std::string_view name) {
  for (const auto& preset : bundled_content().of(id).presets)
    if (preset.name == name) return open_lab(id, preset.set);
  FAIL(id << " has no preset \"" << name << "\"");
  return nullptr;
}

LabPtr open_link(std::string_view link) {
  const app::Link parsed = app::parse_link(link);
  LabPtr lab = open_lab(parsed.lab);
  for (const auto& [key, text] : parsed.sets) set(*lab, key, text);
  return lab;
}

const chapters::Field& input(const Lab& lab, std::string_view key) { return at(lab.inputs(), key); }
const chapters::Field& output(const Lab& lab, std::string_view key) { return at(lab.outputs(), key); }
const chapters::Field& view(const Lab& lab, std::string_view key) { return at(lab.view(), key); }

Lab& set(Lab& lab, std::string_view key, double value) {
  input(lab, key).set_number(value);
  return lab;
}

Lab& set(Lab& lab, std::string_view key, std::string_view text) {
  INFO(key << " = " << text);
  REQUIRE(app::set_field_from_text(input(lab, key), text).error == "");
  return lab;
}

Lab& set(Lab& lab, const nlohmann::ordered_json& inputs) {
  REQUIRE(app::apply_inputs(lab, inputs).error == "");
  return lab;
}

void choose(Lab& lab, std::string_view key, std::string_view id) {
  INFO(key << " = " << id);
  REQUIRE(input(lab, key).set_choice_id(id));
}

Lab& compute(Lab& lab) {
  CHECK(reason_of(lab) == "");
  return lab;
}

double out(const Lab& lab, std::string_view key) {
  INFO(lab.reason());
  REQUIRE(lab.reason().empty());
  return output(lab, key).number();
}

double computed(Lab& lab, std::string_view key) {
  lab.compute();
  return out(lab, key);
}

std::string reason_of(Lab& lab) {
  lab.compute();
  return lab.reason();
}

const std::string& text_of(const Lab& lab, std::string_view key) { return output(lab, key).text(); }
std::string_view choice_of(const Lab& lab, std::string_view key) { return output(lab, key).choice_id(); }
const std::vector<double>& reals_of(const Lab& lab, std::string_view key) { return output(lab, key).reals(); }

std::size_t rows(const Lab& lab, std::string_view table) { return output(lab, table).table_size(); }

namespace {

const chapters::Field& cell_of(const Lab& lab, std::string_view table, std::size_t row, std::string_view key,
                               chapters::Fields& cells) {
  INFO(table << "[" << row << "]");
  REQUIRE(row < rows(lab, table));
  output(lab, table).table_row(row, cells);
  return at(cells, key);
}

}  // namespace

double cell(const Lab& lab, std::string_view table, std::size_t row, std::string_view key) {
  chapters::Fields cells;
  return cell_of(lab, table, row, key, cells).number();
}

std::string cell_text(const Lab& lab, std::string_view table, std::size_t row, std::string_view key) {
  chapters::Fields cells;
  return cell_of(lab, table, row, key, cells).text();
}

nlohmann::ordered_json outputs_of(Lab& lab) {
  lab.compute();
  return app::evaluation_to_json(lab)["outputs"];
}

}  // namespace support
