#include "chapters/described/compute_capability.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters {
namespace {

namespace gpu = models::gpu;

struct NamedCapability {
  int capability = 0;
  std::string_view gpus;
};
constexpr std::array named_capabilities{
    NamedCapability{70, "V100"},         NamedCapability{72, "Xavier"},      NamedCapability{75, "T4, RTX 20"},
    NamedCapability{80, "A100"},         NamedCapability{86, "A10, RTX 30"}, NamedCapability{87, "Orin"},
    NamedCapability{89, "L40S, RTX 40"}, NamedCapability{90, "H100, H200"},  NamedCapability{100, "B200"},
    NamedCapability{103, "B300"},        NamedCapability{110, "Thor"},       NamedCapability{120, "RTX 50"},
    NamedCapability{121, "GB10"}};

std::string kib_words(std::int64_t bytes) {
  return widgets::format_text(models::as_double(bytes), "B", 4, widgets::Prefix::binary);
}

Choices capability_choices() {
  Choices out;
  for (const gpu::SmLimits& sm : gpu::known_sm_limits()) {
    const std::string text = gpu::capability_text(sm.capability);
    const auto* const named = std::find_if(named_capabilities.begin(), named_capabilities.end(),
                                           [&](const NamedCapability& n) { return n.capability == sm.capability; });
    out.push_back({text, named == named_capabilities.end() ? text : text + ", " + std::string(named->gpus),
                   kib_words(sm.shared_bytes) + " of shared memory, " + kib_words(sm.block_shared_bytes) +
                       " for one block; " + std::to_string(sm.threads / 32) + " warps."});
  }
  return out;
}

}  // namespace

void describe_capability(Fields& f, std::string& slot, std::string_view help) {
  static const Choices choices = capability_choices();
  f.choice("compute_capability", slot, choices, "Compute capability", help);
}

const models::gpu::SmLimits* sm_of_capability(const std::string& capability) {
  return gpu::sm_limits(gpu::read_capability(capability).value_or(0));
}

}  // namespace chapters
