#pragma once
#include <string_view>

#include "app/platform/json.h"
#include "app/scenario/file_input.h"
#include "chapters/mechanism/field.h"

/// Described fields as JSON, checked against what `describe` says.
namespace app {

/// The field's value. A real that is not finite is null, or its name ("inf") where the Spec allows any number; a file
/// is its path, or, where a scenario has carried it here, what it holds (carried_file.h).
Json field_to_json(const chapters::Field& field);

/// Every field by its key, in description order.
Json fields_to_json(const chapters::Fields& fields);

/// Sets one field. On a wrong type, an unknown option or a value out of range fails with a sentence that names the key,
/// the value and what is allowed, and changes nothing.
models::Status field_from_json(const chapters::Field& field, const Json& value, const FileReader& read = {});

/// Sets one field from what follows `--set key=` or what a person typed: quantities with units, lists as [1,2,3],
/// options by id. Changes nothing when it fails.
models::Status set_field_from_text(const chapters::Field& field, std::string_view text, const FileReader& read = {});

/// The beginning of a JSON value, fit to be quoted in a sentence.
std::string json_excerpt(const Json& value);

}  // namespace app
