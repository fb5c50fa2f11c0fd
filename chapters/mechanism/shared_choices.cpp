#include "chapters/mechanism/shared_choices.h"

#include "chapters/mechanism/catalog.h"

namespace chapters::shared {

Spec detail::spec(std::string_view name, std::string_view label, std::string_view unit, double lo, double hi,
                  const Says& says) {
  return {
      .label = says.label.empty() ? label : says.label,
      .unit = unit,
      .help = says.help,
      .lo = lo,
      .hi = hi,
      .shared = name,
      .when = says.when,
  };
}

const Choices& all_formats() {
  static const Choices formats = [] {
    Choices out;
    for (const models::Format format : models::all_formats)
      out.push_back({std::string(models::format_id(format)), std::string(models::format_label(format)), ""});
    return out;
  }();
  return formats;
}

const Choices& phases() {
  static const Choices phases = {
      {"train", "Training step", "Forward and backward over whole sequences; the optimizer is not in."},
      {"prefill", "Prefill", "All tokens of the prompt at once; logits of the last alone."},
      {"decode", "Decode", "One new token for each sequence, attending to its context."},
  };
  return phases;
}

void model(Fields& f, std::string_view key, std::string& id, const Says& says) {
  f.choice(key, id, catalog().model_choices, detail::spec("model", "Model", "", 0, 1, says));
}
void chip(Fields& f, std::string_view key, std::string& id, const Says& says) {
  Spec spec = detail::spec("chip", "Chip", "", 0, 1, says);
  spec.refused = &catalog().refused_chips;
  f.choice(key, id, catalog().chip_choices, spec);
}
void network(Fields& f, std::string_view key, std::string& id, const Says& says) {
  f.choice(key, id, catalog().network_choices, detail::spec("network", "Network", "", 0, 1, says));
}
void format(Fields& f, std::string_view key, models::Format& slot, const Says& says) {
  format(f, key, slot, all_formats(), says);
}

void Count::operator()(Fields& f, std::string_view key, std::int64_t& slot, const Says& says) const {
  Spec spec = detail::spec(name, label, unit, 1, hi, says);
  spec.scale = Scale::log;
  f.integer(key, slot, spec);
}

void clock(Fields& f, std::string_view key, double& now_s, std::string_view help) {
  Spec spec = detail::spec("clock.now_s", "Now", "s", 0, 1e11, {.help = help});
  spec.origin = Origin::clock;
  f.real(key, now_s, spec);
}

}  // namespace chapters::shared
