#include "chapters/practice/drill_text.h"

#include <algorithm>
#include <charconv>
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
      {"layers", a.layers},        {"hidden", a.hidden},
      {"heads", a.heads},          {"kv_heads", a.kv_heads},
      {"head_dim", a.head_dim},    {"ffn", a.ffn},
      {"vocab", a.vocab},          {"latent", a.latent.kv_lora_rank},
      {"rope", a.latent.rope_dim}, {"experts", a.moe.routed},
      {"top_k", a.moe.per_token}};
  for (const auto& [key, count] : counts)
    if (key == name) return format_text(static_cast<double>(count), "", 7);
  if (name == "parameters") return format_text(static_cast<double>(models::count_parameters(a).total), "parameters", 4);
  return {};
}

std::string text_of(const DrillFigure& figure, int significant) {
  return format_text(figure.value, figure.unit, significant,
                     figure.binary ? widgets::Prefix::binary : widgets::Prefix::si);
}

std::optional<std::string> of_field(const Field& f, bool input) {
  switch (f.kind) {
    case Kind::real:
      return text_of({f.number(), f.spec.unit, f.spec.binary}, input ? 6 : 4);
    case Kind::integer:
      return text_of({f.number(), f.spec.unit, f.spec.binary}, input ? 9 : 5);
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

const Field* field_of(std::string_view name, const Lab& lab) {
  const Field* f = lab.inputs().find(name);
  return f ? f : lab.outputs().find(name);
}

/// The number of a name; a choice of numbers ("8 bits") begins with it. NaN of what is none.
double number_of(std::string_view name, const DrillNames& names) {
  if (name == "answer") return names.answer.value;
  if (name == "previous") return names.previous.value;
  const Field* f = field_of(name, names.lab);
  if (!f) return std::nan("");
  if (f->is_number()) return f->number();
  double v = std::nan("");
  if (const auto text = of_field(*f, true)) std::from_chars(text->data(), text->data() + text->size(), v);
  return v;
}

std::optional<std::string> named(std::string_view name, const DrillNames& names) {
  if (name.starts_with("a:")) {
    const auto value = named(name.substr(2), names);
    return value ? std::optional(std::string(article_of(*value)) + " " + *value) : value;
  }
  for (const bool octave : {true, false})
    if (const std::string_view part = octave ? "octave:" : "mantissa:"; name.starts_with(part)) {
      const double value = number_of(name.substr(part.size()), names);
      if (!std::isfinite(value) || value == 0) return {};
      const double power = std::floor(std::log2(std::abs(value)));
      return octave ? "2^" + format_text(power, "", 5) : format_text(value / std::exp2(power), "", 8);
    }
  if (const auto bar = name.find('|'); bar != std::string_view::npos) {
    const auto value = named(name.substr(0, bar), names);
    const std::string_view nouns = name.substr(bar + 1);
    const auto second = std::min(nouns.find('|'), nouns.size());
    const std::string_view many = nouns.substr(std::min(second + 1, nouns.size()));
    return value ? std::optional(*value + " " + std::string(*value == "1" ? nouns.substr(0, second) : many)) : value;
  }
  if (const auto slash = name.find('/'); slash != std::string_view::npos) {
    double divisor = 0;
    const std::string_view text = name.substr(slash + 1);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), divisor);
    const double value = number_of(name.substr(0, slash), names);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !std::isfinite(value / divisor)) return {};
    return format_text(value / divisor, "", 5);
  }
  if (name == "answer") return text_of(names.answer, 4);
  if (name == "previous" && std::isfinite(names.previous.value)) return text_of(names.previous, 4);
  if (name.starts_with("chip.")) return of_chip(name.substr(5), names.lab);
  if (name.starts_with("model.")) return of_model(name.substr(6), names.lab);
  if (const Field* f = names.lab.inputs().find(name)) return of_field(*f, true);
  if (const Field* f = names.lab.outputs().find(name)) return of_field(*f, false);
  return {};
}

}  // namespace

std::string_view article_of(std::string_view word) {
  if (word.empty()) return "a";
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const char first = word.front();
  if (digit(first)) {
    std::string_view number = word.substr(0, std::min(word.find_first_not_of("0123456789"), word.size()));
    const bool ten = number == "11" || number == "18";
    return first == '8' || ten ? "an" : "a";
  }
  // An abbreviation is spelled: its letter is heard, as "aitch" or "em", and not the word.
  const bool spelled = upper(first) && (word.size() == 1 || upper(word[1]) || digit(word[1]));
  if (spelled && !word.starts_with("FLOP")) {
    constexpr std::string_view heard_with_vowel = "AEFHILMNORSX";
    return heard_with_vowel.find(first) != std::string_view::npos ? "an" : "a";
  }
  constexpr std::string_view vowels = "AEIOaeio";
  if (word.starts_with("hour")) return "an";
  return vowels.find(first) != std::string_view::npos ? "an" : "a";
}

std::string in_words(std::string text) {
  for (const std::string_view unit : {"parameters", "tokens"})
    for (const auto& [prefix, word] : {std::pair<std::string_view, std::string_view>{" k ", " thousand "},
                                       {" M ", " million "},
                                       {" G ", " billion "},
                                       {" T ", " trillion "}}) {
      const std::string from = std::string(prefix).append(unit), to = std::string(word).append(unit);
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    }
  return text;
}

std::string fill_drill_text(std::string_view words, const DrillNames& names) {
  std::string out;
  while (!words.empty()) {
    const auto open = words.find('{');
    const auto close = open == std::string_view::npos ? open : words.find('}', open);
    if (close == std::string_view::npos) return in_words(out += words);
    out += words.substr(0, open);
    const auto value = named(words.substr(open + 1, close - open - 1), names);
    out += value ? *value : std::string(words.substr(open, close - open + 1));
    words.remove_prefix(close + 1);
  }
  return in_words(std::move(out));
}

}  // namespace chapters
