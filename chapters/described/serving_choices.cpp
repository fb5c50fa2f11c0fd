#include "chapters/described/serving_choices.h"

#include "models/serving/engine/serving.h"

namespace chapters {

models::ServiceTime service_time_of(ServiceKind kind) {
  using models::ServiceTime;
  return kind == ServiceKind::deterministic ? ServiceTime::deterministic
         : kind == ServiceKind::per_token   ? ServiceTime::per_token
                                            : ServiceTime::exponential;
}

const Choices& service_kind_choices() {
  static const Choices choices{
      {"llm", "From model and chip", "Each step takes what the roofline says."},
      {"exponential", "Exponential", "A plain queue: service times vary widely and have no memory."},
      {"deterministic", "Fixed", "A plain queue: every service takes the same time."},
      {"per_token", "By tokens", "A plain queue: so much for a request, each token in and each token out."}};
  return choices;
}

const Choices& serving_policy_choices() {
  static const Choices choices{
      {"single", "One by one", "A request has the replica to itself."},
      {"static", "Static", "Waits for a full batch; all leave when the longest is done."},
      {"dynamic", "Dynamic",
       "As static, but starts short when the oldest has waited for the timeout, half a second where none is set."},
      {"continuous", "Continuous", "Requests join and leave at every step; prompts take steps of their own."},
      {"chunked", "Chunked prefill", "Continuous, with prompts cut up and mixed into the decode steps."}};
  return choices;
}

const Choices& engine_kv_choices() {
  static const Choices choices{
      {"bf16", "BF16", "Two bytes per number."},
      {"fp8", "FP8", "One byte per number, and a 4-byte scale per layer for keys and one for values."}};
  static_assert(models::kv_format_count == 2);
  return choices;
}

}  // namespace chapters
