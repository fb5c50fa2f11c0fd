#pragma once
#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "models/gpu/occupancy.h"

/// The compute capability of an SM as an input: one list, and one meaning, in every lab that asks for it.
namespace chapters {

/// The input "compute_capability": every capability whose limits the model knows, with the GPUs that have it.
void describe_capability(Fields& f, std::string& slot, std::string_view help);
/// The SM that the input names; null where its limits are not known.
const models::gpu::SmLimits* sm_of_capability(const std::string& capability);

}  // namespace chapters
