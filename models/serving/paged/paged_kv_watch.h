#pragma once
#include "models/serving/engine/serving_pool.h"
#include "models/serving/paged/paged_kv.h"

/// Looks on as a replica serves a demand: sums over time, and moments that are kept whole.
namespace models::paged_detail {

/// Slots and requests at a moment; see PagedIntegrals.
struct PoolLevels {
  double used = 0, later = 0, never = 0, outside = 0;
  double running = 0, sequences = 0, blocks = 0, named_blocks = 0;
};

class Watch : public serving::ReplicaWatch {
 public:
  Watch(const PagedDemand& demand, const PagedSetup& setup, const ServingRun& served, PagedRun& run)
      : demand_(demand), setup_(setup), served_(served), run_(run) {}

  void passes(std::int64_t from_us, std::int64_t to_us, const serving::Replica& replica) override;
  void sent_back(std::size_t id, std::int64_t now_us) override;
  void copied(std::size_t id, std::int64_t blocks, std::int64_t now_us) override;

 private:
  const PagedRequest& request(std::size_t id) const { return demand_.requests[id]; }
  std::int64_t tokens_held(std::size_t id, const serving::Sequence& s) const;
  PoolLevels levels_of_tables(const serving::Replica& replica) const;
  PoolLevels levels_of_runs(const serving::Replica& replica) const;
  PoolFrame frame_of_tables(const serving::Replica& replica) const;
  PoolFrame frame_of_runs(const serving::Replica& replica) const;
  PoolFrame frame(const serving::Replica& replica, const PoolLevels& levels) const;
  static void add(PagedIntegrals& sum, double us, const PoolLevels& levels, const serving::Replica& replica);

  const PagedDemand& demand_;
  const PagedSetup& setup_;
  const ServingRun& served_;
  PagedRun& run_;
  std::size_t next_frame_ = 0;
};

}  // namespace models::paged_detail
