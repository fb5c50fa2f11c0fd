#include "chapters/described/serving_choices.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/serving/slo/lab.h"

namespace chapters::serving::slo {
namespace {

// In the order of models::FleetRouter, models::ScaleSignal and Arrivals.
const Choices routers{
    {"round_robin", "In turn", "Each replica gets the next one."},
    {"least_requests", "Fewest requests", "Where the fewest wait or run."},
    {"least_blocks", "Least cache", "Where the fewest blocks of cache are taken or will be by the queue."},
    {"two_choices", "The better of two", "Two are drawn, and the one with fewer requests gets it (Mitzenmacher 2001)."},
    {"prefix_aware", "Least to read",
     "Where the fewest tokens must be read before its first: what is cached counts as read."}};
static_assert(models::fleet_router_count == 5);
const Choices signals{{"none", "Never", "The number of replicas stays."},
                      {"queue", "By the queue", "Requests that wait, for each replica that serves."},
                      {"slots", "By taken slots", "Requests that run, as a share of the most that can."},
                      {"busy", "By utilization", "Time in which a step ran, as a GPU's counter shows it."}};
static_assert(models::scale_signal_count == 4);
const Choices slo_arrivals{{"poisson", "Poisson", "Independent of each other at one rate."},
                           {"bursty", "Bursts", "A fifth of the time the rate is several times the mean."},
                           {"waves", "Waves", "The rate swings like that of a day, only faster."},
                           {"gamma", "Gamma gaps", "Independent gaps, more or less even than those of Poisson."}};

constexpr When of_model{"service", "llm"}, of_queue{"service", "exponential|deterministic|per_token"},
    of_times{"service", "exponential|deterministic"}, by_tokens{"service", "per_token"},
    of_lengths{"service", "llm|per_token"};

void describe_scaling(Fields& f, Inputs& in) {
  constexpr When scaled{"scale_on", "queue|slots|busy"};
  f.group("Autoscaling");
  f.choice(
      "scale_on", in.scale_on, signals, "Scale",
      "Every look the number becomes itself × signal / target, rounded up, as Kubernetes does; a tenth off is left.",
      {.when = of_model});
  f.real("target_queue", in.target_queue, "Waiting for each",
         "The target: so many requests in the queue of each replica.",
         {.range = {0.1, 1000, Scale::log}, .typical = {0.5, 50}, .when = {"scale_on", "queue"}});
  f.real("target_percent", in.target_percent, {"Target", "%"}, "Share of slots taken, or of time with a step.",
         {.range = {1, 100}, .when = {"scale_on", "slots|busy"}});
  f.integer("most_replicas", in.most_replicas, "At most", "Replicas that may be there at a time.",
            {.range = {1, 32, Scale::log}, .when = scaled});
  f.real("look_s", in.look_s, {"Looks every", "s"}, "Kubernetes' own is 15 s.",
         {.range = {1, 600, Scale::log}, .when = scaled});
  f.real("cold_start_s", in.cold_start_s, {"Cold start", "s"},
         "From the order to the first request: machine, container, weights, warm-up.",
         {.range = {0, 1800}, .typical = {0, 300}, .when = scaled});
  f.real("hold_s", in.hold_s, {"Holds for", "s"}, "Fewer replicas only when no look of so long wanted more.",
         {.range = {0, 3600}, .typical = {0, 600}, .when = scaled});
}

void describe_arrivals(Fields& f, Inputs& in) {
  f.group("Arrivals");
  f.choice("arrivals", in.arrivals, slo_arrivals, "Arrivals", "How they come, at the same mean rate.");
  f.real("burst", in.burst, "Rate in a burst", "Times the mean.", {.range = {1, 5}, .when = {"arrivals", "bursty"}});
  f.real("gap_cv", in.gap_cv, "Gaps, spread", "Standard deviation of a gap over its mean; 1: as Poisson arrivals.",
         {.range = {0.1, 10, Scale::log}, .when = {"arrivals", "gamma"}});
  f.real("burst_s", in.burst_s, {"A burst lasts", "s"}, "On average; four times as long lie between two.",
         {.range = {0.1, 1000, Scale::log}, .typical = {1, 60}, .when = {"arrivals", "bursty"}});
  f.real("wave", in.wave, "Swing", "The rate runs from (1 - swing) to (1 + swing) times its mean.",
         {.range = {0, 0.95}, .when = {"arrivals", "waves"}});
  f.real("wave_s", in.wave_s, {"A wave lasts", "s"}, "It begins at its lowest.",
         {.range = {10, 3600, Scale::log}, .typical = {30, 600}, .when = {"arrivals", "waves"}});
  f.integer("requests", in.requests, "Requests measured",
            "At each load for each replica of the start, and 12,000 at most together. A third more come "
            "before them, while the fleet "
            "fills, and a tenth after; of "
            "waves so many that whole ones are measured.",
            {.range = {100, 12'000, Scale::log}, .typical = {1000, 10'000}, .costly = true});
  f.real("turns", in.turns, "Turns",
         "Mean of a conversation: each prompt repeats all that was said before. 1: each request stands alone.",
         {.range = {1, 50, Scale::log}, .typical = {1, 10}, .when = of_model});
  f.integer("open_sessions", in.open_sessions, "Conversations at a time", "Whose turn comes next is drawn.",
            {.range = {1, 10'000, Scale::log}, .typical = {10, 1000}, .when = of_model});
  f.integer("seed", in.seed, "Seed",
            "The same seed gives the same draws at every load, stretched so that their mean is the load.",
            {.range = {0, 1e9}});
  f.file(
      "trace", in.trace, "Your arrivals",
      "A CSV with columns named time, prompt and output (also as the Azure and BurstGPT traces name them), or a "
      "Mooncake trace in JSON lines. Its times are stretched or pressed to each load; it replaces number and lengths. "
      "Where it has hash_ids and requests stand alone, each replica keeps a tree of the blocks that prompts share.",
      {.reads = {FileKind::arrivals}, .accepts = "csv, jsonl"});
}

}  // namespace

const Choices& router_choices() { return routers; }

void describe(Fields& f, Inputs& in) {
  f.group("The promise");
  shared::ttft_limit(f, "ttft_limit_s", in.ttft_limit_s, {0.05, 20},
                     {.help = "Limit of the time to the first token.", .headline = true});
  shared::tpot_limit(f, "tpot_limit_s", in.tpot_limit_s, {5e-3, 0.2},
                     {.help = "Limit of the time for a further token, on average over an answer.",
                      .when = of_model,
                      .headline = true});
  f.real("share", in.share, "Share in time", "So many of the requests must keep both limits.",
         {.range = {0.01, 1}, .typical = {0.5, 1}});
  shared::arrival_rate(f, "arrival_rate", in.arrival_rate, {0.5, 50},
                       {.help = "Mean rate of requests, over all replicas.", .headline = true});
  f.group("The fleet");
  f.integer("replicas", in.replicas, "Replicas", "Each has the model whole; where scaling is on, so many always stay.",
            {.range = {1, 32, Scale::log}});
  f.choice("router", in.router, routers, "Router", "Which replica a request goes to.");
  describe_scaling(f, in);
  f.group("Shedding");
  f.integer("longest_queue", in.longest_queue, "Longest queue",
            "Who comes to a replica where so many wait is refused at once; 0: nobody is.",
            {.range = {0, 100'000}, .typical = {0, 100}});
  f.real("drop_after_s", in.drop_after_s, {"Gives up after", "s"},
         "Who has waited longer when his turn comes is sent away unserved; 0: nobody is.",
         {.range = {0, 1000}, .typical = {0, 10}});
  describe_arrivals(f, in);
  f.group("Lengths");
  shared::prompt_tokens(f, "prompt_tokens", in.prompt_tokens, {16, 8192},
                        {.help = "Lengths are log-normal; of a turn what is new.", .when = of_lengths});
  shared::output_tokens(f, "output_tokens", in.output_tokens, {8, 2048},
                        {.help = "Lengths are log-normal.", .when = of_lengths});
  f.real("length_variation", in.length_variation, "Spread of lengths",
         "Standard deviation over mean; 0 makes all alike.", {.range = {0, 2}, .when = of_lengths});
  f.group("A replica");
  f.choice("service", in.service, service_kind_choices(), "Service time",
           "From the model's steps, or a plain queue in which a request takes one time drawn beforehand.");
  shared::model(f, "model", in.model, {.help = "Each replica holds its weights whole.", .when = of_model});
  shared::chip(
      f, "chip", in.chip,
      {.help = "Kernels reach 70 % of its peak and bandwidth here; 90 % of its memory is used.", .when = of_model});
  shared::parallel_tensor(f, "chips", in.chips,
                          {.label = "Chips", .help = "The chips of one replica share every layer.", .when = of_model});
  shared::format(
      f, "format", in.format,
      {.label = "Weights", .help = "Format of weights and matmuls; the cache has its own.", .when = of_model});
  f.choice("kv_format", in.kv_format, engine_kv_choices(), "Keys and values in",
           "What a cached number takes: half the bytes hold twice the tokens and are read in half the time.",
           {.when = of_model});
  f.choice("policy", in.policy, serving_policy_choices(), "Policy", "How a replica batches.");
  f.integer(
      "slots", in.slots, "Slots", "Requests in a batch of one replica.",
      {.range = {1, 4096, Scale::log}, .typical = {1, 512}, .when = {"policy", "static|dynamic|continuous|chunked"}});
  f.integer("chunk_tokens", in.chunk_tokens, {"Tokens per step", "tokens"},
            "Chunked prefill: decoding requests take one each, prompts what is left, 16 at least.",
            {.range = {64, 8192, Scale::log}, .when = {"policy", "chunked"}});
  f.real("service_time_s", in.service_time_s, {"Service time, mean", "s"}, "Mean service time of a plain queue.",
         {.range = {1e-4, 1e3, Scale::log}, .when = of_times});
  f.real("fixed_s", in.fixed_s, {"For a request", "s"}, "Added to each service by tokens, whatever its lengths.",
         {.range = {0, 100}, .typical = {0, 1}, .when = by_tokens});
  f.real("per_prompt_token_s", in.per_prompt_token_s, {"For a token in", "s"}, "Times the tokens of the prompt.",
         {.range = {0, 1}, .typical = {0, 1e-3}, .when = by_tokens});
  f.real("per_output_token_s", in.per_output_token_s, {"For a token out", "s"}, "Times the tokens of the answer.",
         {.range = {1e-6, 10, Scale::log}, .typical = {1e-3, 0.1}, .when = by_tokens});
  f.integer("servers", in.servers, "Servers", "Servers of each replica in a plain queue, fed from one line.",
            {.range = {1, 64, Scale::log}, .when = of_queue});
}

}  // namespace chapters::serving::slo
