#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/numerics/low_precision_sum.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// A long sum and a long row of small updates, really carried out in a short format.
namespace chapters::precision::accumulation {

struct Inputs {
  std::string format = "bf16";
  models::SumTerms terms = models::SumTerms::ones;
  std::int64_t count = 16384, block = 128;
  double size = 1;
  double weight = 1, update = 0x1p-9;
  std::int64_t steps = 512, replicas = 64, seed = 1;
  bool operator==(const Inputs&) const = default;
};

struct SumRow {
  std::string name;
  double sum = 0, error = 0;  ///< error in %, over the sum of magnitudes
  std::int64_t moved_last = 0;
  bool overflowed = false;
};
struct UpdateRow {
  std::string name;
  double weight = 0, gained = 0;  ///< gained: % of what all updates add
  std::int64_t first_move = 0;
};

struct Outputs {
  std::string reason;
  double exact_sum = 0;
  std::array<double, models::sum_method_count> error{};  ///< by models::SumMethod, % of the sum of magnitudes
  double ones_stop_at = 0;
  std::string best;                                          ///< name of the method
  double epsilon = 0, spacing = 0;                           ///< above 1; at the weight
  std::array<double, models::update_method_count> weight{};  ///< by models::UpdateMethod, after the last step
  std::array<double, models::update_method_count> gained{};  ///< % of what all updates add
  std::vector<SumRow> sums;
  std::vector<UpdateRow> updates;
  models::SumRun sum_run;
  models::UpdateRun update_run;
};

struct Picture {
  std::uint64_t version = 0;
  bool positive = true;  ///< the exact sum is above zero all the way, so that a log axis shows it
  /// Errors and their bound, not below the foot of the axis, so that an exact sum stays on a log axis.
  std::array<std::vector<double>, models::sum_method_count> error;
  std::vector<double> bound;
  double least_error = 1e-9;
  double weight_lo = 0, weight_hi = 1;  ///< range of the weights drawn
  std::string sum_story, update_story;
};

struct View {
  widgets::PlotView sum, error, weight;
  widgets::TableView sums, updates;
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

void draw_sums_table(const Outputs& out, const Picture& picture, View& view, float width);
void draw_updates_table(const Outputs& out, const Picture& picture, View& view, float width);
/// The same colour for a way of keeping a number in all pictures: numbers of the theme's series, by method.
inline constexpr std::array<std::size_t, models::sum_method_count> sum_series{4, 1, 3, 2, 5, 0};
inline constexpr std::array<std::size_t, models::update_method_count> update_series{4, 1, 3, 0};

void describe(Fields& fields, SumRow& row);
void describe(Fields& fields, UpdateRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::accumulation
