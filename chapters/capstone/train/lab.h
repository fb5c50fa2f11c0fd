#pragma once
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/capstone/shared/board.h"
#include "chapters/capstone/shared/game_fields.h"
#include "chapters/capstone/train/job.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/memo.h"
#include "widgets/base/parts.h"

/// The design of a long training run, move by move, in days.
namespace chapters::capstone::train {

enum class Size : std::uint8_t { b70, b100, b405 };

/// What no slab shows; ticked by whoever plans the run.
enum class Item : std::uint8_t { loader, order, restore, hardware, slow, spike, evaluation, canary };
inline constexpr std::size_t item_count = 8;

struct Inputs {
  std::string rounds = "pipeline_16, interleave, keep_all, selective";
  std::vector<double> said{10'368'000, 8'208'000, 7'344'000, 6'912'000};  ///< before each round: the run, s
  Size size = Size::b405;
  std::string chip = "h100_sxm";
  std::int64_t gpus = 16384, global_batch = 2048, sequence = 8192;
  double tokens = 15.6e12, target_s = 75 * 86400.0, port_bytes_per_s = 50e9;
  double gpu_hours_per_failure = 50'700, interval_s = 3600, save_s = 30, restart_s = 600;
  double save_beside_s = 5, restart_spares_s = 120;
  double spread_slow = 2, spread = 0.4;  ///< %
  double price_per_hour = 2;
  std::array<bool, item_count> ticked{};
  bool operator==(const Inputs&) const = default;
};

struct RoundRow {
  std::string move;
  double wall_s = 0, won_s = 0, mfu = 0, efficiency = 0, memory_bytes = 0, said_s = 0;
  std::string bounced;
};
struct CauseRow {
  std::string cause;
  double wall_s = 0, share = 0;  ///< share in %
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  Score score;
  double wall_s = 0, over_s = 0, start_s = 0, compute_s = 0;
  double step_s = 0, steps = 0, mfu = 0, efficiency = 0;  ///< % both shares
  double memory_bytes = 0, room_bytes = 0, dollars = 0, gpu_hours = 0, failures = 0;
  double bubble_over_work = 0;                      ///< %
  double clock_at_best = 0, waits_for_slowest = 0;  ///< %
  bool met = false, bounced = false;
  std::string plan, longest;
  std::int64_t ticked = 0, gpus_used = 0, batch_used = 0;
  double lost_s = 0;  ///< what the round that lost most lost; 0: none did
  double last_lost_s = 0;
  double best_wall_s = none, behind_best = none;
  std::string best_plan;
  double study_wall_s = none, study_mfu = none, study_memory_bytes = none;
  std::string study_says;
  double state_bytes = 0;  ///< 16 bytes a parameter
  std::vector<RoundRow> board;
  std::vector<CauseRow> causes;
};

/// The lab that a thing is about.
struct ItemLab {
  std::string name, link;
};
struct Game {
  std::shared_ptr<const RunGame> rules;
  Played played;
  std::vector<std::string> links;
  std::vector<models::Result<std::string>> doors;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  Board board;
  std::vector<std::string> links;
  LabDoors doors;
  std::array<ItemLab, item_count> item_labs;
  std::string ticked_words;
};

struct View {
  Requests requests;
  BoardView board;
  DescribedTable<RoundRow> rounds;
  DescribedTable<CauseRow> causes;
};

/// What the planner found for a job: the fastest plan that fits, with the run's failures at the best interval.
struct BestPlan {
  double wall_s = 0;
  std::string plan;
};
struct SearchKey {
  Inputs inputs;
  int cards = 0;  ///< par: games of at most so many are looked at; the planner: 1 for 8-bit products
  bool operator==(const SearchKey&) const = default;
};
struct Searches {
  Memo<SearchKey, Par> par;
  Memo<SearchKey, BestPlan> best;
};

void describe(Fields& f, RoundRow& r);
void describe(Fields& f, CauseRow& r);
std::string_view item_name(Item item);
models::Result<Job> job_of(const Inputs& in);
/// Links to the labs of a round's plan and of its failures.
models::Result<std::string> planner_link(const Inputs& in, const Run& run);
models::Result<std::string> train_time_link(const Inputs& in, const Run& run, const Outcome& outcome);
const ItemLab& item_lab(Item item);
Computed<Outputs, Game> compute(const Inputs& in, Progress& progress, Searches& searches);
std::string answer_of(const Outputs& out);
Picture arrange(const Inputs& in, const Outputs& out, const Game& game);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::capstone::train
