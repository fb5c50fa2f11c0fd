#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "widgets/plot/plot_layout.h"

/// Another scenario's picture in the axes of this one: while the scenario that was set aside is drawn, its plots and
/// bars leave here what they show; while the present one is drawn, they paint it pale and dashed under their own.
namespace widgets {

struct PlotReference {
  struct Series {
    std::uint64_t name = 0;  ///< of kind and label
    std::vector<PlotPoint> points;
  };
  struct Entry {
    std::vector<Series> series;
    std::vector<PlotPoint> handles;  ///< places of draggable points, in order
    double x_lo = 0, x_hi = 0, y_lo = 0, y_hi = 0;
  };
  std::map<std::uint64_t, Entry> plots;    ///< by plot_key
  std::map<std::uint64_t, double> totals;  ///< of bars, by bar_key
  std::size_t clashes = 0;                 ///< plots and bars that could not be told apart from an earlier one
  bool empty() const { return plots.empty() && totals.empty(); }
};

/// Tells the plots of a lab apart, wherever on the screen and in whichever window they stand.
std::uint64_t reference_key(std::string_view id, std::string_view a, std::string_view b = {});

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

/// Where data are to be left in this frame; null: nowhere.
PlotReference* reference_gathered();
/// What the other scenario shows in this plot; null: nothing.
const PlotReference::Entry* reference_shown(std::uint64_t key);
/// The other scenario's total of this bar; null: it has none.
const double* reference_total(std::uint64_t key);

}  // namespace widgets
