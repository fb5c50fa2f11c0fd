#pragma once
#include <cstdint>

#include "chapters/mechanism/field.h"

/// What labs of serving choose between, the same in each.
namespace chapters {

/// Where the time of a request's service comes from.
enum class ServiceKind : std::uint8_t { llm, exponential, deterministic };

/// In the order of ServiceKind.
const Choices& service_kind_choices();
/// In the order of models::ServingPolicy. Labs of which a dynamic batch waits for another time than half a second have
/// an input that says so.
const Choices& serving_policy_choices();
/// In the order of models::KvFormat.
const Choices& engine_kv_choices();

}  // namespace chapters
