#pragma once
#include <cstdint>

#include "chapters/mechanism/field.h"
#include "models/serving/arrivals/serving_requests.h"

/// What labs of serving choose between, the same in each.
namespace chapters {

/// Where the time of a request's service comes from.
enum class ServiceKind : std::uint8_t { llm, exponential, deterministic, per_token };
/// Requests have lengths: all but those of plain queues with times of their own.
inline bool has_lengths(ServiceKind kind) { return kind == ServiceKind::llm || kind == ServiceKind::per_token; }
/// The plain queue's times; of a model any.
models::ServiceTime service_time_of(ServiceKind kind);

/// In the order of ServiceKind.
const Choices& service_kind_choices();
/// In the order of models::ServingPolicy. Labs of which a dynamic batch waits for another time than half a second have
/// an input that says so.
const Choices& serving_policy_choices();
/// In the order of models::KvFormat.
const Choices& engine_kv_choices();

}  // namespace chapters
