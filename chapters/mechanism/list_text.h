#pragma once
#include <span>
#include <string>

#include "widgets/base/parts.h"

namespace chapters {

/// A list of numbers as links carry it: "[1,2.5,3]".
inline std::string list_text(std::span<const double> values) {
  std::string text = "[";
  for (const double value : values) (text += text.size() > 1 ? "," : "") += widgets::exact(value);
  return text + "]";
}

}  // namespace chapters
