#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/registry.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/catalog.h"

/// A lab as a test takes it in hand: opened on the bundled catalog, inputs set and outputs read by key. Whatever is not
/// there (a lab, a key, a choice, a row) fails the test.
namespace support {

using chapters::Lab;
using chapters::LabPtr;

/// `inputs` is a JSON object of inputs by key. Nothing is computed yet.
LabPtr open_lab(std::string_view id, std::string_view inputs = "{}");
/// The lab with one of its shipped presets, by name. Nothing is computed yet.
LabPtr open_preset(std::string_view id, std::string_view name);

/// The lab that a link leads to, with what the link sets. Nothing is computed yet.
LabPtr open_link(std::string_view link);

/// An input, an output, a value of the view.
const chapters::Field& input(const Lab& lab, std::string_view key);
const chapters::Field& output(const Lab& lab, std::string_view key);
const chapters::Field& view(const Lab& lab, std::string_view key);

/// Sets inputs: a number as it is, a text as the command line takes it (the id of a choice, "1,2", "1/3"). Pairs of key
/// and value may follow each other: set(*lab, "m", 4096, "format", "fp8").
Lab& set(Lab& lab, std::string_view key, double value);
Lab& set(Lab& lab, std::string_view key, std::string_view text);
/// Inputs by key, as a scenario has them.
Lab& set(Lab& lab, const nlohmann::ordered_json& inputs);
template <class Value, class... More>
Lab& set(Lab& lab, std::string_view key, const Value& value, std::string_view next, const More&... more) {
  set(lab, key, value);
  return set(lab, next, more...);
}
void choose(Lab& lab, std::string_view key, std::string_view id);

/// Computes; the inputs must be feasible.
Lab& compute(Lab& lab);
/// A number of the last compute, which must have been feasible.
double out(const Lab& lab, std::string_view key);
/// The same after computing.
double computed(Lab& lab, std::string_view key);
/// What infeasible inputs are refused with, after computing; empty where they are feasible.
std::string reason_of(Lab& lab);

/// A text, and the id of a choice, among the outputs.
const std::string& text_of(const Lab& lab, std::string_view key);
std::string_view choice_of(const Lab& lab, std::string_view key);
const std::vector<double>& reals_of(const Lab& lab, std::string_view key);

/// A table among the outputs: how many rows, and what one of its cells holds.
std::size_t rows(const Lab& lab, std::string_view table);
double cell(const Lab& lab, std::string_view table, std::size_t row, std::string_view key);
std::string cell_text(const Lab& lab, std::string_view table, std::size_t row, std::string_view key);

/// All outputs after computing, as `eval --json` writes them.
nlohmann::ordered_json outputs_of(Lab& lab);

}  // namespace support
