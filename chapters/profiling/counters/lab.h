#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/gpu/counters/kernel_report_file.h"
#include "models/gpu/counters/kernel_verdict.h"
#include "models/gpu/counters/measured_reports.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// Reports of kernels as a map: the tool's rule is the ground, real kernels are the dots.
namespace chapters::profiling::counters {

enum class Source : std::uint8_t { measured, file };

/// Defaults: a matrix product on a T4 that is near neither limit.
struct Inputs {
  Source source = Source::measured;
  std::string kernel = "sgemm_tiled";
  FileInput report;
  std::int64_t report_kernel = 1;
  double low_percent = 60, roof_percent = 80, difference_points = 10;
  std::int64_t blocks = 0, sms = 0;
  bool operator==(const Inputs&) const = default;
};

/// A printed figure, and what follows from others.
struct FigureRow {
  std::string name, printed, follows, how;
};
/// A reason why warps cannot be issued.
struct StallRow {
  std::string reason, means, fix;
  double cycles = std::nan(""), share_percent = std::nan("");
};
/// A kernel of the list that is shown.
struct KernelRow {
  std::string name, verdict, bound, cause, stated, by;
  double time_s = std::nan(""), compute = std::nan(""), memory = std::nan(""), dram = std::nan("");
};

struct Outputs {
  models::gpu::Diagnosis said;
  models::gpu::ReportIdentities also;      ///< with the blocks and SMs that are set
  models::gpu::ReportIdentities reported;  ///< the same as the report has it
  double reported_blocks = std::nan(""), reported_sms = std::nan("");
  double issue_slots_percent = std::nan(""), wavefronts = std::nan("");
  models::gpu::SolVerdict printed_verdict{};
  std::string name, evidence, next_step, stated;
  // In percent, as printed.
  double compute_percent = std::nan(""), memory_percent = std::nan(""), dram_percent = std::nan("");
  double l1_percent = std::nan(""), l2_percent = std::nan(""), pipe_percent = std::nan("");
  bool memory_is_not_dram = false;
  double issue_percent = std::nan(""), no_eligible_percent = std::nan("");
  double active_warps = std::nan(""), eligible_warps = std::nan(""), warp_cycles = std::nan("");
  std::string top_stall;
  double top_stall_percent = std::nan(""), top_stall_cycles = std::nan("");
  double grid_blocks = std::nan(""), sm_count = std::nan("");
  double sm_active_percent = std::nan("");
  std::string occupancy_limit;
  double achieved_percent = std::nan(""), room_percent = std::nan(""), no_room_percent = std::nan("");
  double time_s = std::nan(""), cycles_off_percent = std::nan("");
  double estimates_sum_percent = std::nan(""), largest_estimate_percent = std::nan("");
  double won_times = std::nan("");
  std::int64_t kernels_read = 0, kernels_left_out = 0;
  std::string format;
  std::vector<FigureRow> figure_rows;
  std::vector<StallRow> stall_rows;
  std::vector<KernelRow> kernel_rows;
  std::string reason;
};

struct Run {
  std::vector<const models::gpu::KernelReport*> reports;   ///< All that are listed, in their order.
  std::shared_ptr<const models::gpu::KernelReports> file;  ///< holds them where they are a file's
  std::size_t chosen = 0;
};

/// A dot of the map, which a drag may choose.
struct MapDot {
  double memory = 0, compute = 0;
  std::size_t report = 0;  ///< in the list, and one past the published ones for others
};
struct StallPiece {
  std::string label;
  double cycles = 0;
  bool top = false;
};
struct PipeBar {
  std::string name, value;
  double percent = 0;
  bool active = false;  ///< over active cycles, not elapsed ones
  std::string_view output{};
};
/// How many blocks of an SM one resource allows, or for how much of the time it had no room.
struct RoomBar {
  std::string name, value;
  double share = 0;  ///< part of the bar's length
  bool limit = false;
};
struct LadderBar {
  std::string number, name, time, verdict;
  double time_s = 0;
  widgets::Tint tint{};
  bool chosen = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::vector<widgets::Curve> ground, dots;
  widgets::Curve hollow, path;
  std::vector<std::string> path_numbers;
  std::vector<MapDot> choices;
  std::vector<std::string> ids;  ///< Ids of the published reports, in the order of the list; empty for a file's.
  bool on_map = false;           ///< compute and memory are printed
  double memory = 0, compute = 0;
  std::string off_map;       ///< why the kernel is not on the map
  std::string hollow_words;  ///< what a hollow dot means; empty: the kernel's is not
  std::vector<char> cycles;  ///< A hundred: 0 the longest stall, 1 another, 2 issues; empty: not printed.
  std::string cycles_words, wait_words, no_cycles;
  std::vector<StallPiece> pieces;
  double piece_cycles = 0;
  std::string pieces_words;
  std::vector<PipeBar> pipes;
  std::vector<RoomBar> room;
  std::string room_title, room_words;
  bool room_decides = false;   ///< it is what bounds the kernel, and stands first
  double low = 60, roof = 80;  ///< the thresholds, in percent
  std::vector<LadderBar> ladder;
  std::string ladder_title;
  double longest_s = 0;
};

struct View {
  widgets::PlotView map;
  DescribedTable<FigureRow> figures;
  DescribedTable<StallRow> stalls;
  DescribedTable<KernelRow> kernels;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// Right of the map: a hundred cycles, one instruction, the pipes, the versions.
void draw_inside(const Picture& picture, ImVec2 size);

/// Under this share DRAM is not what "memory" means.
inline constexpr double hbm_from_percent = 15;

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, FigureRow& row);
void describe(Fields& f, StallRow& row);
void describe(Fields& f, KernelRow& row);

}  // namespace chapters::profiling::counters
