#include "widgets/prose/prose_glue.h"

#include <algorithm>
#include <iterator>

namespace widgets {
namespace {

bool number_digit(char c) { return c >= '0' && c <= '9'; }

/// Without the prefix of a multiple: "TFLOP/s" gives "FLOP/s", "KiB" gives "B".
std::string_view without_prefix(std::string_view unit) {
  for (const std::string_view prefix :
       {"Ki", "Mi", "Gi", "Ti", "µ", "μ", "k", "K", "M", "G", "T", "P", "E", "m", "u", "n", "p"})
    if (unit.size() > prefix.size() && unit.starts_with(prefix)) return unit.substr(prefix.size());
  return unit;
}

}  // namespace

bool prose_relation(std::string_view word) {
  constexpr std::string_view signs[] = {"=", "<", ">", "<=", ">=", "<<", ">>", "~",  // as typed
                                        "≈", "≤", "≥", "≠",  "≪",  "≫"};
  return std::find(std::begin(signs), std::end(signs), word) != std::end(signs);
}

bool prose_number(std::string_view word) {
  for (const std::string_view sign : {"(", "-", "+", "−", "$"})
    if (word.starts_with(sign)) {
      word.remove_prefix(sign.size());
      break;
    }
  return !word.empty() && number_digit(word[0]);
}

bool prose_ends_in_digit(std::string_view word) { return !word.empty() && number_digit(word.back()); }

bool prose_unit(std::string_view word) {
  while (!word.empty() && (word.back() == '.' || word.back() == ',' || word.back() == ';' || word.back() == ':' ||
                           word.back() == ')' || word.back() == '?'))
    word.remove_suffix(1);
  constexpr std::string_view units[] = {
      "%", "s",    "B",   "B/s",  "FLOP", "FLOP/s", "FLOP/B", "FLOPs",  "OP/s",  "Hz",   "W",     "J",
      "V", "b/s",  "bit", "bits", "byte", "bytes",  "token",  "tokens", "tok/s", "m",    "km",    "min",
      "h", "days", "px",  "x",    "°C",   "ulp",    "ulps",   "step",   "steps", "GPUs", "chips", "mm²"};
  const auto known = [&](std::string_view unit) {
    return std::find(std::begin(units), std::end(units), unit) != std::end(units);
  };
  return known(word) || known(without_prefix(word));
}

}  // namespace widgets
