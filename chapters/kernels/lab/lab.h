#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "kernels/kernel.h"
#include "models/machine/kernel_prediction.h"
#include "models/machine/kernel_rules.h"
#include "models/machine/roofline.h"
#include "widgets/charts/port_bars.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Ladders of kernels that run on this machine, each rung against its roof. In here `kernels` alone means this chapter:
/// what is measured is `::kernels`.
namespace chapters::kernels::lab {

enum class LabSize : std::uint8_t { smallest, small, usual, large, largest };
enum class Simd : std::uint8_t { avx2, avx512 };
enum class Bound : std::uint8_t { memory, compute, latency };

/// One measured rung: what the worker process found.
struct RunRow {
  std::string ladder, rung;
  std::int64_t size = 0;
  bool cold = true, edited = false;
  double time_s = 0, spread_s = 0;
  std::int64_t samples = 0;
  double flops = 0, bytes = 0, error = 0, error_bound = 0;
  bool compiled = true;
  bool checked = false;  ///< right, and not timed: `failure` says why
  std::string failure, arch;
  std::string diagnostics;  ///< a line each: "12 error text" or "12 note text"; line 0: of no line
  std::int64_t registers = 0, spill_store_bytes = 0, spill_load_bytes = 0, shared_bytes = 0, block_threads = 0;
  bool operator==(const RunRow&) const = default;
};

/// One measured ceiling.
struct RoofRow {
  std::string device, device_name, id, title, unit;
  double value = 0;
  bool operator==(const RoofRow&) const = default;
};

/// What the learner expects of a rung.
struct PredictionRow {
  std::string ladder, rung;
  double share = 0;  ///< %, of its roof; 0: none yet
  bool operator==(const PredictionRow&) const = default;
};

struct Inputs {
  ::kernels::Device device = ::kernels::Device::cpu;
  std::string cpu_ladder = "cpu-sgemm", cuda_ladder = "cuda-transpose", opengl_ladder = "gl-copy";
  std::int64_t rung = 4;
  LabSize size = LabSize::usual;
  std::string chip = "h100_sxm";
  Simd simd = Simd::avx2;
  double clock_hz = 4e9, dram_bytes_per_s = 40e9;
  bool cold = true, predict_first = true;
  std::int64_t seed = 1;
  double seconds_per_rung = 0.5;
  std::vector<PredictionRow> predictions;  ///< one a rung, from all ladders
  std::vector<RunRow> runs;
  std::vector<RoofRow> roofs;
  bool operator==(const Inputs&) const = default;
};

/// What was not measured, predicted or published.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The selected rung. Shares are of its roof, in %.
struct RungFigures {
  std::string title, limit;
  Bound bound = Bound::compute;
  double predicted_share = 0, floor_s = 0, predicted_s = 0, next_gain = 0;
  double share = no_number, time_s = no_number, spread = no_number, flops_per_s = no_number, bytes_per_s = no_number,
         error = no_number, error_bound = no_number;
  double your_share = no_number, prediction_miss = no_number, published_share = no_number;
  double next_measured_gain = no_number, next_published_gain = no_number;  ///< times as fast: here, and elsewhere
  std::int64_t samples = 0, registers = 0, spill_bytes = 0, shared_bytes = 0, changed_lines = 0;
};

/// The best measured rung of the ladder against the first, and the same by the model.
struct BestFigures {
  std::string title;
  double flops_per_s = no_number, bytes_per_s = no_number, share = no_number, speedup = no_number;
  double predicted_speedup = 0;
};

/// Ceilings that the selected rung is held against.
struct RoofFigures {
  double flops_per_s = 0, bytes_per_s = 0, ridge = 0, attainable_flops_per_s = 0, clock_hz = 0;
  bool measured = false;
};

struct Outputs {
  std::string reason;
  RungFigures rung;
  BestFigures best;
  RoofFigures roof;
  double flops = 0, bytes = 0, intensity = 0;  ///< what the operation takes at `size`
  std::int64_t size = 0, rungs = 0, measured_rungs = 0, failed_rungs = 0, checked_rungs = 0;
  std::int64_t rows = 0, roof_rows = 0, prediction_rows = 0;
  std::string command;
};

/// One rung against its roof. Shares are of it, 1 is the roof; below 0: there is none.
struct RungShares {
  double predicted = -1, yours = -1, measured = -1, published = -1;
  Bound bound = Bound::compute;
  bool hidden = false;  ///< measured, and not yet predicted by the learner
  bool failed = false, above_roof = false;
  bool checked = false;  ///< right here, and not timed
};

/// Ceilings in force: measured ones where there are, else what is assumed of the core or stated by the chip.
struct Ceilings {
  models::Machine machine;
  models::KernelMachine ports;
  double link_bytes_per_s = 0;  ///< to the host, both ways, as the chip states it
  bool arithmetic_measured = false, bandwidth_measured = false;
  std::string arithmetic, bandwidth;  ///< names for the caption
};

struct RatedRung : RungShares {
  std::shared_ptr<const RunRow> run;  ///< its latest; null when there is none
  Ceilings ceilings;
  bool bandwidth = false;  ///< its roof is one of bytes, not of operations
  double floor_s = 0, predicted_s = 0;
  models::KernelBound limit;                           ///< by the model, as a share of this rung's roof
  std::optional<models::KernelPrediction> prediction;  ///< as the model states it
};

struct Run {
  const ::kernels::Ladder* ladder = nullptr;
  std::size_t selected = 0;      ///< which of its rungs the figures are of
  std::vector<RatedRung> rungs;  ///< all of them, each against its roof
  const ::kernels::Rung& rung() const { return ladder->rungs[selected]; }
};

/// What is drawn of one rung. Rates are in Picture::unit; below 0: there is none to show.
struct Bar : RungShares {
  std::string_view id, title, change;
  double roof_rate = -1, predicted_rate = -1, measured_rate = -1, published_rate = -1;
  double slow_rate = -1, fast_rate = -1;  ///< ends of the interquartile range
  std::string rate, time, share, hover, published_text, published_share;
  std::string why_above;  ///< why a measurement may lie above its roof
  /// It was measured here, and does not wait for its prediction.
  bool shown() const { return measured_rate > 0 && !hidden; }
};

struct PlotPicture {
  bool shown = false;  ///< the operation has arithmetic, so that there is a roofline
  double x_lo = 0.1, x_hi = 1000, y_lo = 1, y_hi = 10;
  widgets::Curve roof;  ///< the peak; the slopes below it are `ceilings`
  /// Rates of the rungs over the operations for each byte that crosses a level of memory, from the registers outwards.
  std::vector<widgets::Curve> levels;
  widgets::Curve selected;  ///< the selected rung's dots, one a level
  /// A bandwidth has the tint of the dots that it bounds: of the first level, of what lies behind it, of main memory.
  std::vector<widgets::Curve> ceilings;
};

struct SourceLine {
  std::string_view text;
  bool changed = false;
};

/// What the compiler says of a line, from 1; 0: of no line.
struct Note {
  std::int64_t line = 0;
  bool error = false;
  std::string text;
};

struct SourcePicture {
  std::vector<SourceLine> lines;
  std::vector<Note> notes;  ///< what the compiler says about the selected rung or its edited text
  bool edited_result = false;
  std::string edited_text, failure, report_text, next_text;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::string elsewhere;         ///< the machine of the marks that others measured; empty where there are none
  std::string change, caption;   ///< what the selected rung changes; its roof and the operation's size
  std::string unit;              ///< what rates are counted in: "FLOP/s" or "B/s"
  double highest = 1;            ///< right end of the rungs' axis
  std::int64_t noisy_rungs = 0;  ///< those whose samples spread widely
  bool any_hidden = false;       ///< a rung was measured and waits for its prediction
  std::vector<Bar> bars;
  std::vector<widgets::PortRow> ports;  ///< those that the selected rung uses
  PlotPicture plot;
  SourcePicture source;
  LabDoors doors;
};

struct View {
  Requests requests;                       ///< its work is for the app's service "kernels"
  bool editing = false;                    ///< the editor of sources for a GPU is open
  std::string edited_rung, edited_source;  ///< "ladder/rung"
  std::string shown_source;                ///< the edited text that `shown_lines` are of
  std::vector<SourceLine> shown_lines;
  widgets::PlotView plot;
  widgets::PortBarView ports;
};

void describe(Fields& f, PredictionRow& r);
void describe(Fields& f, RunRow& r);
void describe(Fields& f, RoofRow& r);
void describe(Fields& f, Inputs& in);
chapters::Computed<Outputs, Run> compute(const Inputs& in);
/// Labs of this chapter with what the selected rung does; for a CPU's rung the one that times it in turns.
LabDoors doors_of(const Inputs& in, const Run& run);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// The ladder that is chosen for the device.
const std::string& chosen_ladder(const Inputs& in);
/// The ladder's size for the choice: its default, a quarter or a sixteenth of it, the most it takes, or half way
/// (geometrically) to that.
std::int64_t size_of(const ::kernels::Ladder& ladder, LabSize size);
/// Lines "key value" that the app's service "kernels" reads; the last key, edited_source, takes the rest of the text.
std::string run_request(const Inputs& in, const Outputs& out, const Run& run, bool all, const View* edited);
/// The lines of the text in the editor, with those that the rung's own source does not have; done anew where the text
/// changed.
void refresh_edited_lines(std::string_view source, View& view);
/// Does the text ask the compiler for files? It then reads them on this machine, whoever wrote the text.
bool asks_for_files(std::string_view text);
std::string roofline_request(::kernels::Device device);

}  // namespace chapters::kernels::lab
