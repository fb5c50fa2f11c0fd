#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/numerics/low_precision_sum.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between accumulation.cpp (described), accumulation_compute.cpp and accumulation_draw.cpp.
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
  double exact_sum = 0, naive_sum = 0, naive_error = 0, pairwise_error = 0, kahan_error = 0, blocked_error = 0,
         wide_error = 0, stochastic_error = 0;  ///< errors in %
  double ones_stop_at = 0;
  std::int64_t stops_after = 0;  ///< of the naive sum
  std::string best;
  double epsilon = 0, spacing = 0, smallest_visible = 0, start = 0;
  bool update_seen = false;
  double exact_weight = 0, plain_weight = 0, master_weight = 0, stochastic_weight = 0, stochastic_deviation = 0,
         kahan_weight = 0;
  double plain_gained = 0, master_gained = 0, stochastic_gained = 0, kahan_gained = 0;  ///< %
  std::int64_t master_first_move = 0;
  std::vector<SumRow> sums;
  std::vector<UpdateRow> updates;

  // For the picture alone.
  std::shared_ptr<const models::SumRun> run;
  std::shared_ptr<const models::UpdateRun> trial;
  std::array<std::vector<double>, models::sum_method_count>
      shown_error;  ///< with a floor, so that an exact sum stays on a log axis
  std::vector<double> bound;
  double floor = 1e-9;
  double weight_lo = 0, weight_hi = 1;  ///< of the weights drawn
  std::string sum_story, update_story, format_name;
  std::uint64_t version = 0;
};

struct View {
  widgets::PlotView sum, error, weight;
  widgets::TableView sums, updates;
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, SumRow& row);
void describe(Fields& fields, UpdateRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::accumulation
