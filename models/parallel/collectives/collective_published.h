#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/parallel/collectives/collective_curve.h"
#include "models/parallel/collectives/collective_machine.h"
#include "models/parallel/collectives/collective_tuner.h"

/// Published runs of collectives, with what is known of the machine, and how a prediction from hardware compares.
namespace models::parallel {

enum class CollectiveNetwork : std::uint8_t { none, infiniband, roce, efa, tcp, slingshot, not_stated };
inline constexpr std::size_t collective_network_count = 7;
std::string_view network_words(CollectiveNetwork network);  ///< "InfiniBand", "a network that is not stated"

/// What of a run a prediction answers for: the median at 1 KiB and below, the sizes from there to 1 GiB, 1 GiB itself,
/// the largest size where it is 1 GiB or more.
enum class CollectivePart : std::uint8_t { floor, middle, gib, plateau };
inline constexpr std::size_t collective_part_count = 4;
std::string_view collective_part_name(CollectivePart part);  ///< "floor", "1 GiB"

struct CrossingCause {
  double from_bytes = 0;
  std::string cause, source;
};

struct PublishedCollective {
  std::string id, name;  ///< id: [a-z0-9-]+
  std::string library, gpu, inside, between;
  std::string chip;  ///< id in the hardware catalog
  CollectiveCurve curve;
  CollectiveNetwork network = CollectiveNetwork::none;
  CollectiveSite site;  ///< `nic_line_bytes_per_s` 0: not stated
  NcclForced forced;
  bool through_framework = false;     ///< timed through a framework's call
  bool in_place_column = false;       ///< the times are those of the in-place column
  std::vector<CrossingCause> causes;  ///< only what a source says
  std::string note;
  std::string unmet;                                 ///< sentences: why the prediction misses parts of it
  std::array<bool, collective_part_count> misses{};  ///< which parts those are
  std::string source, url, date;
};

/// {"curves": [{"id", "name", "library", "primitive", "ranks", "gpu", "chip", "inside", "between", "network",
/// "node_ranks", "port_gbps", "algorithm", "protocol", "one_process", "through_framework", "times_from_bandwidth",
/// "column", "note", "unmet", "misses", "causes", "source", "url", "date", "rows": [[bytes, us, us in place or null,
/// GB/s]]}]}. Fails with a sentence that names the curve.
Result<std::vector<PublishedCollective>> parse_published_collectives(std::string_view text, std::string_view origin);

/// How a prediction compares with one part of a run. A floor and a middle are times, predicted over measured; 1 GiB and
/// the plateau are bandwidths, so that above 1 is too fast there and too slow here.
struct PartComparison {
  double least = std::numeric_limits<double>::quiet_NaN(), most = least;  ///< the ratio; a middle has two
  double least_at_bytes = 0, most_at_bytes = 0;
  bool measured() const { return least == least; }
  bool claimed = false;  ///< the prediction answers for this part
  bool met = false;      ///< within the tolerance of the claim, whether claimed or not
};
struct CollectiveComparison {
  std::array<PartComparison, collective_part_count> parts;
  std::string no_claim;  ///< a sentence where something is not claimed
  const PartComparison& part(CollectivePart p) const { return parts[static_cast<std::size_t>(p)]; }
};
inline constexpr double claimed_floor = 0.25, claimed_plateau = 0.15, claimed_middle = 2;

/// A floor within a quarter, a middle within a factor of two, spikes left out, 1 GiB and the plateau within 15 %.
/// Claimed on NVLink and InfiniBand: over EFA, TCP and RoCE the network's software sets small sizes, PCIe and AMD's
/// mesh are not what NCCL's constants were taken on, and sends and receives have no entry in them.
CollectiveComparison compare_collective(const PublishedCollective& published, const CollectiveMachine& machine);

}  // namespace models::parallel
