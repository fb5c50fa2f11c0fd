#include "chapters/mechanism/shared_choices.h"

#include "chapters/mechanism/catalog.h"

namespace chapters::shared {

Label detail::label(Label own, const Says& says) { return says.label.empty() ? own : Label(says.label, own.unit); }
std::string_view detail::help(std::string_view own, const Says& says) { return says.help.empty() ? own : says.help; }
Details detail::details(std::string_view name, const Says& says, const Range& range) {
  return {.range = range, .headline = says.headline, .shared = name, .when = says.when};
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
  f.choice(key, id, catalog().model_choices, detail::label("Model", says),
           detail::help("The language model that is computed.", says), detail::details("model", says));
}
void chip(Fields& f, std::string_view key, std::string& id, const Says& says) {
  Details details = detail::details("chip", says);
  details.refused = &catalog().refused_chips;
  f.choice(key, id, catalog().chip_choices, detail::label("Chip", says),
           detail::help("The chip that does the work.", says), details);
}
void network(Fields& f, std::string_view key, std::string& id, const Says& says) {
  f.choice(key, id, catalog().network_choices, detail::label("Network", says),
           detail::help("What connects the machines.", says), detail::details("network", says));
}
void format(Fields& f, std::string_view key, models::Format& slot, const Says& says) {
  format(f, key, slot, all_formats(), says);
}

void Count::operator()(Fields& f, std::string_view key, std::int64_t& slot, const Says& says) const {
  f.integer(key, slot, detail::label({label, unit}, says), detail::help(help, says),
            detail::details(name, says, {1, hi, Scale::log}));
}

void Amount::operator()(Fields& f, std::string_view key, double& slot, Span typical, const Says& says) const {
  Details details = detail::details(name, says, {lo, hi, Scale::log});
  details.typical = typical;
  f.real(key, slot, detail::label({label, unit}, says), detail::help(help, says), details);
}

void clock(Fields& f, std::string_view key, double& now_s) {
  f.real(key, now_s, {"Now", "s"}, "When you came here, in seconds since 1970; what is due depends on it.",
         {.range = {0, 1e11}, .shared = "clock.now_s", .origin = Origin::clock});
}

}  // namespace chapters::shared
