#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/numerics/low_precision_sum.h"
#include "widgets/plot/curve.h"
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
  models::SumFigures naive;  ///< one accumulator in the format
  models::UpdateFigures update;
};

struct Run {
  models::SumRun sums;
  models::UpdateRun updates;
  std::vector<double> terms, stored;  ///< one an addition of the naive sum: what is added, and the sum after it
};

/// One addition of the naive sum: the window of bits that the format keeps of the sum before it, and the term.
struct WindowRow {
  std::string before, result;   ///< "256", "+1 = 256"
  int top = 0, last = 0;        ///< exponents of the first and the last bit that the format keeps of the sum before
  std::vector<int> ones, term;  ///< exponents of the bits that are 1, of that sum and of the term; the first first
  bool lost = false;            ///< the stored sum is not the exact one
  bool stalled = false;         ///< the stored sum is the sum before, although the term is not 0
};

/// Additions over columns of fixed place values: those before which the sum first had a new first bit, then one.
struct AdderWindow {
  int top = 0, last = 0;  ///< exponents of the columns
  std::vector<WindowRow> rows;
  std::string words;  ///< what happens in the last row
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  bool positive = true;  ///< the exact sum is above zero all the way, so that its axis is a logarithm
  /// What is lost, the exact sum, the one accumulator, and a mark at the end for each result of the other methods.
  std::vector<widgets::Curve> sums;
  std::vector<widgets::Curve> errors;  ///< the bound, then the methods' from the last to the first
  widgets::Curve exact_weight;
  std::vector<widgets::Curve> weights;  ///< one stochastic weight, then by method
  double sum_lo = 1, sum_hi = 2;        ///< range of the sums drawn
  int exact_top = 1;                    ///< exponent of the exact sum
  double least_error = 1e-9;  ///< foot of the axis of errors; those that are 0 have a band of their own under it
  const models::FloatFormat* format = nullptr;
  std::int64_t shown_first = 1;         ///< the addition that is shown until another is chosen; counted from 1
  double weight_lo = 0, weight_hi = 1;  ///< range of the weights drawn
  bool of_weight = false;               ///< what was set is about the weight, so that its updates are the answer
  std::string update_story;
};

struct View {
  double addition = 0;  ///< which one the adder shows, counted from 1; 0: the one that tells most
  /// The addition and the number of rows that the window was last made for.
  AdderWindow shown;
  std::int64_t shown_addition = 0;
  std::uint64_t shown_version = 0;
  std::size_t shown_rows = 0;
  widgets::PlotView sum, error, weight;
  widgets::TableView sums, updates;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, const Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The n-th addition of the naive sum, counted from 1, under at most `most_rows` - 1 that came before it.
AdderWindow window_of(const models::FloatFormat& format, const Run& run, std::int64_t n, std::size_t most_rows);
/// The window at the chosen addition, over words that say what happens there.
void draw_window(const Picture& picture, View& view, ImVec2 size);

/// The sums of all methods over the weights of all methods.
void draw_tables(const Outputs& out, View& view, ImVec2 size);
/// The same colour for a way of keeping a number in all pictures: numbers of the theme's series, by method.
inline constexpr std::array<std::size_t, models::sum_method_count> sum_series{4, 1, 3, 2, 5, 0};
inline constexpr std::array<std::size_t, models::update_method_count> update_series{4, 1, 3, 0};

}  // namespace chapters::precision::accumulation
