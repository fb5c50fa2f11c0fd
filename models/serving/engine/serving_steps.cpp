#include "models/serving/engine/serving_pool.h"

namespace models::serving {
namespace {

/// One replica and the requests that are its own.
class OneReplica : public PoolRules {
 public:
  OneReplica(ReplicaPool& pool, std::span<const ServingRequest> requests, const std::vector<std::int32_t>& ids)
      : pool_(pool), requests_(requests), ids_(ids) {}
  std::int64_t arrival_us() const override {
    return next_ < ids_.size() ? microseconds_from(requests_[static_cast<std::size_t>(ids_[next_])].arrival_s)
                               : never_us;
  }
  void arrive() override {
    ++next_;
    pool_.offer_next(0);
  }

 private:
  ReplicaPool& pool_;
  std::span<const ServingRequest> requests_;
  const std::vector<std::int32_t>& ids_;
  std::size_t next_ = 0;
};

}  // namespace

void run_steps(const Share& share, const ServingSetup& setup, ServingRun& run, bool pictured) {
  ReplicaPool pool(share.requests, run, nullptr);
  pool.add(setup, Duty::all, pictured, share.ids);
  OneReplica rules(pool, share.requests, share.ids);
  pool.run(rules);
  run.blocks_left += pool.replica(0).blocks_left();
}

}  // namespace models::serving
