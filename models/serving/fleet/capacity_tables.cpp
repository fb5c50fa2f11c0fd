#include "models/serving/fleet/capacity_tables.h"

#include <algorithm>
#include <array>

namespace models {
namespace {

// TensorRT-LLM v0.14, v1.0 and later: saturated output tokens a second of dense models of 8 to 405 billion parameters.
// The rows stand in tests/models/serving/capacity_reached_test.cpp, which fits them again.
constexpr std::array<ReachedShare, 6> reached_table{{
    {"a100_80_sxm", Format::bf16, 0.54, 8, 0.309, 0.613},
    {"h100_sxm", Format::bf16, 0.57, 8, 0.292, 0.514},
    {"h100_sxm", Format::fp8, 0.63, 18, 0.155, 0.464},
    {"h200_sxm", Format::fp8, 0.57, 26, 0.075, 0.282},
    {"b200_sxm", Format::fp4, 0.48, 10, 0.056, 0.059},
    {"gb200_gpu", Format::fp4, 0.51, 14, 0.080, 0.170},
}};

constexpr std::string_view price_list_aws = "AWS on demand, us-east-1, an eighth of a machine of eight";
constexpr std::string_view price_survey = "Mercatus, cloud GPU pricing, May 2026";

// AWS lists as read by tsaol/aws-gpu from instances.vantage.sh.
constexpr std::array<ChipPrice, 6> price_table{{
    {"a100_40_sxm", 2.7447, "2026-08-26", price_list_aws, 0, 0, {}},
    {"a100_80_sxm", 3.4309, "2026-08-26", price_list_aws, 0.80, 3.00, price_survey},
    {"h100_sxm", 6.88, "2026-08-26", price_list_aws, 1.99, 5.00, price_survey},
    {"h200_sxm", 7.912, "2025-12-21", price_list_aws, 2.50, 7.00, price_survey},
    {"b200_sxm", 14.2416, "2026-08-26", price_list_aws, 0, 0, {}},
    {"mi300x", 1.85, "2025", "gpu.blog, the highest of a survey", 1.71, 1.85, "gpu.blog, survey of 2025"},
}};

}  // namespace

std::span<const ReachedShare> reached_shares() { return reached_table; }
const ReachedShare* find_reached_share(std::string_view chip, Format format) {
  const auto at = std::find_if(reached_table.begin(), reached_table.end(),
                               [&](const ReachedShare& r) { return r.chip == chip && r.format == format; });
  return at == reached_table.end() ? nullptr : &*at;
}

std::span<const ChipPrice> chip_prices() { return price_table; }
const ChipPrice* find_chip_price(std::string_view chip) {
  const auto at =
      std::find_if(price_table.begin(), price_table.end(), [&](const ChipPrice& p) { return p.chip == chip; });
  return at == price_table.end() ? nullptr : &*at;
}

}  // namespace models
