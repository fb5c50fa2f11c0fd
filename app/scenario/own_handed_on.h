#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "app/platform/json.h"
#include "app/scenario/own_entries.h"
#include "chapters/mechanism/field.h"

/// Models, chips and networks of one's own inside scenarios and links.
namespace app {

/// The key under which scenarios and links carry them; no lab has an input of that name.
inline constexpr const char* own_key = "own";

/// The entries of the catalog in force that these inputs use, each once, in their order.
std::vector<const OwnEntry*> own_used(const chapters::Fields& inputs);

/// As scenarios and links carry them: a list of {"kind", "entry"}.
Json own_to_json(const std::vector<const OwnEntry*>& entries);
/// Fails with one sentence where the list is not of that form, or an entry is not one of its kind.
models::Result<OwnSet> own_from_json(const Json& list);

/// Puts what the entries are called here in place of what they came as, in the values of these inputs.
void rename_own(const chapters::Fields& inputs, const std::vector<TakenEntry>& taken, Json& values);

/// Takes what a scenario or a link carries into the catalog in force; "" carries nothing. Labs that were made before
/// must be refreshed. Fails, with nothing taken, where it is no such list.
models::Result<std::vector<TakenEntry>> take_handed_on(std::string_view own);

/// What this input of a lab chooses from the catalog, where it does.
std::optional<OwnKind> own_kind_of(const chapters::Field& field);

/// {"id", "name", "file"} of a model, chip or network of the catalog in force; without a file where it has none.
Json used_to_json(OwnKind kind, std::string_view id);
/// The same of what the lab computes with, as {"model", "chip", "network"}; a config.json in a file input is the model.
Json used_by(const chapters::Fields& inputs);

}  // namespace app
