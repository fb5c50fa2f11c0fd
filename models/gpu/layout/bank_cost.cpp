#include "models/gpu/layout/bank_cost.h"

#include <algorithm>
#include <array>

namespace models::gpu {
namespace {

/// The distinct words that the lanes of one phase want, bank by bank.
struct PhaseWords {
  std::array<std::vector<std::int64_t>, layout_banks> words;

  /// The place of a word behind those of its bank that came before it.
  int add(std::int64_t word) {
    auto& bank = words[static_cast<std::size_t>(word) % layout_banks];
    const auto found = std::find(bank.begin(), bank.end(), word);
    const auto at = found - bank.begin();
    if (found == bank.end()) bank.push_back(word);
    return static_cast<int>(at);
  }
};

}  // namespace

BankCost bank_cost(std::span<const std::int64_t> addresses, int width_bytes) {
  BankCost out;
  const std::size_t lanes = width_bytes <= 4 ? 32 : 128 / static_cast<std::size_t>(width_bytes);
  const std::int64_t words_each = std::max(1, width_bytes / 4);
  for (std::size_t first = 0; first < addresses.size(); first += lanes) {
    PhaseWords phase;
    for (std::size_t lane = first; lane < std::min(addresses.size(), first + lanes); ++lane) {
      const std::int64_t word = addresses[lane] / 4;
      out.wavefront.push_back(out.wavefronts + phase.add(word));
      for (std::int64_t w = 1; w < words_each; ++w) phase.add(word + w);
    }
    std::size_t deepest = 0, distinct = 0;
    for (const auto& bank : phase.words) {
      deepest = std::max(deepest, bank.size());
      distinct += bank.size();
    }
    out.wavefronts += static_cast<int>(deepest);
    out.ideal += static_cast<int>((distinct + layout_banks - 1) / layout_banks);
  }
  return out;
}

}  // namespace models::gpu
