#pragma once
#include <string>
#include <string_view>

#include "widgets/number/number.h"

namespace chapters::roofline {

/// A figure of an answer of which the number alone stands between backticks: "`7.91` ms".
inline std::string marked_number(double value, std::string_view unit, int digits = 3) {
  const widgets::NumberParts parts = widgets::format_parts(value, unit, digits);
  const std::string number = widgets::figure(parts.number.view());
  return parts.unit.length > 0 ? number + " " + std::string(parts.unit.view()) : number;
}

}  // namespace chapters::roofline
