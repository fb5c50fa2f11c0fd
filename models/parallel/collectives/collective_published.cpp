#include "models/parallel/collectives/collective_published.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "models/base/json_text.h"
#include "models/parallel/collectives/collective_fit.h"

namespace models::parallel {
namespace {

constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, collective_network_count> published_network_ids{
    "none", "infiniband", "roce", "efa", "tcp", "slingshot", "not_stated",
};

constexpr std::array<std::string_view, collective_part_count> published_part_names{"floor", "middle", "1 GiB",
                                                                                   "plateau"};

template <std::size_t n>
std::optional<std::size_t> published_place(const std::array<std::string_view, n>& ids, std::string_view id) {
  const auto found = std::find(ids.begin(), ids.end(), id);
  return found == ids.end() ? std::nullopt : std::optional<std::size_t>(found - ids.begin());
}

std::string published_words(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double published_number(const nlohmann::json& object, const char* key, double missing) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : missing;
}

bool published_flag(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::optional<Primitive> published_primitive(std::string_view id) {
  for (std::size_t i = 0; i < primitive_count; ++i)
    if (primitive_id(static_cast<Primitive>(i)) == id) return static_cast<Primitive>(i);
  return std::nullopt;
}

/// An empty sentence, or what is wrong with the rows.
std::string read_published_rows(const nlohmann::json& rows, CollectiveCurve& curve) {
  if (!rows.is_array() || rows.empty() || rows.size() > max_collective_sizes) return "needs 1 to 256 rows";
  for (const auto& row : rows) {
    if (!row.is_array() || row.size() != 4) return "has a row that is not four figures";
    const auto at = [&](std::size_t i) { return row[i].is_number() ? row[i].get<double>() : no_figure; };
    const CollectiveSample s{at(0), at(1) * 1e-6, at(2) * 1e-6, at(3) * 1e9};
    if (!(s.bytes > 0 && s.bytes <= 1e15 && s.seconds > 0 && s.seconds <= 1e6))
      return "has a row whose size or time is not above 0";
    if (!curve.samples.empty() && !(s.bytes > curve.samples.back().bytes)) return "has sizes that do not rise";
    curve.samples.push_back(s);
  }
  return {};
}

std::string read_forced(const nlohmann::json& object, NcclForced& forced) {
  const std::string algorithm = published_words(object, "algorithm"), protocol = published_words(object, "protocol");
  for (std::size_t i = 0; i < nccl_algorithm_count; ++i)
    if (nccl_algorithm_name(static_cast<NcclAlgorithm>(i)) == algorithm) {
      forced.algorithm_is_forced = true;
      forced.algorithm = static_cast<NcclAlgorithm>(i);
    }
  for (std::size_t i = 0; i < nccl_protocol_count; ++i)
    if (nccl_protocol_name(static_cast<NcclProtocol>(i)) == protocol) {
      forced.protocol_is_forced = true;
      forced.protocol = static_cast<NcclProtocol>(i);
    }
  const bool known = forced.algorithm_is_forced == !algorithm.empty() && forced.protocol_is_forced == !protocol.empty();
  return known ? "" : "forces an algorithm or a protocol that NCCL does not have";
}

std::string read_published(const nlohmann::json& object, PublishedCollective& out) {
  out.id = published_words(object, "id");
  out.name = published_words(object, "name");
  if (out.id.empty() || out.name.empty()) return "needs an id and a name";
  const auto primitive = published_primitive(published_words(object, "primitive"));
  const auto network = published_place(published_network_ids, published_words(object, "network"));
  if (!primitive || !network) return "names a collective or a network that is not known";
  out.curve.primitive = *primitive;
  out.network = static_cast<CollectiveNetwork>(*network);
  const double ranks = published_number(object, "ranks", 0), node = published_number(object, "node_ranks", 0);
  if (!(ranks >= 2 && ranks <= 1e7 && node >= 1 && node <= 1e7)) return "needs 2 ranks or more and 1 or more a node";
  out.curve.ranks = out.site.ranks = static_cast<std::int64_t>(ranks);
  out.site.ranks_per_node = static_cast<std::int64_t>(node);
  out.site.nic_line_bytes_per_s = std::clamp(published_number(object, "port_gbps", 0), 0.0, 1e6) * 1e9 / 8;
  out.site.one_process = published_flag(object, "one_process");
  out.through_framework = published_flag(object, "through_framework");
  out.curve.times_from_bandwidth = published_flag(object, "times_from_bandwidth");
  out.in_place_column = published_words(object, "column") == "in_place";
  out.library = published_words(object, "library");
  out.gpu = published_words(object, "gpu");
  out.chip = published_words(object, "chip");
  out.inside = published_words(object, "inside");
  out.between = published_words(object, "between");
  out.note = published_words(object, "note");
  out.unmet = published_words(object, "unmet");
  out.source = published_words(object, "source");
  out.url = published_words(object, "url");
  out.date = published_words(object, "date");
  if (const auto causes = object.find("causes"); causes != object.end() && causes->is_array())
    for (const auto& c : *causes)
      if (c.is_object())
        out.causes.push_back(
            {published_number(c, "from_bytes", 0), published_words(c, "cause"), published_words(c, "source")});
  if (const auto misses = object.find("misses"); misses != object.end() && misses->is_array())
    for (const auto& m : *misses)
      if (const auto part = published_place(published_part_names, m.is_string() ? m.get<std::string>() : ""))
        out.misses[*part] = true;
  if (const std::string fault = read_forced(object, out.forced); !fault.empty()) return fault;
  const auto rows = object.find("rows");
  return rows == object.end() ? "has no rows" : read_published_rows(*rows, out.curve);
}

}  // namespace

std::string_view network_words(CollectiveNetwork network) {
  constexpr std::array<std::string_view, collective_network_count> names{
      "no network", "InfiniBand", "RoCE", "EFA", "TCP", "Slingshot", "a network that is not stated",
  };
  return names[static_cast<std::size_t>(network)];
}

Result<std::vector<PublishedCollective>> parse_published_collectives(std::string_view text, std::string_view origin) {
  using Read = Result<std::vector<PublishedCollective>>;
  const std::string file(origin.substr(0, 80));
  const nlohmann::json root = parse_shallow_json(text, 8);
  if (!root.is_object() || !root.contains("curves") || !root["curves"].is_array())
    return Read::fail(file + " holds no list \"curves\" of measured collectives.");
  std::vector<PublishedCollective> out;
  for (const auto& object : root["curves"]) {
    PublishedCollective one;
    const std::string fault = object.is_object() ? read_published(object, one) : "is not an object";
    if (!fault.empty())
      return Read::fail("Curve " + std::to_string(out.size() + 1) + " of " + file + " " + fault + ".");
    for (const PublishedCollective& other : out)
      if (other.id == one.id)
        return Read::fail("Curve " + std::to_string(out.size() + 1) + " of " + file + " has an id that stands before.");
    out.push_back(std::move(one));
  }
  return Read::ok(std::move(out));
}

std::string_view collective_part_name(CollectivePart part) {
  return published_part_names[static_cast<std::size_t>(part)];
}

namespace {

/// Takes one more ratio into a part; the first comparison is with not-a-number.
void widen(PartComparison& part, double ratio, double bytes) {
  if (!(ratio >= part.least)) {
    part.least = ratio;
    part.least_at_bytes = bytes;
  }
  if (!(ratio <= part.most)) {
    part.most = ratio;
    part.most_at_bytes = bytes;
  }
}

/// What a claim rests on.
struct ClaimGrounds {
  bool nvlink = false, fabric = false, pairs = false;
};

/// The sentence where something is not claimed; empty where everything is.
std::string why_no_claim(const PublishedCollective& published, const CollectiveMachine& machine,
                         const ClaimGrounds& grounds) {
  if (!grounds.nvlink)
    return machine.inside == InsideLink::pcie
               ? "No claim is made over PCIe: what a path through the host carries depends on the board."
               : "No claim is made over AMD's links: NCCL's constants were not taken on them.";
  if (!grounds.fabric)
    return "No claim is made over " + std::string(network_words(published.network)) +
           ": there the network's software sets small sizes. Of the all-reduces here on two boxes InfiniBand took 25 "
           "µs, EFA 71 µs and TCPXO 124 µs.";
  if (grounds.pairs) return "No claim is made for small sizes: the tuner has no entry for sends and receives.";
  if (published.through_framework)
    return "No claim is made for small sizes: a framework's call was timed, and its host sets them.";
  return {};
}

}  // namespace

CollectiveComparison compare_collective(const PublishedCollective& published, const CollectiveMachine& machine) {
  constexpr double kib = 1024, gib = 1024.0 * 1024 * 1024;
  const CollectiveCurve& curve = published.curve;
  CollectiveComparison out;
  const auto candidates = nccl_candidates(machine, curve.primitive, published.forced);
  if (candidates.empty()) return out;
  const auto predicted = [&](double bytes) {
    return choose_collective(machine, curve.primitive, candidates, bytes).seconds;
  };
  const auto note = [&](CollectivePart part, double ratio, double bytes) {
    widen(out.parts[static_cast<std::size_t>(part)], ratio, bytes);
  };
  const std::vector<bool> spikes = one_off_spikes(curve);
  for (std::size_t i = 0; i < curve.samples.size(); ++i) {
    const CollectiveSample& s = curve.samples[i];
    const double ratio = predicted(s.bytes) / s.seconds;
    if (s.bytes == gib) note(CollectivePart::gib, 1 / ratio, s.bytes);
    if (s.bytes >= gib && i + 1 == curve.samples.size()) note(CollectivePart::plateau, 1 / ratio, s.bytes);
    if (s.bytes > kib && s.bytes < gib && !spikes[i]) note(CollectivePart::middle, ratio, s.bytes);
  }
  if (const double floor_s = latency_floor_s(curve); !std::isnan(floor_s)) {
    const double bytes = std::min(kib, curve.samples.back().bytes);
    note(CollectivePart::floor, predicted(bytes) / floor_s, bytes);
  }
  const bool fabric =
      published.network == CollectiveNetwork::none || published.network == CollectiveNetwork::infiniband;
  const bool nvlink = machine.inside == InsideLink::nvlink && machine.known_tables;
  const bool pairs = candidates.front().algorithm == NcclAlgorithm::send_receive;
  for (std::size_t i = 0; i < collective_part_count; ++i) {
    PartComparison& p = out.parts[i];
    const auto part = static_cast<CollectivePart>(i);
    const bool small = part == CollectivePart::floor || part == CollectivePart::middle;
    const double tolerance = part == CollectivePart::floor ? claimed_floor : claimed_plateau;
    p.met = part == CollectivePart::middle ? p.least >= 1 / claimed_middle && p.most <= claimed_middle
                                           : p.least >= 1 - tolerance && p.most <= 1 + tolerance;
    p.claimed = p.measured() && fabric && nvlink && !(small && (pairs || published.through_framework));
  }
  out.no_claim = why_no_claim(published, machine, {.nvlink = nvlink, .fabric = fabric, .pairs = pairs});
  return out;
}

}  // namespace models::parallel
