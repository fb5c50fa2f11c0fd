#include <algorithm>
#include <numeric>

#include "chapters/gallery/widgets/rooms.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/lab.h"

/// Every widget with its options, a section at a time: the reference for whoever builds a lab, and the picture in which
/// a change of a widget is seen.
namespace chapters::gallery::widgets {
namespace {

// Of this namespace, so that their descriptions are found.
enum class Section : std::uint8_t {
  plots,
  timeline,
  bars,
  grids,
  graphs,
  comparisons,
  distributions,
  mechanisms,
  vessels,
  texts
};

struct Inputs : SampleSize {
  Section section = Section::plots;
  DataState state = DataState::ordinary;
  bool operator==(const Inputs&) const = default;
};
struct View : Views {};

struct Outputs {
  Sample sample;
  EdgeSample edge;
  SampleSize size;
  double mean = 0, busy_s = 0, stack_s = 0, largest = 0, table_bytes = 0;
  std::int64_t links = 0, edges = 0, cells = 0;
  std::string reason;
};

const Choices section_choices = choices_in_order<Section::texts>({
    {"plots", "Plots", "Theme, axes and plots."},
    {"timeline", "Timeline", "Lanes, spans, links and a counter."},
    {"bars", "Bars", "Stacked bars and waterfalls."},
    {"grids", "Grids", "Heat maps and tiles."},
    {"graphs", "Graphs", "Flow graphs and arrows."},
    {"comparisons", "Comparisons", "Tornado, dot plot, interval bars and port bars."},
    {"distributions", "Distributions", "ECDF and event rugs."},
    {"mechanisms", "Mechanisms", "Road, bit rows and matrix."},
    {"vessels", "Vessels", "Vessels, byte strips and pillars."},
    {"texts", "Texts", "Formulas, table and prose."},
});
const Choices state_choices = choices_in_order<DataState::forty>({
    {"ordinary", "ordinary", "As many as such a picture usually has."},
    {"empty", "empty", "Nothing at all: one sentence says so."},
    {"one", "one point", "A single category, event or cell."},
    {"forty", "40 categories", "More than there may be room for."},
});

void describe(Fields& f, Inputs& in) {
  f.group("What is shown");
  f.choice("section", in.section, section_choices, "Section", "Which widgets are shown.", {.headline = true});
  f.choice("state", in.state, state_choices, "Data", "What comparisons, distributions and mechanisms are given.",
           {.headline = true, .when = {"section", "comparisons|distributions|mechanisms"}});
  f.integer("seed", in.seed, "Seed", "All data is made up from this number.", {.range = {0, 1000}});
  f.group("How much of it");
  f.integer("points", in.points, "Points of the long line", "However many, as many are drawn as pixels can show.",
            {.range = {10, 100000, Scale::log}});
  f.integer("spans", in.spans, "Spans of the timeline", "Narrow neighbours fold into blocks.",
            {.range = {4, 20000, Scale::log}});
  f.integer("segments", in.segments, "Segments of a bar", "Also layers of the stacks and steps of the waterfalls.",
            {.range = {1, 8, Scale::step}});
  f.integer("rows", in.rows, "Rows", "Rows of the heat maps and the tile grid.", {.range = {1, 64}});
  f.integer("cols", in.cols, "Columns", "Columns of the heat maps and the tile grid.", {.range = {1, 64}});
  f.integer("nodes", in.nodes, "Boxes of the flow graph", "Each has an arrow from an earlier one, some have two.",
            {.range = {2, static_cast<double>(max_nodes), Scale::step}});
  f.integer("table_rows", in.table_rows, "Rows of the table", "Only those in sight are asked for.",
            {.range = {1, 5000, Scale::log}});
}

void describe(Fields& f, Outputs& o) {
  f.real("mean", o.mean, "Mean of the long line", {.formula = "sum of y / points"});
  f.real("busy_s", o.busy_s, {"Device busy", "s"}, {.formula = "sum of span lengths"});
  f.real("stack_s", o.stack_s, {"Stack before", "s"}, {.formula = "sum of segments"});
  f.real("largest", o.largest, {"Hottest cell", "B/s"}, {.formula = "maximum of the matrix"});
  f.integer("cells", o.cells, "Cells", {.formula = "rows x columns"});
  f.integer("links", o.links, "Links of the timeline");
  f.integer("edges", o.edges, "Arrows of the flow graph");
  f.real("table_bytes", o.table_bytes, {"Bytes in the table", "B"}, {.formula = "sum of the column"});
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s, {"Cursor of the timeline", "s"}, "Where the timeline's cursor stands.",
         {.range = {0, 10}});
}

Outputs compute(const Inputs& in) {
  Outputs out;
  out.size = in;
  out.sample = make_sample(in);
  out.edge = make_edges(in.state, in.seed);
  const Sample& s = out.sample;
  out.mean = std::accumulate(s.wave.begin(), s.wave.end(), 0.0) / static_cast<double>(s.wave.size());
  for (const auto& span : s.device) out.busy_s += static_cast<double>(span.duration_ns) * 1e-9;
  out.stack_s = std::accumulate(s.before.begin(), s.before.end(), 0.0);
  for (const double x : s.cells) out.largest = x > out.largest ? x : out.largest;
  out.cells = in.rows * in.cols;
  out.links = static_cast<std::int64_t>(s.links.size());
  out.edges = static_cast<std::int64_t>(s.edges.size());
  for (std::size_t i = 0; i < s.table.size(); i += 3) out.table_bytes += s.table[i];
  return out;
}

void draw(::widgets::Stage& stage, Inputs& in, const Outputs& out, View& views) {
  if (out.sample.x.empty()) return;
  switch (in.section) {
    case Section::plots:
      draw_plots(stage, out.sample, views);
      draw_axes(stage);
      draw_theme(stage, views);
      return;
    case Section::timeline:
      draw_timelines(stage, out.sample, views);
      return;
    case Section::bars:
      draw_bars(stage, out.sample, views);
      return;
    case Section::grids:
      draw_grids(stage, out.sample, out.size, views);
      return;
    case Section::vessels:
      draw_vessels(stage, out.sample, views);
      return;
    case Section::graphs:
      draw_flows(stage, out.sample, views);
      draw_arrows(stage);
      return;
    case Section::comparisons:
      draw_comparisons(stage, out.edge, views.edges);
      return;
    case Section::distributions:
      draw_distributions(stage, out.edge, views.edges);
      return;
    case Section::mechanisms:
      draw_mechanisms(stage, out.edge, views.edges);
      return;
    case Section::texts:
      draw_texts(stage, out.sample, views);
      return;
  }
}

}  // namespace

LabPtr make() {
  return make_lab<Inputs, Outputs, View>({"gallery/widgets",
                                          "Widget gallery",
                                          "What can each widget show, and which option asks for it?",
                                          {.hidden = true}},
                                         compute, draw);
}

}  // namespace chapters::gallery::widgets
