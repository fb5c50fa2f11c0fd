#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/house/sources.h"

/// Rules for the parts of a lab (docs/architecture.md): which fact stands where.
namespace house {

/// The members of the `struct Outputs` that stands in `header`, in their order; empty where there is none.
std::vector<std::string> members_of_outputs(std::string_view header);

/// Members of Outputs that no description names, one a line; `descriptions` is the text of the lab's describe*.cpp.
/// `reason` needs none.
std::string undescribed_outputs(std::string_view header, std::string_view descriptions);

/// draw*.cpp of a lab paints and decides nothing: it neither computes nor asks a function of models, but for those that
/// give a thing its name.
std::string drawing_computes_fault(const std::string& path, const std::string& line);

/// Nothing of a lab lives between two computes but in its Inputs, Outputs, Run and View: no static that can change.
std::string hidden_state_fault(const std::string& path, const std::string& line);

}  // namespace house
