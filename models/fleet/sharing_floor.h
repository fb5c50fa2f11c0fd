#pragma once
#include <cstdint>
#include <vector>

#include "models/fleet/sharing_queue.h"

/// The shelves of a fleet and who lies on them: for sharing_queue.cpp alone.
namespace models::fleet {

struct ShelfPiece {
  std::uint32_t shelf = 0;
  Places places = 0;
};
/// A job that makes room, and where it goes.
struct RoomMove {
  std::uint32_t job = 0;
  ShelfPiece from, to;
};

class SharingFloor {
 public:
  explicit SharingFloor(const QueueSetup& setup);

  /// Where the kind would lie now; false where it does not fit.
  bool find(std::size_t kind, std::vector<ShelfPiece>& pieces) const;
  /// The same on shelves in another state than they are.
  bool find_in(const std::vector<Places>& taken, std::size_t kind, std::vector<ShelfPiece>& pieces) const;
  void put(std::uint32_t job, const std::vector<ShelfPiece>& pieces);
  void take(std::uint32_t job, const std::vector<ShelfPiece>& pieces);
  /// Moves that make room for the kind; false where there are none, or where less is free than it needs.
  bool plan_moves(std::size_t kind, std::vector<RoomMove>& moves) const;

  std::size_t shelves() const { return taken_.size(); }
  const std::vector<Places>& taken() const { return taken_; }
  const ShelfShape& shape(std::size_t kind) const { return shapes_[kind]; }
  std::int64_t used_places() const { return used_; }
  std::int64_t free_places_all() const { return static_cast<std::int64_t>(taken_.size()) * shelf_places - used_; }
  /// May the kind use this shelf?
  bool open_to(std::size_t kind, std::size_t shelf) const { return shelf >= reserved_ || shapes_[kind].large(); }
  /// Does some kind of those that wait fit on this shelf? `whole`: shelves that are empty.
  bool wanted(std::size_t shelf, const std::vector<std::uint32_t>& waiting, std::size_t whole) const;
  std::size_t empty_shelves() const;
  /// Free places on which none of the kinds that wait fits, given how many of each kind wait.
  std::int64_t stranded_places(const std::vector<std::uint32_t>& waiting) const;

 private:
  struct Tenant {
    std::uint32_t job = 0;
    Places places = 0;
    bool whole = true;  ///< the job lies on this shelf alone
  };

  /// The shelf on which the shape is put, or their number where it fits on none.
  std::size_t best_shelf(const std::vector<Places>& taken, std::size_t kind, const ShelfShape& shape) const;
  bool spread(const std::vector<Places>& taken, std::size_t kind, std::vector<ShelfPiece>& pieces) const;
  bool empty_shelf(std::size_t shelf, std::vector<Places>& state, const std::vector<std::uint8_t>& kept,
                   std::size_t kind, std::vector<RoomMove>& moves) const;

  std::vector<ShelfShape> shapes_;
  std::vector<Places> taken_;
  std::vector<std::vector<Tenant>> tenants_;
  std::size_t reserved_ = 0;
  std::int64_t used_ = 0;
  bool careful_ = true, one_shelf_ = true;
  HalfRule half_ = HalfRule::any;
};

}  // namespace models::fleet
