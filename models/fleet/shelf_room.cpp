#include "models/fleet/shelf_room.h"

#include <algorithm>

namespace models::fleet {
namespace {

constexpr std::array<Places, 7> at_one{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40};
constexpr std::array<Places, 4> at_one_wide{0x03, 0x0C, 0x30, 0xC0};
constexpr std::array<Places, 3> at_two{0x03, 0x0C, 0x30};
constexpr std::array<Places, 2> at_three{0x0F, 0xF0};
constexpr std::array<Places, 1> at_four{0x0F};
constexpr std::array<Places, 1> at_seven{0xFF};

constexpr std::array<MigProfile, mig_profile_count> profiles_80gb{{
    {"1g.10gb", 1, 1, at_one, 7},
    {"1g.20gb", 1, 2, at_one_wide, 4},
    {"2g.20gb", 2, 2, at_two, 3},
    {"3g.40gb", 3, 4, at_three, 2},
    {"4g.40gb", 4, 4, at_four, 1},
    {"7g.80gb", 7, 8, at_seven, 1},
}};

constexpr std::array<Places, 2> halves{0x0F, 0xF0};

/// The half on which the shape has room, 0 where there is none; of two the fuller, or the first.
Places half_with_room(const ShelfShape& shape, Places taken, bool careful) {
  Places best = 0;
  int least = shelf_places;
  for (const Places half : halves) {
    const int room = std::popcount(static_cast<Places>(half & ~taken));
    if (room < shape.places || (best != 0 && (!careful || room >= least))) continue;
    best = half;
    least = room;
  }
  return best;
}

int ways_left(Places taken, std::span<const ShelfShape> others) {
  int ways = 0;
  for (const ShelfShape& s : others)
    for (const Places at : s.at) ways += (at & taken) == 0 ? s.places : 0;
  return ways;
}

void walk_layouts(std::span<const std::size_t> profiles, Places taken, Places from, std::size_t& count) {
  // Instances are added in the order of their lowest place, so that each layout is met once.
  bool any = false;
  for (const std::size_t p : profiles)
    for (const Places at : profiles_80gb[p].at) {
      if ((at & taken) != 0) continue;
      any = true;
      const Places lowest = static_cast<Places>(at & -at);
      if (lowest >= from) walk_layouts(profiles, static_cast<Places>(taken | at), lowest, count);
    }
  if (!any) ++count;
}

}  // namespace

std::span<const MigProfile, mig_profile_count> mig_profiles() { return profiles_80gb; }

bool fits_shelf(const ShelfShape& shape, Places taken) {
  if (shape.at.empty())
    return shape.half == HalfRule::only ? half_with_room(shape, taken, false) != 0 : free_places(taken) >= shape.places;
  return std::any_of(shape.at.begin(), shape.at.end(), [&](Places at) { return (at & taken) == 0; });
}

Places choose_places(const ShelfShape& shape, Places taken, bool careful, std::span<const ShelfShape> others) {
  if (shape.at.empty()) {
    if (shape.half != HalfRule::any)
      if (const Places half = half_with_room(shape, taken, careful); half != 0)
        taken = static_cast<Places>(taken | static_cast<Places>(~half));
    Places chosen = 0;
    int left = shape.places;
    for (int i = 0; i < shelf_places && left > 0; ++i) {
      const Places bit = static_cast<Places>(1 << i);
      if ((taken & bit) != 0) continue;
      chosen = static_cast<Places>(chosen | bit);
      --left;
    }
    return chosen;
  }
  Places best = 0;
  int most = -1;
  for (const Places at : shape.at) {
    if ((at & taken) != 0) continue;
    if (!careful) return at;
    const int ways = ways_left(static_cast<Places>(taken | at), others);
    if (ways <= most) continue;
    most = ways;
    best = at;
  }
  return best;
}

std::size_t count_full_mig_layouts(std::span<const std::size_t> profiles) {
  std::size_t count = 0;
  walk_layouts(profiles, 0, 0, count);
  return count;
}

}  // namespace models::fleet
