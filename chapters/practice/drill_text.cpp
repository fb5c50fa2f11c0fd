#include "chapters/practice/drill_text.h"

#include <cmath>
#include <optional>

#include "chapters/mechanism/catalog.h"
#include "models/machine/op_cost.h"
#include "widgets/number/number.h"

namespace chapters {
namespace {

using widgets::format_text;

std::optional<std::string> of_chip(std::string_view name, const Lab& lab) {
  const Field* chosen = lab.inputs().find("chip");
  const models::Chip* chip = chosen ? catalog().chip(chosen->choice_id()) : nullptr;
  if (!chip) return {};
  if (name == "bandwidth") return format_text(chip->memory_bandwidth_bytes_per_s, "B/s", 4);
  if (name == "memory") return format_text(chip->memory_bytes, "B", 4);
  if (name == "units" && chip->compute_units) return format_text(*chip->compute_units, "", 4);
  if (name != "peak") return {};
  const Field* format = lab.inputs().find("format");
  for (const models::Format f : models::all_formats)
    if (format && models::format_id(f) == format->choice_id())
      if (const auto peak = chip->peak_flops_per_s(f)) return format_text(*peak, "FLOP/s", 4);
  return {};
}

std::optional<std::string> of_model(std::string_view name, const Lab& lab) {
  const Field* chosen = lab.inputs().find("model");
  const models::LanguageModel* model = chosen ? catalog().model(chosen->choice_id()) : nullptr;
  if (!model) return {};
  const models::Architecture& a = model->architecture;
  const std::pair<std::string_view, std::int64_t> counts[] = {
      {"layers", a.layers},       {"hidden", a.hidden}, {"heads", a.heads}, {"kv_heads", a.kv_heads},
      {"head_dim", a.head_dim},   {"ffn", a.ffn},       {"vocab", a.vocab}, {"latent", a.latent.kv_lora_rank},
      {"rope", a.latent.rope_dim}};
  for (const auto& [key, count] : counts)
    if (key == name) return format_text(static_cast<double>(count), "", 7);
  if (name == "parameters") return format_text(static_cast<double>(models::count_parameters(a).total), "parameters", 4);
  return {};
}

std::optional<std::string> of_field(const Field& f, bool input) {
  switch (f.kind) {
    case Kind::real:
      return format_text(f.number(), f.spec.unit, input ? 6 : 4);
    case Kind::integer:
      return format_text(f.number(), f.spec.unit, input ? 9 : 5);
    case Kind::toggle:
      return f.toggle() ? "on" : "off";
    case Kind::choice: {
      const double i = f.number();
      return i >= 0 ? (*f.options)[static_cast<std::size_t>(i)].label : std::string(f.choice_id());
    }
    case Kind::text:
      return f.text();
    default:
      return {};
  }
}

std::optional<std::string> named(std::string_view name, const DrillNames& names) {
  if (name == "answer") return format_text(names.answer, names.unit, 4);
  if (name == "previous" && std::isfinite(names.previous)) return format_text(names.previous, names.previous_unit, 4);
  if (name.starts_with("chip.")) return of_chip(name.substr(5), names.lab);
  if (name.starts_with("model.")) return of_model(name.substr(6), names.lab);
  if (const Field* f = names.lab.inputs().find(name)) return of_field(*f, true);
  if (const Field* f = names.lab.outputs().find(name)) return of_field(*f, false);
  return {};
}

}  // namespace

std::string fill_drill_text(std::string_view words, const DrillNames& names) {
  std::string out;
  while (!words.empty()) {
    const auto open = words.find('{');
    const auto close = open == std::string_view::npos ? open : words.find('}', open);
    if (close == std::string_view::npos) return out += words;
    out += words.substr(0, open);
    const auto value = named(words.substr(open + 1, close - open - 1), names);
    out += value ? *value : std::string(words.substr(open, close - open + 1));
    words.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace chapters
