#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/charts/dot_plot.h"
#include "widgets/charts/ecdf.h"
#include "widgets/charts/event_rug.h"
#include "widgets/charts/interval_bar.h"
#include "widgets/charts/port_bars.h"
#include "widgets/charts/tornado.h"
#include "widgets/pictures/bit_rows.h"
#include "widgets/pictures/matrix_view.h"
#include "widgets/pictures/road.h"
#include "widgets/stage/stage.h"

namespace chapters::gallery::widgets {

/// What a chart is given: it must be readable in each of these states.
enum class DataState : std::uint8_t { ordinary, empty, one, forty };

/// Made-up data for the charts of one row a category and for the pictures of mechanisms.
struct EdgeSample {
  DataState state = DataState::ordinary;
  std::uint64_t seed = 0;
  std::size_t rows = 0;                           ///< categories
  std::vector<std::string> names;                 ///< what the categories are called
  std::vector<double> falls, rises, rest;         ///< changes of an output in s, and what is left on top of the others
  std::vector<double> bounds, measured;           ///< in FLOP/s
  std::vector<double> demand, supply;             ///< bytes a cycle of a port
  std::vector<double> low, mean, high;            ///< a share in percent
  std::vector<std::int64_t> counts;               ///< observations behind it
  std::vector<std::vector<double>> latencies;     ///< a series each, in s
  std::vector<double> few_events, many_events;    ///< step numbers
  std::vector<::widgets::RoadStretch> stretches;  ///< a drive along a road
  std::vector<std::vector<std::uint8_t>> bits;    ///< rows of an adder
  std::vector<std::int64_t> shifts;
  std::vector<double> weights;  ///< a matrix, pruned 2 of 4
  std::size_t matrix_rows = 0, matrix_cols = 0;
};
EdgeSample make_edges(DataState state, std::int64_t seed);

/// One View for each of these charts, and the rows that they are drawn from.
struct EdgeViews {
  ::widgets::TornadoView tornado;
  ::widgets::DotPlotView dots, log_dots;
  ::widgets::IntervalBarView intervals;
  ::widgets::PortBarView ports;
  ::widgets::EcdfView ecdf, log_ecdf;
  ::widgets::EventRugView few, many;
  ::widgets::RoadView road;
  ::widgets::BitRowView adder;
  ::widgets::MatrixView matrix, wide;
  std::vector<::widgets::TornadoRow> tornado_rows;
  std::vector<::widgets::DotRow> dot_rows;
  std::vector<::widgets::IntervalRow> interval_rows;
  std::vector<::widgets::PortRow> port_rows;
  std::vector<::widgets::EcdfSeries> series;
  std::vector<::widgets::BitRow> bit_rows;
};

void draw_comparisons(::widgets::Stage& stage, const EdgeSample& sample, EdgeViews& views);
void draw_distributions(::widgets::Stage& stage, const EdgeSample& sample, EdgeViews& views);
void draw_mechanisms(::widgets::Stage& stage, const EdgeSample& sample, EdgeViews& views);

}  // namespace chapters::gallery::widgets
