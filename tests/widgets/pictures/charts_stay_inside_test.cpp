#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "tests/support/ui/headless_frame.h"
#include "tests/support/ui/text_inside.h"
#include "widgets/charts/dot_plot.h"
#include "widgets/charts/ecdf.h"
#include "widgets/charts/event_rug.h"
#include "widgets/charts/interval_bar.h"
#include "widgets/charts/port_bars.h"
#include "widgets/charts/tornado.h"
#include "widgets/pictures/bit_rows.h"
#include "widgets/pictures/matrix_view.h"
#include "widgets/pictures/road.h"

using namespace widgets;

namespace {

/// Rows of every chart at once, none to forty, with values that are hard to place.
struct HardRows {
  std::vector<TornadoRow> tornado;
  std::vector<DotRow> dots;
  std::vector<IntervalRow> intervals;
  std::vector<PortRow> ports;
  std::vector<double> values;
  std::vector<std::vector<double>> samples;
  std::vector<EcdfSeries> series;
  std::vector<RoadStretch> road;
  std::vector<std::uint8_t> bits = std::vector<std::uint8_t>(24, 1);
  std::vector<BitRow> rows;
  std::size_t count;

  explicit HardRows(std::size_t n) : samples(n), count(n) {
    const double inf = std::numeric_limits<double>::infinity(), none = std::nan("");
    for (std::size_t i = 0; i < n; ++i) {
      const std::string_view name = i % 3 == 0 ? "a name that is longer than there is room for" : "short";
      const double x = 12345.678 * static_cast<double>(i + 1) * (i % 2 == 0 ? 1 : 1e-6);
      tornado.push_back({name, {-x, i % 4 == 0 ? inf : x / 3}, {-x / 2, i % 5 == 0 ? none : 0}});
      dots.push_back({name, i % 5 == 0 ? inf : x, i % 7 == 0 ? -x : x / 2});
      intervals.push_back(
          {name, i % 4 == 0 ? none : 20, 240, i % 6 == 0 ? none : 60, 75, static_cast<std::int64_t>(i)});
      ports.push_back({name, i % 9 == 0 ? inf : x, i % 5 == 0 ? 0 : 2 * x, "B/cycle"});
      values.push_back(i % 8 == 0 ? none : x);
      for (int k = 0; k < 30; ++k) samples[i].push_back(x * (k + 1));
      road.push_back({static_cast<double>(i) * 3, 3, i % 4 == 0});
    }
    for (std::size_t i = 0; i < n; ++i) {
      series.push_back({tornado[i].label, samples[i], Tint::series(i)});
      rows.push_back({tornado[i].label, bits, {}, static_cast<std::int64_t>(i % 9), "12345.678 FLOP/s", "+"});
    }
  }
};

using Draw = void (*)(const HardRows&, ImVec2 size);
struct Case {
  const char* name;
  Draw draw;
};

const Case cases[] = {
    {"tornado",
     [](const HardRows& r, ImVec2 size) {
       static TornadoView view;
       draw_tornado("tornado", r.tornado, view, {.base = 1e5, .unit = "s", .axis_label = "latency", .size = size});
     }},
    {"dot plot",
     [](const HardRows& r, ImVec2 size) {
       static DotPlotView view;
       draw_dot_plot("dots", r.dots, view, {.unit = "FLOP/s", .axis = AxisKind::log10, .size = size});
     }},
    {"interval bars",
     [](const HardRows& r, ImVec2 size) {
       static IntervalBarView view;
       draw_interval_bars("intervals", r.intervals, view,
                          {.hi = 100, .unit = "%", .axis_label = "share", .size = size});
     }},
    {"port bars",
     [](const HardRows& r, ImVec2 size) {
       static PortBarView view;
       draw_port_bars("ports", r.ports, view, {.size = size});
     }},
    {"ecdf",
     [](const HardRows& r, ImVec2 size) {
       static EcdfView view;
       draw_ecdf("ecdf", r.series, view,
                 {.unit = "s", .axis_label = "latency", .size = size, .limit = 2e4, .confidence = 0.95});
     }},
    {"event rug",
     [](const HardRows& r, ImVec2 size) {
       static EventRugView view;
       draw_event_rug("rug", r.values, view, {.expected_per_unit = 1e-4, .axis_label = "step", .size = size});
     }},
    {"road",
     [](const HardRows& r, ImVec2 size) {
       static RoadView view;
       draw_road("road", r.road, view, {.size = size});
     }},
    {"bit rows",
     [](const HardRows& r, ImVec2 size) {
       static BitRowView view;
       draw_bit_rows("bits", r.rows, view, {.kept = 20, .extra = 3, .size = size});
     }},
    {"matrix",
     [](const HardRows& r, ImVec2 size) {
       static MatrixView view;
       view.zoom_row = view.zoom_col = 0;
       const MatrixData data{.rows = r.count,
                             .cols = r.count * 5,
                             .at = [](const void*, std::size_t a, std::size_t b) { return static_cast<double>(a * b); },
                             .revision = 1};
       draw_matrix("matrix", data, view, {.size = size});
     }},
};

}  // namespace

TEST_CASE("charts keep within the size that they are given, at any size, in every state, and cut no number") {
  for (const Mode mode : {Mode::dark, Mode::light}) {
    support::HeadlessFrame ui({1000, 700}, mode);
    for (const Case& c : cases)
      for (const std::size_t rows : {0, 1, 7, 40})
        for (const ImVec2 size :
             {ImVec2{70, 45}, ImVec2{140, 80}, ImVec2{300, 160}, ImVec2{480, 120}, ImVec2{900, 600}}) {
          const HardRows data(rows);
          Record record;
          ImVec2 at{}, end{};
          ui.frame([&] {
            const Recording recording(record);
            at = ImGui::GetCursorScreenPos();
            c.draw(data, size);
            end = ImGui::GetItemRectMax();
          });
          INFO(c.name << ", " << rows << " rows, " << size.x << " x " << size.y);
          CHECK((end.x - at.x == size.x && end.y - at.y == size.y));
          CHECK(support::first_outside(record, at, {at.x + size.x, at.y + size.y}) == "");
          CHECK(support::cut_number(record) == "");
          CHECK(support::texts_over_each_other(record) == "");
        }
  }
}
