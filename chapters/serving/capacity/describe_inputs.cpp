#include "chapters/described/serving_choices.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/serving/capacity/lab.h"

namespace chapters::serving::capacity {
namespace {

// In the order of Traffic, PlanFor, ReplicaSize and Reached.
const Choices traffics{
    {"lengths", "A rate and lengths", "Poisson arrivals, log-normal lengths, as set above."},
    {"conversations", "Recorded conversations", "1,445 requests in 300 s of a chat service: Azure, November 2023."},
    {"code", "Recorded code completion", "1,482 requests in 600 s that come in bursts: Azure, November 2023."},
    {"client", "A client's day", "Drawn from the profile of one client of a large service: ServeGen, 2025."},
    {"file", "My requests", "Read from the file below."}};
const Choices plan_fors{{"mean", "The mean", "As many a second as come on average over the window."},
                        {"minute", "The busiest minute", "As many a second as in the fullest minute of the window."}};
const Choices replica_sizes{{"best", "The cheapest", "One, two, four or eight chips: whatever needs the fewest chips."},
                            {"own", "As set", "So many as are set below."}};
const Choices reacheds{
    {"published", "As published runs", "The share that fits published runs on the chip in the format; else 55 %."},
    {"own", "As set", "The share that is set below, on every chip."}};
const Choices clients{{"deepseek-r1-5", "Reasoning model, client 5", "Long answers, quiet nights."},
                      {"deepseek-r1-20", "Reasoning model, client 20", "Prompts of 2,100 tokens, answers of 1,000."},
                      {"deepseek-r1-66", "Reasoning model, client 66", "Short prompts, answers of 8,500 tokens."},
                      {"m-large-0", "Large chat model, client 0", "Short requests in heavy bursts."},
                      {"m-large-113", "Large chat model, client 113", "Most requests of the five."}};
const Choices rival_choices{{"a100_40_bf16", "A100 40 GB in BF16", ""},
                            {"a100_bf16", "A100 80 GB in BF16", ""},
                            {"h100_bf16", "H100 in BF16", ""},
                            {"h100_fp8", "H100 in FP8", ""},
                            {"h200_fp8", "H200 in FP8", ""},
                            {"b200_fp8", "B200 in FP8", ""},
                            {"b200_fp4", "B200 in FP4", ""},
                            {"mi300x_bf16", "MI300X in BF16", ""}};
constexpr When recorded{"traffic", "conversations|code|client|file"}, made{"traffic", "lengths"};

void describe_service(Fields& f, Inputs& in) {
  f.group("The service");
  shared::arrival_rate(f, "arrival_rate", in.arrival_rate, {0.1, 1000},
                       {.label = "Requests a second", .when = made, .headline = true});
  shared::prompt_tokens(f, "prompt_tokens", in.prompt_tokens, {100, 32768}, {.label = "Prompt", .when = made});
  shared::output_tokens(f, "output_tokens", in.output_tokens, {10, 8192},
                        {.label = "Answer", .when = made, .headline = true});
  shared::ttft_limit(f, "ttft_limit_s", in.ttft_limit_s, {0.1, 10},
                     {.help = "99 of 100 requests must get it by then."});
  shared::tpot_limit(f, "tpot_limit_s", in.tpot_limit_s, {0.01, 0.3},
                     {.label = "Each further token within",
                      .help = "On average over an answer, for 99 of 100 requests.",
                      .headline = true});
}

void describe_traffic(Fields& f, Inputs& in) {
  f.group("Requests");
  f.choice("traffic", in.traffic, traffics, "Requests", "Who asks, and when.");
  f.real("length_variation", in.length_variation, "Spread of lengths",
         "Standard deviation over mean, of prompts and of answers; 0 makes all alike.",
         {.range = {0, 2}, .when = made});
  f.choice("client", in.client, clients, "Client", "Whose profile requests are drawn from.",
           {.when = {"traffic", "client"}});
  f.file("trace", in.trace, "Your requests",
         "A CSV with columns named time, prompt and output (also as the Azure and BurstGPT traces name them), or JSON "
         "lines as Mooncake's. Rows that say something else are left out and named.",
         {.when = {"traffic", "file"}, .mode = {"traffic", "file"}},
         {.reads = {FileKind::arrivals}, .accepts = "csv, jsonl"});
  f.real("window_s", in.window_s, {"Window", "s"},
         "How much of the recording counts, from its own zero on; 0: to the end of the ten seconds that hold its last "
         "request.",
         {.range = {0, 1e6}, .typical = {0, 3600}, .when = recorded});
  f.real("speed", in.speed, {"Speed", "\xC3\x97"}, "How many times as fast recorded requests come.",
         {.range = {1e-3, 1e4, Scale::log}, .typical = {0.1, 100}, .when = recorded});
  f.choice("plan_for", in.plan_for, plan_fors, "Planned for", "Which rate the fleet is to serve.", {.when = recorded});
  f.integer("seed", in.seed, "Seed", "It draws arrivals and lengths.", {.range = {1, 9999}});
}

void describe_fleet(Fields& f, Inputs& in) {
  f.group("The fleet");
  shared::model(f, "model", in.model, {.help = "Which model is served."});
  shared::chip(f, "chip", in.chip, {.help = "Which chip is yours."});
  shared::format(f, "format", in.format, {.label = "Weights", .help = "Format of weights and matmuls."});
  f.choice("kv_format", in.kv_format, engine_kv_choices(), "Keys and values in", "What a number in the cache takes.");
  f.choice("replica_size", in.replica_size, replica_sizes, "Chips in a replica", "How many share one model.");
  shared::parallel_tensor(
      f, "tensor_parallel", in.tensor_parallel,
      {.label = "Chips of a replica", .help = "They share every layer.", .when = {"replica_size", "own"}});
}

void describe_rest(Fields& f, Inputs& in) {
  f.group("Prices");
  f.real("price_per_hour", in.price_per_hour, {"Own price of a chip-hour", "$"},
         "What one of your chips costs for an hour; 0: its list price, with its day among the outputs.",
         {.range = {0, 1000}, .typical = {0, 20}});
  f.choices("against", in.against, rival_choices, "Beside it",
            "Other chips for the same requests, each in its format at its list price; four at most are shown. Caches "
            "are in BF16 with BF16 weights, else in FP8.");
  f.group("Spare and roofs");
  f.real("busy_percent", in.busy_percent, {"Work at most", "%"},
         "The share of its time that a replica may be planned to work, if it did nothing but work.",
         {.range = {10, 100}});
  f.real("memory_percent", in.memory_percent, {"Memory offered", "%"},
         "The share of the nameplate that weights and caches may take.", {.range = {50, 100}});
  f.choice("reached", in.reached, reacheds, "Roofs reached",
           "Which share of peak, bandwidth and link the engine is taken to reach.");
  f.real("roof_percent", in.roof_percent, {"Share of the roofs", "%"}, "The share that is taken to be reached.",
         {.range = {5, 100}, .when = {"reached", "own"}});
  f.integer("chunk_tokens", in.chunk_tokens, {"Tokens in a step", "tokens"},
            "The most new tokens, of prompts and answers together, that a step takes.",
            {.range = {64, 65536, Scale::log}, .typical = {256, 16384}});
  f.integer("slots", in.slots, "Sequences in a batch", "The most that a replica writes answers for at once.",
            {.range = {1, 65536, Scale::log}});
  f.toggle("trial", in.trial, "Try it in the engine",
           "The fleet that is found serves requests one by one, and what they took is set against the plan.");
}

}  // namespace

std::vector<Rival> rivals_of(const Inputs& in) {
  using models::Format, models::KvFormat;
  static constexpr Rival known[] = {{"a100_40_bf16", "a100_40_sxm", Format::bf16, KvFormat::bf16},
                                    {"a100_bf16", "a100_80_sxm", Format::bf16, KvFormat::bf16},
                                    {"h100_bf16", "h100_sxm", Format::bf16, KvFormat::bf16},
                                    {"h100_fp8", "h100_sxm", Format::fp8, KvFormat::fp8},
                                    {"h200_fp8", "h200_sxm", Format::fp8, KvFormat::fp8},
                                    {"b200_fp8", "b200_sxm", Format::fp8, KvFormat::fp8},
                                    {"b200_fp4", "b200_sxm", Format::fp4, KvFormat::fp8},
                                    {"mi300x_bf16", "mi300x", Format::bf16, KvFormat::bf16}};
  std::vector<Rival> out;
  for (const Rival& r : known)
    for (const std::string& id : in.against)
      if (id == r.id && !(r.chip == in.chip && r.format == in.format) && out.size() < 4) out.push_back(r);
  return out;
}

void describe(Fields& f, Inputs& in) {
  describe_service(f, in);
  describe_traffic(f, in);
  describe_fleet(f, in);
  describe_rest(f, in);
}

}  // namespace chapters::serving::capacity
