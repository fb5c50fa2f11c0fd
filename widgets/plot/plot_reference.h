#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/plot/plot_layout.h"

/// Another scenario's picture in the axes of this one: while the scenario that was set aside is drawn, its plots, bars,
/// tables and timelines leave here what they show; while the present one is drawn, they paint it pale and dashed under
/// their own, or write it beside what has changed.
namespace widgets {

struct PlotReference {
  struct Series {
    std::uint64_t name = 0;  ///< A number made of kind and label.
    std::vector<PlotPoint> points;
  };
  struct Entry {
    std::vector<Series> series;
    std::vector<PlotPoint> handles;  ///< places of draggable points, in order
    double x_lo = 0, x_hi = 0, y_lo = 0, y_hi = 0;
  };
  /// A cell of a table: as it was shown, and its value in the SI unit where it has one.
  struct Cell {
    std::string text;
    double value = 0;
  };
  using Rows = std::map<std::uint64_t, std::vector<Cell>>;  ///< cells of each row, by reference_key of its first
  /// Where a lane of a timeline ends, in seconds since the timeline's origin.
  struct LaneEnd {
    std::uint64_t name = 0;  ///< reference_key of its label
    double last_s = 0;
  };
  std::map<std::uint64_t, Entry> plots;                     ///< by plot_key
  std::map<std::uint64_t, double> totals;                   ///< The totals of bars, by bar_key.
  std::map<std::uint64_t, Rows> tables;                     ///< by reference_key of its id
  std::map<std::uint64_t, std::vector<LaneEnd>> timelines;  ///< by reference_key of its label, in the lanes' order
  std::size_t clashes = 0;   ///< plots and bars that could not be told apart from an earlier one
  std::uint64_t serial = 0;  ///< another one for every gathering
  bool empty() const { return plots.empty() && totals.empty() && tables.empty() && timelines.empty(); }
};

/// Tells the plots of a lab apart, wherever on the screen and in whichever window they stand.
std::uint64_t reference_key(std::string_view id, std::string_view a = {}, std::string_view b = {});

/// What is drawn while this lives leaves its data in `into`.
class GatherReference {
 public:
  explicit GatherReference(PlotReference& into);
  ~GatherReference();
  GatherReference(const GatherReference&) = delete;
  GatherReference& operator=(const GatherReference&) = delete;
};

/// What is drawn while this lives shows `reference` under its own. Null: nothing.
class ShowReference {
 public:
  explicit ShowReference(const PlotReference* reference);
  ~ShowReference();
  ShowReference(const ShowReference&) = delete;
  ShowReference& operator=(const ShowReference&) = delete;
};

/// The other scenario's picture; null: none is shown.
const PlotReference* reference_in_sight();
/// Where data are to be left in this frame; null: nowhere.
PlotReference* reference_gathered();
/// What the other scenario shows in this plot; null: nothing.
const PlotReference::Entry* reference_shown(std::uint64_t key);
/// The other scenario's total of this bar; null: it has none.
const double* reference_total(std::uint64_t key);

}  // namespace widgets
