#include "models/serving/engine/serving.h"

#include <limits>

#include "models/serving/engine/serving_answers.h"
#include "models/serving/engine/serving_ledger.h"

namespace models {

ServingRun simulate_serving(std::span<const ServingRequest> requests, const ServingSetup& setup) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  ServingRun run;
  run.served.assign(requests.size(), ServedRequest{-1, -1, -1, -1});
  const bool steps =
      setup.cost && (setup.policy == ServingPolicy::continuous || setup.policy == ServingPolicy::chunked);
  const std::int64_t replicas = setup.cost ? setup.servers : 1;
  const serving::RoomCheck room(requests, setup);
  std::vector<serving::Share> shares(static_cast<std::size_t>(replicas));
  for (serving::Share& share : shares) share.requests = requests;
  if (setup.cost || requests.size() > 0) shares[0].ids.reserve(requests.size() / shares.size() + 1);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (setup.cost && !room.ever_fits(i)) {
      ++run.refused;
      run.served[i] = {nan, nan, nan, nan};
    } else {
      shares[i % shares.size()].ids.push_back(static_cast<std::int32_t>(i));
    }
  }
  for (std::size_t r = 0; r < shares.size() && !run.stopped; ++r) {
    if (steps) {
      serving::run_steps(shares[r], setup, run, r == 0);
    } else {
      serving::Ledger ledger(run, setup, shares[r], r == 0);
      serving::run_batches(shares[r], setup, setup.cost ? 1 : setup.servers, ledger);
    }
  }
  return run;
}

}  // namespace models
