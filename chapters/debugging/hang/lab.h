#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/hang/alarm_cost.h"
#include "models/hang/hang_simulation.h"
#include "models/hang/stock_analyzer.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// A job that hangs, read from what its ranks wrote down: which rank did it, and at which call.
namespace chapters::debugging::hang {

/// Recorded runs first, in the order of `case_ids`.
enum class Case : std::uint8_t {
  loader_stuck,
  skip_call,
  order_type,
  order_buckets,
  shape,
  dtype,
  rank_died,
  groups_cross,
  wrong_root,
  p2p_missing_send,
  ring_wrapped,
  straggler,
  healthy,
  made_up,
  files
};
inline constexpr int case_count = 15;

struct DumpFile {
  FileInput file;
  bool operator==(const DumpFile&) const = default;
};

/// Defaults: four ranks of which one is stuck in its loader.
struct Inputs {
  Case which = Case::loader_stuck;
  models::hang::HangFault planted = models::hang::HangFault::not_arrived;
  std::int64_t seed = 1, tensor_ranks = 2, data_ranks = 4, stages = 1, steps = 3, ahead = 0;
  FileInput dumps;
  std::vector<DumpFile> more_dumps;
  double timeout_s = 600, restart_s = 900, hangs = 4, pauses = 2000, pause_mean_s = 60;
  std::int64_t gpus = 1024;
  bool operator==(const Inputs&) const = default;
};

inline constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// A rank at the end of its records.
struct RankRow {
  std::int64_t rank = 0, calls = 0;
  std::string last, waits_for, part;
  double rings_after_s = absent;
};

struct Outputs {
  models::hang::HangFault fault{};
  std::vector<double> culprit_ranks;
  bool decidable = true, hangs = false;
  double first_divergence = absent, first_culprit = absent;
  std::string divergence_group;
  std::int64_t ranks = 0, missing_dumps = 0, waiting_ranks = 0, records = 0, groups = 0, culprits = 0;
  double rings_first = absent, ring_spread_s = absent;
  double late_calls = absent, late_s = absent;
  models::hang::StockVerdict::Kind stock{};
  std::vector<double> stock_ranks, planted_ranks;
  bool stock_right = false;
  models::hang::AlarmCost cost;
  std::string notes;
  std::vector<RankRow> rank_rows;
  std::string reason;
};

struct Run {
  std::shared_ptr<const models::hang::FlightJob> job;
  models::hang::HangDiagnosis found;
  models::hang::StockVerdict stock;
};

/// What one rank did with one call.
struct Cell {
  enum class State : std::uint8_t {
    none,  ///< nobody of its group made it
    done,
    parted,   ///< retired here, while another rank is still in it: that may be the end of a call that failed
    waits,    ///< it is in it
    queued,   ///< it enqueued it behind the one in which it waits
    hole,     ///< others of its group made it, this rank did not
    dropped,  ///< older than what the ring holds
    no_dump
  };
  State state = State::none;
  std::int32_t call = -1;  ///< place in Picture::calls
  std::int32_t group = -1;
  std::int64_t sequence = 0;
  bool differs = false;  ///< another call than the others made, and the first such
  bool operator==(const Cell&) const = default;
};
struct CallKind {
  std::string name, brief, size, dtype;
  widgets::Tint tint{};
};
/// Calls of the groups with one description, under one heading.
struct Band {
  std::string title;
  std::size_t first = 0, columns = 0;
  std::vector<std::int64_t> sequences;
  std::int64_t left_out = 0;  ///< earlier calls
};
/// A rank, or ranks whose rows are alike.
struct MatrixRow {
  std::string label, ranks, verdict, ring;
  std::vector<Cell> cells;
  std::vector<std::int32_t> waits_for;  ///< rows
  bool culprit = false, rings_first = false, folded = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  std::vector<CallKind> calls;
  std::vector<Band> bands;
  std::vector<MatrixRow> rows;
  std::size_t columns = 0;
  widgets::Curve lost, waiting, falsely;
  double most_s = 3600, most_hours = 1;
};

struct View {
  double accused_row = -1, accused_column = -1;
  widgets::PlotView cost;
  DescribedTable<RankRow> ranks;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_matrix(const Picture& picture, View& view, ImVec2 size);

std::string answer_of(const Inputs& in, const Outputs& out);
/// "2", "0, 1 and 3", "0, 1 and 62 more".
std::string list_ranks(const std::vector<std::int64_t>& ranks, std::size_t most = 4);
/// "all_reduce of 262,144".
std::string call_words(const models::hang::FlightCall& call);
/// The id of a recorded run; empty for what is made up or comes from files.
std::string_view recorded_id(Case which);

void describe(Fields& f, DumpFile& row);
void describe(Fields& f, RankRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, View& view);

}  // namespace chapters::debugging::hang
