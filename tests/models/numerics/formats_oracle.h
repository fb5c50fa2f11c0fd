#pragma once
#include <nlohmann/json.hpp>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

/// Codes, values and limits of every format, made by an independent program: tests/data/formats.json.
inline nlohmann::json formats_oracle() {
  return nlohmann::json::parse(support::read_text(support::data_file("formats.json")));
}
