#pragma once
#include <string>
#include <string_view>

#include "app/scenario/fields_json.h"
#include "chapters/mechanism/lab.h"

/// A lab's state as a document: what is saved, shared and recorded in lessons.
namespace app {

/// True for what belongs to the person and not to a scenario: what is kept across sessions, and the clock
/// ("clock.now_s").
bool is_personal(const chapters::Field& field);

/// The inputs that a scenario is made of: all but the personal ones.
Json scenario_inputs(const chapters::Lab& lab);

/// The same for somebody else: without files and pasted texts that do not count as the other inputs are set.
Json inputs_to_hand_on(const chapters::Lab& lab);

/// The scenario's inputs without what was measured: what undo goes through.
Json set_by_hand(const chapters::Lab& lab);

/// Brings every input back to its default except the personal and the measured ones.
void reset_scenario(chapters::Lab& lab);

/// Sets several inputs, all or none.
models::Status apply_inputs(chapters::Lab& lab, const Json& inputs, const FileReader& read = {});

/// Sets several members of the View, all or none.
models::Status apply_view(chapters::Lab& lab, const Json& view);

/// {"lab", "version", "inputs", "view", "own"}; "view" is left out where the lab has none, "own" where it uses no
/// model, chip or network of the learner's own.
Json scenario_to_json(const chapters::Lab& lab);

/// A scenario document whose inputs and view are not yet checked against the lab.
struct Scenario {
  std::string lab;                     ///< id of a lab that exists
  std::string inputs_text, view_text;  ///< JSON objects; empty where the document has none
  std::string own_text{};              ///< JSON of what it carries (own_handed_on.h); empty: nothing
};
/// Checks the form of a document. The caller opens the lab and applies inputs and view.
models::Result<Scenario> parse_scenario(std::string_view text);

/// {"lab", "feasible", "reason", "used", "inputs", "outputs"}: `used` names model, chip and network and the files that
/// they come from (used_by); outputs are null while infeasible. The lab must be computed.
Json evaluation_to_json(const chapters::Lab& lab);

}  // namespace app
