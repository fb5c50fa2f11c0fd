#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/described/serving_choices.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/serving/fleet/load_ladder.h"
#include "models/serving/fleet/load_run.h"
#include "models/serving/prefix/serving_sessions.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Load against latency: the stick of all requests' first tokens, the limit that cuts it, and the hill of those that
/// are in time.
namespace chapters::serving::slo {

enum class Arrivals : std::uint8_t { poisson, bursty, waves, gamma };

/// Defaults: conversations as long as those of Azure's trace of 2023 reach one replica beyond its knee.
struct Inputs {
  double ttft_limit_s = 1, tpot_limit_s = 0.05, share = 0.99, arrival_rate = 17;
  std::int64_t replicas = 1;
  models::FleetRouter router = models::FleetRouter::round_robin;
  models::ScaleSignal scale_on = models::ScaleSignal::none;
  double target_queue = 2, target_percent = 60;
  std::int64_t most_replicas = 4;
  double look_s = 15, cold_start_s = 60, hold_s = 30;
  std::int64_t longest_queue = 0;
  double drop_after_s = 0;
  Arrivals arrivals = Arrivals::poisson;
  double burst = 3, burst_s = 10, wave = 0.6, wave_s = 60, gap_cv = 3;
  std::int64_t requests = 1500;
  double turns = 1;
  std::int64_t open_sessions = 200;
  std::int64_t seed = 1;
  FileInput trace;
  double prompt_tokens = 1200, output_tokens = 200, length_variation = 0.9;
  ServiceKind service = ServiceKind::llm;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t chips = 8;
  models::Format format = models::Format::bf16;
  models::KvFormat kv_format = models::KvFormat::bf16;
  models::ServingPolicy policy = models::ServingPolicy::chunked;
  std::int64_t slots = 256, chunk_tokens = 2048;
  double service_time_s = 0.8;
  double fixed_s = 2e-3, per_prompt_token_s = 50e-6, per_output_token_s = 20e-3;
  std::int64_t servers = 1;
  bool operator==(const Inputs&) const = default;
};

struct Outputs {
  double goodput_per_s = 0, goodput_half_per_s = std::nan(""), throughput_per_s = 0, arrivals_per_s = 0;
  double knee_rate_per_s = std::nan(""), lost_per_s = 0;
  double in_time_percent = 0, late_percent = 0, slow_percent = 0, sent_away_percent = 0;
  models::ServingSummary figures;  ///< but its goodput; what grows with an overloaded run is NaN
  std::string state;
  double capacity_per_s = 0, replicas_needed = std::nan("");
  double paid_replicas = 0, busy_percent = 0, kept_tokens_percent = 0, prompt_mean_tokens = 0;
  std::int64_t most_replicas = 0, preemptions = 0, queue_refused = 0, dropped = 0, too_long = 0;
  double file_rate_per_s = std::nan(""), offered_load = std::nan("");
  std::int64_t failed = 0, measured = 0, runs = 0;
  double run_s = 0;  ///< length of the run at the load, arrivals alone
  std::string reason;
};

/// Runs of a scenario, by load; kept while limits and loads are dragged.
struct Scenario {
  std::vector<models::ServingRequest> recorded;  ///< requests of a file, at its own times
  double recorded_per_s = std::nan("");
  models::NamedPrompts named;  ///< blocks of their prompts, where the file names them
  std::int64_t failed = 0;
  models::ServingCost cost;
  std::int64_t blocks = 0;
  double capacity_per_s = 0;
  models::LoadLadder ladder;
  std::string refused;  ///< not empty: there is nothing to run, and why
  mutable Memo<double, models::LoadRun, 48> runs;
};
/// By the inputs with limits and load at their defaults: states that differ in these alone share the runs.
using Scenarios = Memo<Inputs, Scenario, 3>;

struct Run {
  std::shared_ptr<const Scenario> scenario;
  std::shared_ptr<const models::LoadRun> here;                 ///< at the load that is set
  std::vector<std::shared_ptr<const models::LoadRun>> ladder;  ///< by rung, and with `here` among them by load
};

/// Requests as dots, by verdict.
struct Smear {
  std::array<widgets::Curve, models::limit_verdict_count> dots;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  Smear first_tokens, paces, times;
  std::vector<widgets::Curve> tails, pace_tails;  ///< P50 and P99 over load, steady and not
  widgets::Curve offered, served, in_time, lost;  ///< the hill
  std::vector<widgets::Curve> fleet;              ///< replicas and queue over time
  double most_rate = 1, most_per_s = 1, step_per_s = 0;
  double least_ttft_s = 1e-3, most_ttft_s = 10, least_tpot_s = 1e-3, most_tpot_s = 1;
  double here_rate = 0, here_served = 0, here_good = 0, knee = std::nan(""), end_s = 1;
  std::string lost_bold, lost_words, knee_words, stick_label, unstable_words, beyond_words;
  double unstable_from = std::nan("");
  bool has_tokens = true, scales = false;
  PublishedMarks published;
};

struct View {
  widgets::PlotView stick, hill, paces, times, queue, fleet;
  widgets::PlotLink link, time_link;
};

/// Requests that a run measures at most, whatever the replicas, and rows of a file.
inline constexpr std::int64_t max_measured = 12'000;
inline constexpr std::size_t max_rows = 100'000;

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Scenarios& scenarios);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
void draw_paces(Inputs& in, const Picture& picture, View& view, ImVec2 size);
void draw_times(Inputs& in, const Picture& picture, View& view, ImVec2 size);

Inputs scenario_key(const Inputs& in);
/// Mean service time of a plain queue's requests as they are set, or as a file has them.
double mean_service_s(const Inputs& in, const Scenario& scenario);
/// Null: cancelled.
std::shared_ptr<const Scenario> make_scenario(const Inputs& key, Progress& progress);
/// The run of a scenario at a load; null: cancelled, or more events than a run may take.
std::shared_ptr<const models::LoadRun> run_at(const Inputs& key, const Scenario& scenario, double rate_per_s,
                                              Progress& progress);
/// Are batches formed before they start?
inline bool forms_batches(models::ServingPolicy policy) {
  return policy == models::ServingPolicy::fixed || policy == models::ServingPolicy::dynamic;
}
inline bool joins_batches(models::ServingPolicy policy) {
  return policy == models::ServingPolicy::continuous || policy == models::ServingPolicy::chunked;
}
inline models::LatencyLimits limits_of(const Inputs& in) { return {in.ttft_limit_s, in.tpot_limit_s}; }

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

const Choices& router_choices();

}  // namespace chapters::serving::slo
