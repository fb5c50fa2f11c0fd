#pragma once
#include <string_view>

#include "chapters/mechanism/field.h"
#include "widgets/number/number.h"

namespace app {

/// The value of a field as people read it, in its unit with a prefix; numbers in `scratch`.
std::string_view field_text(const chapters::Field& field, widgets::NumberText& scratch, int digits = 4);

/// The prefix that the field's numbers take.
widgets::Prefix prefix_of(const chapters::Field& field);

/// Does an output hold a figure? One that may be missing has none while it is NaN.
bool has_value(const chapters::Field& field);

}  // namespace app
