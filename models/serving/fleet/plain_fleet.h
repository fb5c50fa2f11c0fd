#pragma once
#include <span>

#include "models/serving/fleet/fleet.h"

/// Several plain queues behind a router: what routers do without a language model in the way.
namespace models {

struct PlainFleetSetup {
  std::int64_t replicas = 1,
               servers = 1;  ///< each replica has one line in front of its servers, first come first served
  /// least_blocks and prefix_aware see no cache here: as least_requests.
  FleetRouter router = FleetRouter::round_robin;
  std::uint64_t seed = 1;
  /// A request that comes to a replica where so many wait is refused at once; 0: never.
  std::int64_t longest_queue = 0;
  double drop_after_s = std::numeric_limits<double>::infinity();  ///< who would wait longer leaves unserved
  double measure_from_s = 0, measure_until_s = std::numeric_limits<double>::infinity();
};

/// Runs all requests, sorted by arrival; a service takes its service_s. The answer of a request is one token, at its
/// end. Spans, gaps and history are not kept.
FleetRun simulate_plain_fleet(std::span<const ServingRequest> requests, const PlainFleetSetup& setup);

}  // namespace models
