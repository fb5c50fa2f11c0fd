#pragma once
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "chapters/distributed/collectives/measured_source.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/base/result.h"
#include "widgets/plot/plot.h"
#include "widgets/stage/stage.h"
#include "widgets/table/table.h"

/// Measured runs of collectives beside straight lines and what the hardware lets expect.
namespace chapters::distributed::collectives {

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
  std::string claims;    ///< which parts the prediction answers for, and which of them it misses
  std::string no_claim;  ///< why it answers for fewer than all; empty where nothing is to be said
  std::vector<CrossingRow> crossings;
  std::vector<ChoiceRow> choices;
  std::vector<CandidateRow> candidates;
};

struct MeasuredMark {
  double bytes = 0, time_s = 0;
  std::string said, info, cause;  ///< cause empty: noise
};
/// A line of the table of parts; NaN: there is none. `off`: prediction over measurement, less 1, in %.
struct PartLine {
  std::string_view name, unit;
  double measured = 0, predicted = 0, off = 0;
};
struct MeasuredPicture {
  std::string title;    ///< the run
  std::string figures;  ///< its floor and plateau, and the hardware's
  std::string source;
  widgets::Curve measured, spikes;                    ///< times against bytes; `spikes`: left out of every fit
  widgets::Curve line, lines, predicted;              ///< times against bytes; without points: there is none
  widgets::Curve line_off, lines_off, predicted_off;  ///< (model - measured) / measured, %
  std::vector<MeasuredMark> crossings, choices;
  widgets::Curve chosen;                   ///< what NCCL ranks first at each size
  std::vector<widgets::Curve> candidates;  ///< one an algorithm and protocol
  std::vector<PartLine> parts;
  std::vector<std::string> notes;
  double least_s = 1e-6, most_s = 1;
};

struct MeasuredView {
  widgets::PlotView times, errors, weighed;
  widgets::PlotLink link;
  widgets::TableView parts;
  std::string paste_says;
};

/// Logarithmic axes of bytes, over those of a curve, which are at least one, and of time.
widgets::AxisSpec bytes_axis(const std::vector<double>& bytes);
widgets::AxisSpec log_time_axis(double least_s, double most_s);

/// What is found about a run of the catalog, or about a log.
struct MeasuredFound {
  MeasuredOutputs facts;
  MeasuredRun run;
};
MeasuredFound compute_measured(const MeasuredInputs& in);
MeasuredPicture arrange_measured(const MeasuredOutputs& out, const MeasuredRun& run);
/// What of a pasted text becomes the input `log`: all of it, or of a long one the lines that are read. Fails with a
/// sentence.
models::Result<std::string> log_of_paste(std::string text);
/// The panel of the curve, of its figures and what there is to say of them, and of what NCCL weighs.
void draw_measured(widgets::Stage& stage, MeasuredInputs& in, const MeasuredPicture& picture, MeasuredView& view);
/// The algorithms that NCCL compares, in `size` px; there must be candidates.
void draw_weighed(const MeasuredPicture& picture, MeasuredView& view, ImVec2 size);

void describe(Fields& f, MeasuredInputs& in);
void describe(Fields& f, MeasuredOutputs& out);

}  // namespace chapters::distributed::collectives
