#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "chapters/gallery/widgets/edges.h"
#include "chapters/gallery/widgets/sample.h"
#include "widgets/charts/byte_strip.h"
#include "widgets/charts/heat_map.h"
#include "widgets/charts/pillars.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/tile_grid.h"
#include "widgets/charts/vessel.h"
#include "widgets/charts/waterfall.h"
#include "widgets/plot/plot.h"
#include "widgets/prose/formula.h"
#include "widgets/prose/prose.h"
#include "widgets/stage/stage.h"
#include "widgets/table/table.h"

namespace chapters::gallery::widgets {

/// What every widget remembers between frames: one View for each place where one is shown.
struct Views {
  ::widgets::PlotView kinds, bars, stacked, areas, long_line;
  double handle_x = 300, handle_y = 2e12, mark_x = 20;
  ::widgets::TimelineView timeline;
  ::widgets::StackedBarView across, up;
  ::widgets::WaterfallView added, multiplied;
  ::widgets::HeatMapView heat, log_heat;
  ::widgets::TileGridView tiles;
  ::widgets::VesselView vessels;
  ::widgets::ByteStripView bytes;
  ::widgets::PillarView pillar_view;
  std::vector<::widgets::Pillar> pillars;
  ::widgets::FlowGraphView right, down;
  ::widgets::TableView table;
  std::array<::widgets::FormulaView, 4> formulas;
  ::widgets::ProseView prose;
  std::vector<::widgets::PlacedLegend> placed;
  std::vector<::widgets::BarSegment> before, after;
  std::vector<::widgets::WaterfallStep> steps, factors;
  std::vector<::widgets::FlowNode> nodes;
  EdgeViews edges;
};

/// The options that a panel's widget shows, in small words over it; the cursor stands below them. Returns what is left
/// of `size`.
ImVec2 shows(std::string_view options, ImVec2 size);

void draw_theme(::widgets::Stage& stage, Views& views);
void draw_axes(::widgets::Stage& stage);
void draw_plots(::widgets::Stage& stage, const Sample& sample, Views& views);
void draw_timelines(::widgets::Stage& stage, const Sample& sample, Views& views);
void draw_bars(::widgets::Stage& stage, const Sample& sample, Views& views);
void draw_grids(::widgets::Stage& stage, const Sample& sample, const SampleSize& size, Views& views);
void draw_vessels(::widgets::Stage& stage, const Sample& sample, Views& views);
void draw_flows(::widgets::Stage& stage, const Sample& sample, Views& views);
void draw_arrows(::widgets::Stage& stage);
void draw_texts(::widgets::Stage& stage, const Sample& sample, Views& views);

}  // namespace chapters::gallery::widgets
