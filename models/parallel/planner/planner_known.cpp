#include "models/parallel/planner/planner_known.h"

#include <array>

namespace models::parallel {
namespace {

struct SoftwareRow {
  StackId stack;
  bool experts;
  KnownRuns known;
};
constexpr std::array<SoftwareRow, 18> softwares{{
    {StackId::megatron_core, false, {75, 36, 0.0523, 0.1088}},
    {StackId::megatron_core, true, {90, 45, 0.0527, 0.2119}},
    {StackId::megatron_2022, false, {8, 4, 0.0322, 0.0540}},
    {StackId::megatron_2021, false, {11, 6, 0.0611, 0.1320}},
    {StackId::megatron_2020, false, {7, 4, 0.0415, 0.0470}},
    {StackId::megatron_deepspeed, false, {102, 51, 0.0364, 0.0772}},
    {StackId::megatron_golden, false, {6, 3, 0.0839, 0.5055}},
    {StackId::deepspeed_zero3, false, {3, 1, 0.0205, 0.0205}},
    {StackId::fsdp_eager, false, {63, 32, 0.0529, 0.1563}},
    {StackId::fsdp_compiled, false, {5, 2, 0.0282, 0.0282}},
    {StackId::fsdp_compiled_2024, false, {15, 8, 0.1475, 0.1668}},
    {StackId::internevo, false, {30, 15, 0.0720, 0.1610}},
    {StackId::nanotron, false, {17, 8, 0.4247, 0.6250}},
    {StackId::xla, false, {5, 3, 0.0208, 0.1211}},
    {StackId::megatron_2023, false, {5, 3, 0.0469, 0.0797}},
    {StackId::megatron_2026, false, {9, 5, 0.0615, 0.2430}},
    {StackId::megatron_2026, true, {20, 10, 0.0294, 0.0524}},
    // The step of DeepSeek-V3's report, 19.9 s on 2,048 H800: it is not in the list of runs and set nothing.
    {StackId::deepseek, true, {1, 1, 0.127, 0.127}},
}};

struct ChipRow {
  std::string_view chip;
  std::int64_t runs;
};
// torchtitan's H100 of 96 GB at 500 W (17 runs) is another part than the catalog's.
constexpr std::array<ChipRow, 11> chips{{{"v100_sxm2", 13},
                                         {"v100_16_sxm2", 5},
                                         {"a100_40_sxm", 20},
                                         {"a100_80_sxm", 170},
                                         {"h100_sxm", 107},
                                         {"h800_sxm", 1},
                                         {"h200_sxm", 4},
                                         {"b200_sxm", 23},
                                         {"gb200_gpu", 53},
                                         {"b300_sxm", 13},
                                         {"gb300_gpu", 46}}};

}  // namespace

KnownRuns known_runs(StackId stack, bool experts) {
  for (const SoftwareRow& row : softwares)
    if (row.stack == stack && row.experts == experts) return row.known;
  return {};
}

KnownRuns known_adapters() { return {16, 16, 0.1167, 0.2432}; }

std::int64_t known_runs_of_chip(std::string_view chip) {
  for (const ChipRow& row : chips)
    if (row.chip == chip) return row.runs;
  return 0;
}

KnownLeftOut known_left_out() { return {171, 658}; }

std::int64_t left_out_of_vendor(std::string_view vendor) {
  return vendor == "Google" ? 42 : vendor == "AWS" ? 16 : vendor == "AMD" ? 8 : 0;
}

KnownFits known_fits() { return {269, 268}; }

}  // namespace models::parallel
