#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/serving/serving.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/plot_view.h"

/// Between batching.cpp (described), batching_compute.cpp (computed) and batching_draw.cpp (drawn).
namespace chapters::serving::batching {

enum class Service : std::uint8_t { llm, exponential, deterministic };
enum class Arrivals : std::uint8_t { poisson, bursty };

/// At first: 48 requests reach Llama-3-70B on eight H100 faster than static batches of eight can clear them.
struct Inputs {
  models::ServingPolicy policy = models::ServingPolicy::continuous;
  std::vector<std::string> against{"static"};
  Service service = Service::llm;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t chips = 8;
  models::Format format = models::Format::bf16;
  Arrivals arrivals = Arrivals::poisson;
  double burst = 4;
  FileInput trace;
  double arrival_rate = 5;
  std::int64_t requests = 48;
  double prompt_tokens = 512, output_tokens = 128, length_variation = 0.8;
  double service_time_s = 0.8;
  std::int64_t servers = 1, slots = 8;
  double timeout_s = 0.5;
  std::int64_t chunk_tokens = 512, block_tokens = 16;
  double kv_share = 100;
  models::Preemption preemption = models::Preemption::recompute;
  double ttft_limit_s = 1, tpot_limit_s = 0.05;
  std::int64_t seed = 4;
  bool operator==(const Inputs&) const = default;
};

/// A figure over a policy's lanes: what it is, and how much.
struct Headline {
  std::string_view label;
  std::string value;
};

/// One policy's run.
struct Racer {
  std::string name;
  std::int64_t requests = 0, preemptions = 0;
  double mean_wait_s = 0, mean_latency_s = 0, p50_latency_s = 0, p99_latency_s = 0, ttft_p99_s = 0, tpot_p99_s = 0,
         gap_p99_s = 0;
  double throughput_per_s = 0, goodput_per_s = 0, utilization = 0, wasted_slots = 0, kv_peak = 0;

  // For the picture.
  models::ServingPolicy policy{};
  std::vector<models::SlotSpan> spans;
  std::vector<models::ServingPoint> waiting, blocks;
  std::int32_t lanes = 1;
  double peak_waiting = 0;
  std::vector<double> done_s, latency_s;      ///< of the requests shown, by time of leaving
  std::vector<models::ServedRequest> served;  ///< of the requests shown, by number
  std::array<Headline, 6> headlines;          ///< the ones that matter most first
};

struct Dot {
  double arrival_s = 0;
  float size = 1;  ///< 0 to 1
  std::int64_t prompt_tokens = 0, output_tokens = 0;
};

struct Outputs {
  double mean_wait_s = 0, mean_latency_s = 0, p50_latency_s = 0, p90_latency_s = 0, p99_latency_s = 0;
  double throughput_per_s = 0, tokens_per_s = 0, goodput_per_s = 0, ttft_p50_s = 0, ttft_p99_s = 0, tpot_p50_s = 0,
         tpot_p99_s = 0, gap_p99_s = 0, gap_longest_s = 0;
  double utilization = 0, wasted_slots = 0, mean_in_system = 0, mean_waiting = 0, little_error = 0, makespan_s = 0;
  double theory_wait_s = 0, theory_latency_s = 0, offered_load = 0;
  double kv_pool_bytes = 0, kv_peak = 0;
  std::int64_t kv_blocks = 0, preemptions = 0, completed = 0, refused = 0, events = 0;
  double speedup_p50 = 1;
  std::vector<Racer> racers;
  std::string theory;  ///< which formula speaks of this queue, or why none does
  std::string reason;

  // For the picture.
  std::vector<Dot> dots;
  double shown_s = 1, slowest_shown_s = 1, peak_waiting = 1,
         peak_blocks = 1;  ///< peaks over all policies, so that their strips compare
  std::string caption;
};

struct View {
  widgets::Playback playback{.time_s = 1e9};  ///< at first the cursor stands at the end
  std::int64_t request = 0;                   ///< followed through the lanes, from 1; 0: none
  widgets::PlotView latencies;
};

Outputs compute(const Inputs& in, Progress& progress);
void draw(Inputs& in, const Outputs& out, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Racer& r);
void describe(Fields& f, Outputs& o);
void describe(Fields& f, View& v);

const Choices& policy_choices();

}  // namespace chapters::serving::batching
