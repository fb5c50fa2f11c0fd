#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/parallel/collectives/collective_fit.h"
#include "models/parallel/collectives/collective_published.h"
#include "widgets/plot/plot.h"
#include "widgets/stage/stage.h"
#include "widgets/table/table.h"

/// Measured runs of collectives beside straight lines and what the hardware lets expect.
namespace chapters::distributed::collectives {

/// Rows of a published run of 16 H100 as nccl-tests prints them: what the log holds until another is pasted. Source:
/// issue 309 of nccl-tests.
std::string_view example_log();

struct MeasuredInputs {
  std::string run = "h100-8-allreduce-dgx";  ///< id of the catalog, or "log"
  std::string log = std::string(example_log());
  // What is known of the machine of a log; a published run states its own.
  std::string log_chip = "h100_sxm";
  std::int64_t log_node_ranks = 8;
  double log_port_bytes_per_s = 50e9;
  bool nvls = true, in_network = false;
  bool operator==(const MeasuredInputs&) const = default;
};

struct CrossingRow {
  double from_bytes = 0, to_bytes = 0, time_ratio = 0, line_ratio = 0;
  std::string kind, second_column, cause;
};

/// What NCCL is expected to take from one size on.
struct ChoiceRow {
  double from_bytes = 0;
  std::string choice, limit;
};

/// What NCCL weighs on the machine of the run.
struct CandidateRow {
  std::string name;
  double latency_s = 0, bandwidth_bytes_per_s = 0;  ///< bandwidth: bytes of the buffer a second, within the links
  std::string limit;
};

struct MeasuredOutputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string run_says;  ///< why there is no run, or no prediction; empty: there are both
  std::string log_says;  ///< what is odd in a log, in sentences; empty of a published run
  double ranks = none, sizes = none, spikes = none;
  double alpha_s = none, line_bus_bytes_per_s = none;
  double one_line_percent = none, one_line_worst_percent = none, two_lines_percent = none, three_lines_percent = none;
  double measured_floor_s = none, predicted_floor_s = none, measured_gib_bytes_per_s = none,
         predicted_gib_bytes_per_s = none, measured_largest_bytes_per_s = none, predicted_largest_bytes_per_s = none;
  double middle_least_percent = none, middle_most_percent = none;
  std::string claims;  ///< which parts the prediction answers for, and which of them it misses
  std::vector<CrossingRow> crossings;
  std::vector<ChoiceRow> choices;
  std::vector<CandidateRow> candidates;
};

struct MeasuredMark {
  double bytes = 0, time_s = 0;
  std::string said, info, cause;  ///< cause empty: noise
};
/// One algorithm and protocol against `MeasuredPicture::weighed_bytes`.
struct CandidateLine {
  std::string name, info;
  std::size_t algorithm = 0, protocol = 0;  ///< models::parallel::NcclAlgorithm, NcclProtocol
  std::vector<double> time_s;
};
struct MeasuredPicture {
  std::string title;    ///< the run
  std::string figures;  ///< its floor and plateau, and the hardware's
  std::string source;
  std::vector<double> bytes, time_s, spike_bytes, spike_s;
  std::vector<double> line_s, lines_s, predicted_s;        ///< against `bytes`; empty: there is none
  std::vector<double> line_off, lines_off, predicted_off;  ///< (model - measured) / measured, %
  std::vector<MeasuredMark> crossings, choices;
  std::vector<double> weighed_bytes, chosen_s;
  std::vector<CandidateLine> candidates;
  std::vector<std::string> notes;
  double least_s = 1e-6, most_s = 1;
};

struct MeasuredView {
  widgets::PlotView times, errors, weighed;
  widgets::PlotLink link;
  widgets::TableView parts, crossings;
  std::string paste_says;
};

/// Logarithmic axes of bytes, over those of a curve, which are at least one, and of time.
widgets::AxisSpec bytes_axis(const std::vector<double>& bytes);
widgets::AxisSpec log_time_axis(double least_s, double most_s);

MeasuredOutputs compute_measured(const MeasuredInputs& in);
MeasuredPicture arrange_measured(const MeasuredInputs& in, const MeasuredOutputs& out);
/// The panel of the curve, and the one of the figures and what there is to say of them.
void draw_measured_run(widgets::Stage& stage, MeasuredInputs& in, const MeasuredPicture& picture, std::uint64_t version,
                       MeasuredView& view);
void draw_measured_parts(widgets::Stage& stage, const MeasuredOutputs& out, const MeasuredPicture& picture,
                         std::uint64_t version, MeasuredView& view);
void draw_weighed(widgets::Stage& stage, const MeasuredPicture& picture, std::uint64_t version, MeasuredView& view);

void describe(Fields& f, MeasuredInputs& in);
void describe(Fields& f, MeasuredOutputs& out);

}  // namespace chapters::distributed::collectives
