#include "app/scenario/file_mode.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/scenario/carried_file.h"
#include "app/scenario/fields_json.h"
#include "app/scenario/sentences.h"

namespace app {

using chapters::Field;
using chapters::Fields;
using chapters::Kind;

namespace {

/// Is there nothing in a file or a text?
bool is_empty(const Field& f) { return f.kind == Kind::file ? f.file().path.empty() : f.text().empty(); }

/// An input of a scenario that asks for its mode.
bool asks_for_mode(const Field& f, const Json& given, const Fields& defaults) {
  const auto at = f.spec.mode.empty() ? given.end() : given.find(std::string(f.key));
  if (at == given.end()) return false;
  if (f.kind == Kind::file && is_carried_json(*at)) return true;
  if (!at->is_string() || at->get_ref<const std::string&>().empty()) return false;
  return f.kind == Kind::file || *at != field_to_json(*defaults.find(f.key));
}

}  // namespace

void choose_mode(const Fields& inputs, const Field& given) {
  if (given.spec.mode.empty() || is_empty(given)) return;
  if (const Field* mode = inputs.find(given.spec.mode.key)) mode->set_choice_id(given.spec.mode.value);
}

models::Result<Json> missing_modes(const chapters::Lab& lab, const Json& given) {
  using Modes = models::Result<Json>;
  Json missing = Json::object();
  if (!given.is_object()) return Modes::ok(std::move(missing));  // which applying it refuses
  const auto fresh = lab.with_inputs(*lab.keep_inputs());
  fresh->reset();
  for (const Field& f : lab.inputs()) {
    if (!asks_for_mode(f, given, fresh->inputs())) continue;
    const std::string key(f.spec.mode.key), option(f.spec.mode.value);
    const auto chosen = given.find(key);
    if (chosen == given.end()) {
      missing[key] = option;
    } else if (*chosen != option) {
      const std::string what(f.kind == Kind::file ? "file" : "text");
      return Modes::fail(std::string(f.key) + " and " + key + " do not go together: the " + what + " counts with " +
                         key + "=" + option + " alone, and " + key + " is " + json_excerpt(*chosen) +
                         ". Leave out one of them.");
    }
  }
  return Modes::ok(std::move(missing));
}

bool waits_for_mode(const Field& input, const Fields& inputs) {
  return !input.spec.mode.empty() && !is_empty(input) && !chapters::holds(input.spec.mode, inputs);
}

const Field& taker_of(const Fields& inputs, const Field& input, std::string_view value) {
  constexpr std::size_t longest_path = 4096;
  const Field* file = input.spec.file_beside.empty() ? nullptr : inputs.find(input.spec.file_beside);
  if (!file || value.empty() || value.size() > longest_path || value.find_first_of("\n\t") != std::string_view::npos)
    return input;
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(value), ignored) ? *file : input;
}

}  // namespace app
