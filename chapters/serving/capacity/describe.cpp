#include "chapters/serving/capacity/lab.h"

namespace chapters::serving::capacity {
namespace {

// In the order of models::CapacityWall.
const Choices walls{{"memory", "Memory", "The caches of all who are there, or the weights alone."},
                    {"rate", "Work", "The arithmetic and the reading that the requests bring."},
                    {"latency", "Latency", "The limits for the first token and for the later ones."}};
static_assert(models::capacity_wall_count == 3);

constexpr std::string_view no_price = "Nobody's price is carried for this chip: set one.";
constexpr std::string_view no_band = "No survey of prices is carried for this chip.";
constexpr std::string_view waits_grow = "Prompts come faster than they are read: waits grow without end.";
constexpr std::string_view never_kept = "No number of such chips keeps this limit.";
constexpr std::string_view no_fit = "No published runs on this chip in this format were fitted.";
constexpr std::string_view too_few = "It takes 1,000 measured requests, and a trial in the engine.";
constexpr std::string_view no_trial = "The fleet was not tried in the engine.";
constexpr std::string_view no_bins = "The window is shorter than one bin.";
constexpr std::string_view no_gaps = "Fewer than two requests, or all at once.";

void describe_fleet(Fields& f, Outputs& o) {
  f.group("The fleet");
  f.integer("chips", o.chips, "Chips", "Whole replicas that clear the highest wall.",
            {.headline = true, .formula = "chips of a replica x ceil(highest wall)"});
  f.real("dollars_per_million_tokens", o.now.dollars_per_million_tokens, {"A million output tokens", "$"},
         "The fleet's price for the time in which it writes a million tokens of answers, at the mean rate.",
         {.headline = true, .absent = no_price, .formula = "chips x price / output tokens in an hour"});
  f.choice("binds", o.binds, walls, "The highest wall",
           "Which demand asks for most; memory where one replica clears all, since its weights need it.");
  f.integer("chips_for_memory", o.chips_for_memory, "Chips for memory",
            "So many that the caches of all who are there at once fit 99 of 100 times.",
            {.formula = "n + 2.33 sqrt(n (1 + cv^2)) users fit a replica; n by Little's law",
             .source = "Little 1961; M/G/infinity: the number there is Poisson"});
  f.integer("chips_for_rate", o.chips_for_rate, "Chips for the work",
            "So many that they work no longer than is allowed, if reading the weights were shared by endlessly many.",
            {.formula = "rate x least work of a request / share of time"});
  f.real("chips_for_latency", o.chips_for_latency, "Chips for latency",
         "So many that 99 of 100 requests keep each limit, whatever the memory.",
         {.absent = never_kept,
          .formula = "max of the two below",
          .source = "models/serving/fleet/capacity.h, tried in the engine"});
  f.real("chips_for_ttft", o.chips_for_ttft, "... first token", "For the limit of the first token alone.",
         {.absent = never_kept});
  f.real("chips_for_tpot", o.chips_for_tpot, "... later tokens", "For the limit of the later tokens alone.",
         {.absent = never_kept});
  f.text("late", o.late, "Limits that cannot be kept",
         "Why no number of chips keeps them; the fleet is then what memory and work ask for.");
  f.integer("replicas", o.now.replicas, "Replicas", "Each holds the whole model.");
  f.integer("replica_chips", o.now.replica_chips, "Chips in each", "They share every layer.");
  f.real("users", o.users, "Users at once", "Who is being written an answer, in the whole fleet, on average.",
         {.headline = true, .formula = "rate x later tokens x gap between tokens", .source = "Little 1961"});
}

void describe_money(Fields& f, Outputs& o) {
  f.group("Money");
  f.real("dollars_per_hour", o.now.dollars_per_hour, {"The fleet", "$/h"},
         {.headline = true, .absent = no_price, .formula = "chips x price"});
  f.real("price_per_hour_used", o.price_per_hour_used, {"A chip", "$/h"}, "The price that is counted with.",
         {.absent = no_price});
  f.text("price_date", o.now.price_date, "Price of", "The day on which it was read.");
  f.text("price_source", o.price_source, "Price from", "Who asks for it.");
  f.real("price_low", o.now.price_low, {"A chip elsewhere, from", "$/h"}, "The lowest of a survey of clouds.",
         {.absent = no_band});
  f.real("price_high", o.now.price_high, {"... to", "$/h"}, "The highest of it.", {.absent = no_band});
  f.text("price_band_source", o.price_band_source, "Survey", "Whose survey it is, and when.");
  f.real("dollars_low", o.now.dollars_low, {"A million output tokens elsewhere, from", "$"},
         "At the lowest price of the survey.", {.absent = no_band});
  f.real("dollars_high", o.now.dollars_high, {"... a million up to", "$"}, "At its highest price.",
         {.absent = no_band});
  f.real("dollars_per_million_all", o.dollars_per_million_all, {"A million tokens, input + output", "$"},
         "The same money over prompts and answers together.", {.absent = no_price});
  f.text("cheapest_name", o.cheapest_name, "Cheapest by the hour", "Among yours and those next to it.");
  f.real("cheapest_price", o.cheapest_price, {"... for", "$/h"}, "Its price.", {.absent = no_price});
  f.real("cheapest_dollars", o.cheapest_dollars, {"... makes a million output tokens for", "$"}, "Its fleet's price.",
         {.absent = no_price});
  f.text("best_name", o.best_name, "Cheapest by the token", "Among yours and those next to it.");
  f.real("best_dollars", o.best_dollars, {"... a million output tokens for", "$"}, "Its fleet's price.",
         {.absent = no_price});
  f.table("plans", o.plans, "Chips side by side");
}

void describe_replica(Fields& f, Outputs& o) {
  f.group("A replica");
  f.real("sequences", o.sequences, "Users of a replica", "Who is being written an answer at once, on average.");
  f.real("sequences_fit", o.sequences_fit, "Users that fit", "Whose caches its memory holds, of average length.",
         {.formula = "(memory offered - weights) / cache of a user"});
  f.real(
      "kv_bytes_per_user", o.kv_bytes_per_user, {"Cache of a user", "B"},
      "Prompt and half of the answer, as the chips hold it; who gets a long answer is there longer and counts more.");
  f.real("gap_s", o.gap_s, {"Between tokens, mean", "s"}, "A step, and the prompts that come between.",
         {.formula = "S0(n) + n a(n) / o"});
  f.real("tpot_p99_s", o.tpot_p99_s, {"Later tokens, P99", "s"}, "What 1 of 100 requests exceeds, as planned.",
         {.absent = waits_grow, .formula = "normal around the mean gap"});
  f.real("ttft_p99_s", o.ttft_p99_s, {"First token, P99", "s"}, "What 1 of 100 requests exceeds, as planned.",
         {.absent = waits_grow, .formula = "rest of a step + prompts before + own prompt", .source = "Kingman 1961"});
  f.real("busy", o.busy, {"Work", "%"}, "Share of a replica's time that the least work takes.");
  f.real("saturated_tokens_per_s", o.saturated_tokens_per_s, "Output tokens a second, full",
         "A replica in all, when its memory is full and others always wait: what benchmarks print.");
  f.real("saturated_per_chip", o.saturated_per_chip, "... for each chip", "The same over its chips.");
  f.real("reached_percent", o.reached_percent, {"Roofs reached", "%"}, "Share of peak, bandwidth and link.");
  f.text("reached_from", o.reached_from, "... from", "Whose runs say so.");
  f.real("reached_error_percent", o.reached_error_percent, {"... off by", "%"},
         "Median error of the full rate over the runs that did not set it.", {.absent = no_fit});
  f.table("sizes", o.sizes, "Sizes of replica");
  f.group("Tokens");
  f.real("planned_rate_per_s", o.planned_rate_per_s, "Requests a second, planned", "What the fleet is made for.");
  f.real("planned_prompt_tokens", o.planned_prompt, {"Prompt, planned", "tokens"},
         "Mean of the requests that are answered: failed ones bring no work.");
  f.real("planned_output_tokens", o.planned_output, {"Answer, planned", "tokens"},
         "Mean of the requests that are answered.");
  f.real("output_tokens_per_s", o.output_tokens_per_s, "Output tokens a second", "The whole fleet's, as planned.");
  f.real("input_tokens_per_s", o.input_tokens_per_s, "Input tokens a second", "The whole fleet's, as planned.");
  f.real("tokens_per_s_per_chip", o.tokens_per_s_per_chip, "Output tokens a second and chip", "As planned.");
}

void describe_engine(Fields& f, Outputs& o) {
  f.group("Tried in the engine");
  f.integer("engine_requests", o.engine.requests, "Requests served", "What the figures below are of.");
  f.real("engine_kept_percent", o.engine_kept_percent, {"Keep both limits", "%"},
         "Share of the requests that were served.", {.absent = no_trial});
  f.real("engine_tpot_p99_s", o.engine_tpot_p99_s, {"Later tokens, P99, served", "s"}, "As they came.",
         {.absent = too_few});
  f.real("tpot_off_percent", o.tpot_off_percent, {"... the plan is above by", "%"}, "Below 0: the plan is too kind.",
         {.absent = too_few});
  f.real("engine_ttft_p99_s", o.engine_ttft_p99_s, {"First token, P99, served", "s"}, "As they came.",
         {.absent = too_few});
  f.real("ttft_off_percent", o.ttft_off_percent, {"... the plan is above by.", "%"}, "Below 0: the plan is too kind.",
         {.absent = too_few});
  f.real("engine_sequences", o.engine.sequences, "In the batch", "Sequences of a replica, on average.");
  f.real("engine_preempted_percent", o.engine.preemptions_percent, {"Sent back", "%"},
         "Times that a request lost its cache for lack of room, over requests.");
}

void describe_trace(Fields& f, Outputs& o) {
  models::ArrivalFigures& a = o.arrivals;
  f.group("The requests");
  f.integer("count", a.count, "Requests", "In the window; failed ones too.");
  f.real("rate_per_s", a.rate_per_s, "Requests a second", {.formula = "count / window"});
  f.real("counted_window_s", a.window_s, {"Window", "s"}, "What is counted over.");
  f.integer("failed", a.failed, "Failed", "They got no token back, and are not served here.");
  f.real("gap_mean_s", a.gap_mean_s, {"Gap, mean", "s"}, "Between neighbours.", {.absent = no_gaps});
  f.real("gap_cv", a.gap_cv, "Gaps, spread", "Standard deviation over mean; 1 where arrivals are Poisson.",
         {.absent = no_gaps});
  f.integer("zero_gaps", a.zero_gaps, "Gaps of 0", "Requests at the same microsecond as the one before.");
  f.real("dispersion_1s", a.in_1s.index_of_dispersion, "Dispersion in 1 s",
         "Variance over mean of how many come in a second; 1 where arrivals are Poisson.", {.absent = no_bins});
  f.real("dispersion_10s", a.in_10s.index_of_dispersion, "Dispersion in 10 s", "The same of ten seconds.",
         {.absent = no_bins});
  f.integer("peak_1s", a.in_1s.peak, "Most in 1 s", "Requests in the fullest second.");
  f.integer("peak_10s", a.in_10s.peak, "Most in 10 s", "Requests in the fullest ten seconds.");
  f.integer("empty_1s", a.in_1s.empty_bins, "Empty seconds", "Seconds in which none came.");
  f.real("busiest_minute_per_s", o.busiest_minute_per_s, "A second in the busiest minute",
         "Requests; of the whole window where it is shorter than a minute.");
  constexpr std::string_view rank = "nearest rank";
  f.integer("prompt_p50", a.prompt.p50, {"Prompt, P50", "tokens"}, {.source = rank});
  f.integer("prompt_p90", a.prompt.p90, {"Prompt, P90", "tokens"}, {.source = rank});
  f.integer("prompt_p99", a.prompt.p99, {"Prompt, P99", "tokens"}, {.source = rank});
  f.real("prompt_mean", a.prompt.mean, {"Prompt, mean", "tokens"}, "As counted.");
  f.integer("output_p50", a.output.p50, {"Answer, P50", "tokens"}, {.source = rank});
  f.integer("output_p90", a.output.p90, {"Answer, P90", "tokens"}, {.source = rank});
  f.integer("output_p99", a.output.p99, {"Answer, P99", "tokens"}, {.source = rank});
  f.real("output_mean", a.output.mean, {"Answer, mean", "tokens"}, "As counted.");
  f.integer("rows_left_out", o.rows_left_out, "Rows left out", "They could not be read.");
  f.text("losses", o.losses, "What was left out", "How many rows, and what is wrong with the first.");
}

}  // namespace

void describe(Fields& f, PlanRow& r) {
  f.text("name", r.name, "Chip");
  f.text("chip_name", r.chip_name, "Chip alone");
  f.text("format_name", r.format_name, "Format");
  f.integer("chips", r.chips, "Chips");
  f.integer("replicas", r.replicas, "Replicas");
  f.integer("replica_chips", r.replica_chips, "Chips in each");
  f.real("memory_wall", r.memory_wall, "For memory", {.absent = "There is no such fleet."});
  f.real("rate_wall", r.rate_wall, "For the work", {.absent = "There is no such fleet."});
  f.real("latency_wall", r.latency_wall, "For latency", {.absent = "No number of such chips keeps the limits."});
  f.real("price_per_hour", r.price_per_hour, {"A chip", "$/h"}, {.absent = no_price});
  f.text("price_date", r.price_date, "Price of");
  f.real("price_low", r.price_low, {"Elsewhere from", "$/h"}, {.absent = no_band});
  f.real("price_high", r.price_high, {"to", "$/h"}, {.absent = no_band});
  f.real("dollars_per_hour", r.dollars_per_hour, {"Fleet", "$/h"}, {.absent = no_price});
  f.real("dollars_per_million_tokens", r.dollars_per_million_tokens, {"A million output tokens", "$"},
         {.absent = no_price});
  f.real("dollars_low", r.dollars_low, {"Elsewhere, a million from", "$"}, {.absent = no_band});
  f.real("dollars_high", r.dollars_high, {"a million up to", "$"}, {.absent = no_band});
  f.toggle("yours", r.yours, "Yours");
  f.text("why", r.why, "Why not");
}

void describe(Fields& f, SizeRow& r) {
  f.integer("replica_chips", r.replica_chips, "Chips in a replica");
  f.real("saturated_tokens_per_s", r.saturated_tokens_per_s, "Output tokens a second, full",
         {.absent = "It holds no request."});
  f.real("saturated_per_chip", r.saturated_per_chip, "... for each chip", {.absent = "It holds no request."});
  f.real("sequences_fit", r.sequences_fit, "Users that fit", {.absent = "The weights do not fit."});
  f.real("chips", r.chips, "Chips of the fleet", {.absent = "There is no such fleet."});
  f.real("dollars_per_million_tokens", r.dollars_per_million_tokens, {"A million output tokens", "$"},
         {.absent = "There is no such fleet, or no price."});
  f.toggle("fits", r.fits, "Fits");
  f.toggle("yours", r.yours, "Yours");
  f.text("why", r.why, "Why not");
}

void describe(Fields& f, Outputs& o) {
  describe_fleet(f, o);
  describe_money(f, o);
  describe_replica(f, o);
  describe_engine(f, o);
  describe_trace(f, o);
}

LabPtr make() {
  const auto kept = std::make_shared<Kept>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"serving/capacity",
       "Capacity",
       "How many chips does this service need, and which wall decides?",
       {.job = true, .published_keys = "model chip format"}},
      [kept](const Inputs& in, Progress& progress) { return compute(in, progress, *kept); }, arrange, draw);
}

}  // namespace chapters::serving::capacity
