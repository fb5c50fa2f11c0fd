#pragma once
#include <cstdint>
#include <optional>
#include <vector>

/// A pool of token slots that is handed out in runs without a hole, as engines before paging reserved the cache of a
/// sequence.
namespace models {

/// first_fit: the first hole that is long enough. buddy: runs of a power of two, halved and joined again (Knuth, volume
/// 1, section 2.5); the paper of vLLM supposes this one of its baselines (Kwon et al. 2023, section 6.1).
enum class SlotFit : std::uint8_t { first_fit, buddy };
inline constexpr int slot_fit_count = 2;

class SlotRuns {
 public:
  /// `slots` from 1 on.
  SlotRuns(std::int64_t slots, SlotFit fit);
  /// Start of a run of at least so many slots; none where no hole is long enough.
  std::optional<std::int64_t> take(std::int64_t slots);
  /// What a run of so many slots really occupies: with buddies the next power of two.
  std::int64_t occupied(std::int64_t slots) const;
  /// Gives back a run that `take` gave for so many slots.
  void give_back(std::int64_t start, std::int64_t slots);
  std::int64_t free_slots() const;
  std::int64_t longest_hole() const;

 private:
  struct Hole {
    std::int64_t start = 0, slots = 0;
  };
  SlotFit fit_;
  std::vector<Hole> holes_;  ///< by start; neighbours are joined, with buddies only halves of one run
};

}  // namespace models
