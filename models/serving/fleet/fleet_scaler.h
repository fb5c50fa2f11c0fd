#pragma once
#include <deque>

#include "models/serving/fleet/fleet.h"

namespace models {

/// What an autoscaler sees when it looks.
struct FleetLook {
  std::int64_t now_us = 0;
  std::int64_t replicas = 0, serving = 0;  ///< those that stay, and of them those that have started
  std::int64_t waiting = 0, running = 0;   ///< requests at those that serve
  std::int64_t slots = 1;                  ///< that one replica has
  double busy_s = 0;                       ///< replica-seconds with work since the run began
};

/// The rule that FleetScaling describes, and what it remembers.
class FleetScaler {
 public:
  /// Replicas that are wanted now.
  std::int64_t wanted(const FleetScaling& rule, const FleetLook& look);

 private:
  double signal(const FleetScaling& rule, const FleetLook& look);
  struct Wish {
    std::int64_t time_us = 0, replicas = 0;
  };
  std::deque<Wish> wishes_;  ///< those of the last hold_s
  double busy_s_ = 0;        ///< at the last look
  std::int64_t looked_us_ = 0;
};

}  // namespace models
