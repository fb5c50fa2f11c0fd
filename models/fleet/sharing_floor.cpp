#include "models/fleet/sharing_floor.h"

#include <algorithm>
#include <numeric>

namespace models::fleet {

namespace {

/// Shelves that are looked at without success before nobody is moved.
constexpr int max_in_vain = 8;

}  // namespace

SharingFloor::SharingFloor(const QueueSetup& setup)
    : taken_(static_cast<std::size_t>(setup.shelves), 0),
      tenants_(static_cast<std::size_t>(setup.shelves)),
      reserved_(static_cast<std::size_t>(setup.reserved)),
      careful_(setup.packing == ShelfPacking::best_fit),
      one_shelf_(setup.one_shelf),
      half_(setup.half) {
  for (const JobKind& kind : setup.mix.kinds) {
    shapes_.push_back(kind.shape);
    if (kind.shape.at.empty() && 2 * kind.shape.places <= shelf_places) shapes_.back().half = setup.half;
  }
}

bool SharingFloor::find(std::size_t kind, std::vector<ShelfPiece>& pieces) const {
  return find_in(taken_, kind, pieces);
}

bool SharingFloor::find_in(const std::vector<Places>& taken, std::size_t kind, std::vector<ShelfPiece>& pieces) const {
  const ShelfShape& shape = shapes_[kind];
  pieces.clear();
  if (shape.shelves > 1) {
    for (std::size_t s = 0; s < taken.size() && static_cast<int>(pieces.size()) < shape.shelves; ++s)
      if (taken[s] == 0) pieces.push_back({static_cast<std::uint32_t>(s), full_shelf});
    return static_cast<int>(pieces.size()) == shape.shelves;
  }
  std::size_t best = taken.size();
  if (shape.half == HalfRule::prefer) {
    ShelfShape one_half = shape;
    one_half.half = HalfRule::only;
    best = best_shelf(taken, kind, one_half);
  }
  if (best == taken.size()) best = best_shelf(taken, kind, shape);
  if (best == taken.size()) return spread(taken, kind, pieces);
  pieces.push_back({static_cast<std::uint32_t>(best), choose_places(shape, taken[best], careful_, shapes_)});
  return true;
}

std::size_t SharingFloor::best_shelf(const std::vector<Places>& taken, std::size_t kind,
                                     const ShelfShape& shape) const {
  std::size_t best = taken.size();
  int best_free = 0;
  for (std::size_t s = 0; s < taken.size(); ++s) {
    if (!open_to(kind, s) || !fits_shelf(shape, taken[s])) continue;
    const int room = free_places(taken[s]);
    if (best < taken.size() && (careful_ ? room >= best_free : room <= best_free)) continue;
    best = s;
    best_free = room;
  }
  return best;
}

/// Pieces on several shelves, the emptiest first, so that they are few.
bool SharingFloor::spread(const std::vector<Places>& taken, std::size_t kind, std::vector<ShelfPiece>& pieces) const {
  const ShelfShape& shape = shapes_[kind];
  if (one_shelf_ || !shape.at.empty() || shape.large()) return false;
  int left = shape.places;
  for (int room = shelf_places; room > 0 && left > 0; --room)
    for (std::size_t s = 0; s < taken.size() && left > 0; ++s) {
      if (!open_to(kind, s) || free_places(taken[s]) != room) continue;
      const ShelfShape part{.places = std::min(room, left)};
      pieces.push_back({static_cast<std::uint32_t>(s), choose_places(part, taken[s], false, {})});
      left -= part.places;
    }
  if (left > 0) pieces.clear();
  return left == 0;
}

void SharingFloor::put(std::uint32_t job, const std::vector<ShelfPiece>& pieces) {
  for (const ShelfPiece& p : pieces) {
    taken_[p.shelf] = static_cast<Places>(taken_[p.shelf] | p.places);
    tenants_[p.shelf].push_back({job, p.places, pieces.size() == 1});
    used_ += std::popcount(p.places);
  }
}

void SharingFloor::take(std::uint32_t job, const std::vector<ShelfPiece>& pieces) {
  for (const ShelfPiece& p : pieces) {
    taken_[p.shelf] = static_cast<Places>(taken_[p.shelf] & ~p.places);
    auto& here = tenants_[p.shelf];
    here.erase(std::find_if(here.begin(), here.end(), [&](const Tenant& t) { return t.job == job; }));
    used_ -= std::popcount(p.places);
  }
}

/// Takes the smallest jobs off a shelf until the kind fits there, and puts them where they leave most together.
/// `kept`: shelves that take nobody.
bool SharingFloor::empty_shelf(std::size_t shelf, std::vector<Places>& state, const std::vector<std::uint8_t>& kept,
                               std::size_t kind, std::vector<RoomMove>& moves) const {
  std::vector<Tenant> leave = tenants_[shelf];
  std::sort(leave.begin(), leave.end(), [](const Tenant& a, const Tenant& b) {
    const int na = std::popcount(a.places), nb = std::popcount(b.places);
    return na != nb ? na < nb : a.job < b.job;
  });
  for (const Tenant& t : leave) {
    if (fits_shelf(shapes_[kind], state[shelf])) return true;
    if (!t.whole || t.places == full_shelf) return false;
    // An instance keeps its profile: its shape is the one that has these places.
    const ShelfShape* shape = nullptr;
    ShelfShape plain{.places = std::popcount(t.places)};
    // Nobody is moved onto both halves.
    if (half_ != HalfRule::any && 2 * plain.places <= shelf_places) plain.half = HalfRule::only;
    for (const ShelfShape& s : shapes_)
      if (s.places == plain.places && std::find(s.at.begin(), s.at.end(), t.places) != s.at.end()) shape = &s;
    if (shape == nullptr) shape = &plain;
    std::size_t best = state.size();
    for (std::size_t s = 0; s < state.size(); ++s) {
      if (kept[s] != 0 || s < reserved_ || !fits_shelf(*shape, state[s])) continue;
      if (best == state.size() || free_places(state[s]) < free_places(state[best])) best = s;
    }
    if (best == state.size()) return false;
    const Places to = choose_places(*shape, state[best], true, shapes_);
    moves.push_back({t.job, {static_cast<std::uint32_t>(shelf), t.places}, {static_cast<std::uint32_t>(best), to}});
    state[shelf] = static_cast<Places>(state[shelf] & ~t.places);
    state[best] = static_cast<Places>(state[best] | to);
  }
  return fits_shelf(shapes_[kind], state[shelf]);
}

bool SharingFloor::plan_moves(std::size_t kind, std::vector<RoomMove>& moves) const {
  moves.clear();
  const ShelfShape& shape = shapes_[kind];
  if (free_places_all() < shape.total()) return false;
  std::vector<std::size_t> order(taken_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return free_places(taken_[a]) > free_places(taken_[b]); });
  std::vector<Places> state = taken_;
  std::vector<std::uint8_t> kept(taken_.size(), 0);
  int found = 0, in_vain = 0;
  for (const std::size_t s : order) {
    if (found == shape.shelves || in_vain == max_in_vain) break;
    if (!open_to(kind, s)) continue;
    const std::vector<Places> before = state;
    const std::size_t moves_before = moves.size();
    kept[s] = 1;
    if (empty_shelf(s, state, kept, kind, moves)) {
      ++found;
      continue;
    }
    ++in_vain;
    kept[s] = 0;
    state = before;
    moves.resize(moves_before);
  }
  return found == shape.shelves && !moves.empty();
}

std::size_t SharingFloor::empty_shelves() const {
  return static_cast<std::size_t>(std::count(taken_.begin(), taken_.end(), Places{0}));
}

bool SharingFloor::wanted(std::size_t shelf, const std::vector<std::uint32_t>& waiting, std::size_t whole) const {
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    if (waiting[k] == 0 || !open_to(k, shelf)) continue;
    const ShelfShape& shape = shapes_[k];
    if (shape.shelves > 1 ? taken_[shelf] == 0 && static_cast<std::size_t>(shape.shelves) <= whole
                          : fits_shelf(shape, taken_[shelf]))
      return true;
  }
  return false;
}

std::int64_t SharingFloor::stranded_places(const std::vector<std::uint32_t>& waiting) const {
  const std::size_t whole = empty_shelves();
  std::int64_t stranded = 0;
  for (std::size_t s = 0; s < taken_.size(); ++s)
    if (taken_[s] != full_shelf && !wanted(s, waiting, whole)) stranded += free_places(taken_[s]);
  return stranded;
}

}  // namespace models::fleet
