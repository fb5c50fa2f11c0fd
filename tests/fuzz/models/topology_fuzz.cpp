// A pasted topology table: what is accepted has every pair once in either direction, and its graph joins all chips by
// links with a rate.
#include "models/parallel/topology/topology_boxes.h"
#include "models/parallel/topology/topology_parse.h"
#include "models/parallel/topology/topology_placement.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::parallel;
  const auto table = parse_topology_table(fuzz::text_of(data, size));
  if (!fuzz::accepted(table)) return 0;
  const std::size_t n = table->devices.size();
  fuzz::require(n >= 1 && n <= max_topology_devices && table->entries.size() == n * n, "a table of another size");
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      fuzz::require((table->at(a, b).label == TopologyLabel::self) == (a == b), "a device that is not itself");
      fuzz::require(table->at(a, b).label == table->at(b, a).label, "a pair with two labels");
    }
  models::Chip chip;
  chip.name = "chip";
  chip.pcie_generation = 5;
  chip.interconnect = {"link", 450e9, 900e9, 18, std::nullopt, std::nullopt};
  const models::Network network{"net", "net", "infiniband", 50e9, ""};
  const auto graph = topology_of_table(*table, chip, network);
  if (!fuzz::accepted(graph)) return 0;
  for (const TopologyLink& link : graph->links)
    fuzz::require(link.a < graph->nodes.size() && link.b < graph->nodes.size() && link.reached_bytes_per_s > 0,
                  "a link without ends or rate");
  TopologyRoutes routes(*graph);
  fuzz::require(routes.connected(), "chips that do not reach each other");
  return 0;
}
