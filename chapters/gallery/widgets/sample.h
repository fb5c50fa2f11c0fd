#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/charts/flow_graph.h"
#include "widgets/timeline/timeline.h"

namespace chapters::gallery::widgets {

struct SampleSize {
  std::int64_t seed = 1, points = 100000, spans = 4000, segments = 4, rows = 8, cols = 12, nodes = 9, table_rows = 1000;
  bool operator==(const SampleSize&) const = default;
};

/// Made-up data for every widget: nothing here is measured or modelled.
struct Sample {
  // plots
  std::vector<double> x, wave;                  ///< the long line
  std::vector<double> few_x, curve, low, high;  ///< 24 points with a band
  std::vector<double> bars, layers;             ///< 8 bars; 8 x `segments` layers
  // timeline
  std::vector<::widgets::TimelineSpan> host, device, wire;
  std::vector<::widgets::TimelineLink> links;
  std::vector<::widgets::TimelinePoint> memory;
  // stacks and steps, in seconds
  std::vector<double> before, after, steps;
  // matrix, table, graph
  std::vector<double> cells;
  std::vector<double> table;       ///< bytes, seconds and a count a row
  std::vector<std::string> names;  ///< what the table's rows are called
  std::vector<::widgets::FlowEdge> edges;
  std::vector<double> shares;
};

Sample make_sample(const SampleSize& size);
std::string_view node_name(std::size_t i);
inline constexpr std::size_t max_nodes = 16;

}  // namespace chapters::gallery::widgets
