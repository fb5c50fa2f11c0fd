#pragma once
#include "models/parallel/topology/topology_graph.h"

/// Two sums of a graph's links that are often taken for one another.
namespace models::parallel {

/// What the first half of the chips can send to the second at once, in one direction, B/s: the largest flow through the
/// links and switches (Ford, Fulkerson 1956). Halves go by the numbers of the chips, which keep machines, sockets and
/// the layers of a torus whole; of an odd count the second half has one more. 0 with fewer than two chips.
double topology_bisection(const Topology& graph, bool line_rates);

/// The ports of all chips to one another (NVLink, xGMI, ICI), both directions added, as vendors state a whole machine,
/// B/s; a link from chip to chip has a port at either end.
double topology_ports(const Topology& graph, bool line_rates);

}  // namespace models::parallel
