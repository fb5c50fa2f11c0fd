#pragma once
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "chapters/described/serving_choices.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published.h"
#include "chapters/serving/batching/benchmark.h"
#include "models/serving/arrivals/serving_requests.h"
#include "models/serving/engine/serving_bound.h"
#include "models/serving/engine/serving_summary.h"
#include "widgets/charts/dot_plot.h"
#include "widgets/charts/ecdf.h"
#include "widgets/controls/playback.h"

/// The race of schedulers over the same arrivals.
namespace chapters::serving::batching {

enum class Arrivals : std::uint8_t { poisson, bursty, gamma };

/// Defaults: requests reach Llama-3-70B on eight H100 twice as fast as static batches of eight can clear them.
struct Inputs {
  models::ServingPolicy policy = models::ServingPolicy::continuous;
  std::vector<std::string> against{"static"};
  ServiceKind service = ServiceKind::llm;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t chips = 8;
  models::Format format = models::Format::bf16;
  models::KvFormat kv_format = models::KvFormat::bf16;
  Arrivals arrivals = Arrivals::poisson;
  double burst = 4, gap_cv = 3;
  FileInput trace, benchmark;
  double arrival_rate = 5;
  std::int64_t requests = 10'000, pictured = 120;
  double prompt_tokens = 512, output_tokens = 128, length_variation = 0.8;
  double service_time_s = 0.8;
  double fixed_s = 2e-3, per_prompt_token_s = 50e-6, per_output_token_s = 20e-3;
  std::int64_t servers = 1, slots = 8;
  double timeout_s = 0.5;
  std::int64_t chunk_tokens = 512, block_tokens = 16;
  double kv_share = 100;
  models::Preemption preemption = models::Preemption::recompute;
  double ttft_limit_s = 1, tpot_limit_s = 0.05;
  std::int64_t seed = 4;
  bool operator==(const Inputs&) const = default;
};

/// What one policy made of the arrivals.
struct PolicyRun {
  models::ServingPolicy policy{};
  std::string name;
  std::int64_t requests = 0;  ///< that its figures are from
  models::ServingSummary figures;
  models::ServingCounts counts;
  bool overloaded = false;  ///< more come than leave: what grows with the run is not given
  double utilization_percent = 0, wasted_slots_percent = 0;  ///< shares of `figures` as they are shown
  double kv_peak_percent = 0;  ///< largest part of the cache that was taken; 0 without one
};

/// Waits from arrival to the first start, of the chosen policy; NaN where the queue grows.
struct WaitFigures {
  double sum_us = std::nan(""), waited = std::nan("");
  double p50_s = std::nan(""), p90_s = std::nan(""), p99_s = std::nan(""), longest_s = std::nan("");
  double last_departure_us = std::nan("");
};

struct Outputs {
  PolicyRun chosen;
  WaitFigures waits;
  std::vector<PolicyRun> racers;  ///< the chosen one first, then its rivals
  double speedup_p50 = 1;
  /// Rates over those of the first rival; NaN without one, and where it has none.
  double served_gain = std::nan(""), goodput_gain = std::nan(""), tokens_gain = std::nan("");
  std::string state;  ///< whether the chosen policy's queue is steady or overloaded, or why that is not known
  double theory_wait_s = std::nan("");
  double offered_load = std::nan(""), load_percent = std::nan("");  ///< in servers, and of what all can do
  std::string theory;  ///< which formula speaks of this queue, or why none does
  double kv_pool_bytes = 0;
  std::int64_t kv_blocks = 0;
  models::ServingBound bound;  ///< a full batch at full roofs; all 0 without a model
  std::int64_t warm_up = 0, failed = 0;
  ComparedBenchmark benchmark;
  double benchmark_tokens_per_s = std::nan(""), benchmark_simulated_per_s = std::nan(""),
         benchmark_reached = std::nan("");  ///< its fastest run
  std::string reason;
};

/// What one policy did with the requests pictured, and how long those took that were measured.
struct PolicyHistory {
  models::ServingRun run;  ///< `served` holds Run::requests alone; times and numbers as there
  /// At most 1,000 quantiles of the latencies and times to first token that were measured; none when overloaded, and
  /// no times to first token in a plain queue.
  std::vector<double> latency_s, ttft_s;
};

/// A published run and what bounds it.
struct BoundedRun {
  Published published;
  models::ServingBound bound;
};
/// Published runs of the model that is served: of the same chip, where there are any.
struct PublishedRuns {
  bool rate = false;  ///< all output tokens; else the pace of one answer
  bool same_chip = true;
  std::vector<BoundedRun> runs;
  double sequences = 0;      ///< in the chosen policy's batch, on average
  models::ServingBound own;  ///< what bounds the chosen policy at those; all 0 without a model
};

struct Run {
  std::int64_t pictured = 0;
  /// Number of the first request pictured. Where no queue grows it is the first that is measured, for which the server
  /// has filled; otherwise 0, since a queue that grows is seen from an empty server on. Spans count from it.
  std::int64_t first = 0;
  /// `lead` requests before it, those pictured, and as many after them as `max_followed` allows. Times of it and of
  /// the histories are since its arrival; from an empty server on, since time 0.
  std::vector<models::ServingRequest> requests;
  std::size_t lead = 0;
  std::vector<PolicyHistory> histories;  ///< in the order of Outputs::racers
  PublishedRuns published;
};

/// The arrivals made last: policies, slots and limits change without drawing a million requests anew.
using Streams = Memo<models::RequestStream, std::vector<models::ServingRequest>, 1>;

/// A figure over a policy's lanes: what it is, and how much.
struct Headline {
  std::string_view label;
  std::string value;
};

/// A request that stands in the queue, from its arrival until it is taken; rows of those that wait at once.
struct QueueSpan {
  std::int32_t row = 0, request = 0;
  double start_s = 0, end_s = 0;
};

/// How many slots do what, from this time on.
struct Occupation {
  double time_s = 0;
  /// By models::SlotUse; then decode for requests that miss a limit, and anything for requests behind those pictured.
  std::array<std::int32_t, 5> slots{};
};

/// A policy's row in the race.
struct PolicyPicture {
  std::string name, curve;  ///< `curve`: what its shares of latencies are called
  std::vector<models::SlotSpan> spans;
  std::vector<models::ServingPoint> waiting, blocks;
  std::int32_t lanes = 1;
  double end_s = 0;                          ///< when the last of the requests shown leaves
  double peak_waiting = 0, peak_blocks = 0;  ///< while somebody pictured is there
  std::vector<QueueSpan> queue;
  std::int32_t queue_rows = 0;
  std::vector<Occupation> occupation;
  std::vector<double> latency_s, ttft_s;  ///< quantiles of the requests measured
  std::vector<bool> missed;               ///< by number of the requests shown: beyond a limit, or refused
  bool missed_by(std::int64_t request) const {
    return request >= 0 && static_cast<std::size_t>(request) < missed.size() &&
           missed[static_cast<std::size_t>(request)];
  }
  /// Before or after those pictured.
  bool later(std::int64_t request) const { return static_cast<std::size_t>(request) >= missed.size(); }
  std::vector<models::ServedRequest> served;  ///< by number, of those behind them, too
  std::vector<Headline> headlines;            ///< the ones that matter most first
};

/// A run and the most that it could reach, tokens a second.
struct MeasuredRun {
  std::string name, info;  ///< what ran; how far from the bound it is, and where the figure is from
  double measured = 0, bound = 0;
};
/// Published runs of the model that is served, after the chosen policy's own.
struct MeasuredRuns {
  std::string title;  ///< the panel's: the model and the chip that were measured
  bool rate = false;  ///< all output tokens; else those of one answer, which is 1 / TPOT
  std::string axis;
  std::vector<MeasuredRun> runs;  ///< the first is this lab's own
};
/// The published runs without their bounds, which need no answer; and with them.
PublishedRuns published_runs(const Inputs& in);
PublishedRuns bound_published_runs(const Inputs& in, const Outputs& out);
/// What is drawn of them; of runs without bounds the title and the axis alone.
MeasuredRuns measured_runs(const Inputs& in, const Outputs& out, const PublishedRuns& published);
/// The chosen policy and its rivals.
std::vector<models::ServingPolicy> policies_to_run(const Inputs& in);

/// An arrival on the line above the race.
struct Dot {
  double arrival_s = 0;
  float size = 1;  ///< 0 to 1
  std::int64_t prompt_tokens = 0, output_tokens = 0;
};

/// Which marks stand in the race, so that its key names no others.
struct DrawnMarks {
  bool waits = false, prefill = false, decode = false, missed = false, held = false, sent_back = false;
};

struct Picture {
  std::uint64_t version = 0;
  DrawnMarks drawn;
  std::vector<PolicyPicture> policies;
  std::vector<Dot> dots;      ///< the requests pictured
  std::int64_t first = 0;     ///< number of the first of them, from 0
  std::vector<double> later;  ///< arrivals behind them while somebody pictured is still there, seconds
  double shown_s = 1;
  double peak_waiting = 1;     ///< over all policies, so that their strips compare
  std::int64_t kv_blocks = 0;  ///< 0: a plain queue without a cache
  std::size_t raced = 1;       ///< policies that have or will have a row
  bool tokens = false;         ///< their requests are answered token by token
  std::string caption, answer;
  std::string latency_axis, ttft_axis;  ///< whose latencies the curves are
  std::string no_shares;                ///< said where no policy has a distribution
  double ttft_limit_s = 1;
  MeasuredRuns measured;
};

struct View {
  widgets::Playback playback{.time_s = 1e9};  ///< at first the cursor stands at the end
  std::int64_t request = 0;                   ///< followed through the lanes, from 1; 0: none
  widgets::EcdfView latency, ttft;
  widgets::DotPlotView measured;
  std::vector<widgets::DotRow> measured_rows;
};

/// Requests that the picture follows, those that it knows of, and arrivals that are measured of a rival.
inline constexpr std::int64_t max_pictured = 120, max_lead = 200, max_followed = 2000, max_raced = 10'000;

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Streams& streams);

/// Requests that come before those that are measured, and as many behind them: so that the server has filled, and does
/// not run empty.
std::int64_t edge_of(std::int64_t measured);
models::RequestStream stream_of(const Inputs& in);
/// A batch runs until its longest member is done.
bool batches(models::ServingPolicy policy);
/// Mean service time of a plain queue's requests as they are set.
double mean_service_s(const Inputs& in);
/// What is asked of a plain queue over what its servers can do, in per cent.
double load_percent(const Inputs& in, std::span<const models::ServingRequest> requests);
/// Waits of the requests that are measured, counted in whole microseconds.
WaitFigures waits_of(std::span<const models::ServingRequest> requests, const models::ServingRun& run, std::size_t first,
                     std::size_t measured);
/// What the formulas say of this queue: which one speaks of it, or why none does.
void consult_theory(const Inputs& in, std::span<const models::ServingRequest> requests, Outputs& out);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, PolicyRun& r);
void describe(Fields& f, ComparedTime& t);
void describe(Fields& f, ComparedRun& r);

}  // namespace chapters::serving::batching
