#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Shelves of eight places on which jobs lie: a node with its GPUs, where any free ones will do, or a GPU with its
/// memory slices, where an instance may begin at some of them only.
namespace models::fleet {

inline constexpr int shelf_places = 8;
/// Bit i: place i is taken.
using Places = std::uint8_t;
inline constexpr Places full_shelf = 0xFF;

/// A way to cut an A100 or H100 with 80 GB. A GPU has seven compute slices and eight memory slices.
/// Source: NVIDIA, MIG User Guide, supported profiles; placements as `nvidia-smi mig -lgipp` prints them.
struct MigProfile {
  std::string_view name;
  int compute_slices = 1, memory_slices = 1;
  std::span<const Places> at;  ///< the places that it may take
  int printed_instances = 1;   ///< how many of them a GPU holds, as the guide prints
};
inline constexpr std::size_t mig_profile_count = 6;
std::span<const MigProfile, mig_profile_count> mig_profiles();
inline constexpr int mig_compute_slices = 7, mig_memory_slices = 8;

/// The halves of a node are the GPUs of its two sockets.
enum class HalfRule : std::uint8_t {
  any,     ///< the first places that are free
  prefer,  ///< in one half where there is room in one
  only     ///< in one half or not at all
};
/// What a job of one size asks for.
struct ShelfShape {
  int places = 1;                 ///< on each of its shelves
  int shelves = 1;                ///< more than one: whole shelves, all at once
  std::span<const Places> at{};   ///< places that it may take; empty: any that are free
  HalfRule half = HalfRule::any;  ///< for shapes of at most half a shelf whose places are any

  int total() const { return places * shelves; }
  /// Whole shelves.
  bool large() const { return places == shelf_places; }
};

inline int free_places(Places taken) { return shelf_places - std::popcount(taken); }
inline bool on_both_halves(Places places) { return (places & 0x0F) != 0 && (places & 0xF0) != 0; }
/// Does the shape fit on a shelf in this state? A gang asks this of each of its shelves.
bool fits_shelf(const ShelfShape& shape, Places taken);
/// The places that the shape takes there; it must fit. `careful`: of several, those that leave most ways to place
/// `others`, or the half with least room; otherwise the first.
Places choose_places(const ShelfShape& shape, Places taken, bool careful, std::span<const ShelfShape> others);

/// Every way to fill a GPU with instances so that none of these profiles fits any more, as sets of profile indices by
/// place; `profiles` are indices into mig_profiles(). Two ways that differ in where instances lie are two.
std::size_t count_full_mig_layouts(std::span<const std::size_t> profiles);

}  // namespace models::fleet
