#include "models/serving/serving_replica.h"

namespace models::serving {

void run_steps(const Share& share, const ServingSetup& setup, Ledger& ledger) {
  Replica replica(share, setup, ledger);
  const std::size_t n = share.size();
  std::size_t arrived = 0;
  std::int64_t arrival_us = n > 0 ? microseconds_from(share.at(0).arrival_s) : never_us;
  while (ledger.may_go_on(static_cast<std::size_t>(replica.running()))) {
    while (arrival_us <= replica.next_us() && arrival_us != never_us) {
      replica.offer(arrived++);
      arrival_us = arrived < n ? microseconds_from(share.at(arrived).arrival_s) : never_us;
    }
    if (replica.next_us() == never_us) break;
    replica.go_on();
  }
  ledger.run().blocks_left += replica.blocks_held();
}

}  // namespace models::serving
