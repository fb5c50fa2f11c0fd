#pragma once
#include <string_view>

#include "app/scenario/field_prefix.h"
#include "chapters/mechanism/field.h"
#include "widgets/number/number.h"

namespace app {

/// The value of a field as people read it, in its unit with a prefix; numbers in `scratch`.
std::string_view field_text(const chapters::Field& field, widgets::NumberText& scratch, int digits = 4);

/// The file that stands in for an input, such as a config.json in place of a published model; null: none does.
const chapters::Field* file_instead(const chapters::Field& input, const chapters::Fields& inputs);

/// Does an output hold a figure? One that may be missing has none while it is NaN.
bool has_value(const chapters::Field& field);

}  // namespace app
