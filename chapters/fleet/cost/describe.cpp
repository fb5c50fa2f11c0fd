#include "chapters/described/serving_choices.h"
#include "chapters/fleet/cost/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::fleet::cost {
namespace {

const Choices works = choices_in_order<WorkKind::train>(
    {{"serve", "Serving", "Tokens of answers, made in decode steps for many users at once."},
     {"train", "Training", "Tokens that a training reads; its work is 6 N per token."}});
constexpr When serving{"work", "serve"}, training{"work", "train"};
constexpr std::string_view not_train = "Only a training has it.", not_serve = "Only serving has it.";

void describe_work(Fields& f, Inputs& in) {
  f.group("The work");
  f.choice("work", in.work, works, "Work", "What the tokens are made for.");
  shared::model(f, "model", in.model, {.help = "Its weights are read, or its active parameters trained."});
  shared::chip(f, "chip", in.chip, {.help = "Its bandwidth and its peak are what a step could reach."});
  f.integer("chips", in.chips, "Chips", "All that the price pays for.",
            {.range = {1, 131'072, Scale::log}, .typical = {1, 16'384}});
  f.integer("users", in.users, "Users at once", "Sequences that share a decode step.",
            {.range = {1, static_cast<double>(max_users), Scale::log}, .typical = {1, 1024}, .when = serving});
  shared::context(f, "context", in.context, {.help = "Tokens in the cache of each user.", .when = serving});
  shared::format(f, "format", in.format, {.label = "Weights", .help = "Format of weights and matmuls."});
  f.choice("kv_format", in.kv_format, engine_kv_choices(), "Keys and values in", "What the cache is kept in.",
           {.when = serving});
  f.real("step_tokens", in.step_tokens, {"Tokens per step", "tokens"}, "The global batch.",
         {.range = {1e3, 1e9, Scale::log}, .typical = {1e5, 1e8}, .when = training});
  f.real("run_tokens", in.run_tokens, {"Tokens of the run", "tokens"}, "All that the training reads.",
         {.range = {1e9, 1e15, Scale::log}, .typical = {1e11, 1e14}, .when = training});
}

}  // namespace

void describe(Fields& f, LeverRow& r) {
  f.text("name", r.name, "Lever");
  f.real("dollars", r.dollars, {"A million tokens", "$"}, {.formula = "price / tokens, with this change alone"});
  f.real("saved_per_year", r.saved_per_year, {"Saved per year", "$"}, {.formula = "difference x tokens per year"});
}

void describe(Fields& f, UsersRow& r) {
  f.integer("sharing", r.sharing, "Users at once", "They share the reading of the weights.");
  f.real("price", r.price, {"A million tokens", "$"}, {.formula = "price / tokens, at the same share of the bound"});
}
void describe(Fields& f, GridRow& r) {
  f.text("grid", r.grid, "Grid");
  f.real("emitted", r.emitted, {"Carbon", "kg"}, "CO2 equivalent, per million tokens.",
         {.formula = "energy x carbon of the grid", .source = "codecarbon, from Our World in Data"});
}

void describe(Fields& f, Inputs& in) {
  f.group("The hour");
  f.real("price_per_hour", in.price_per_hour, {"All chips for an hour", "$"}, "What is paid whether work runs or not.",
         {.range = {0.01, 1e6, Scale::log}, .typical = {1, 1e5}, .headline = true});
  f.real("output_tokens_per_s", in.output_tokens_per_s, {"Tokens per second", "tokens/s"},
         "The mean over all hours that are paid, empty ones among them.",
         {.range = {1, 1e7, Scale::log}, .typical = {100, 1e5}, .headline = true});
  f.real("filled", in.filled, {"Hours filled", "%"}, "Share of the paid hours in which work runs.",
         {.range = {1, 100}, .typical = {10, 100}, .headline = true});
  f.real("tokens_per_day", in.tokens_per_day, {"Tokens per day", "tokens"}, "What a year is reckoned with.",
         {.range = {1e3, 1e15, Scale::log}, .typical = {1e8, 1e12}});
  describe_work(f, in);
  f.group("Power and grid");
  f.real("power_w", in.power_w, {"Power of all chips", "W"}, "The mean, with their hosts.",
         {.range = {10, 1e8, Scale::log}, .typical = {300, 1e7}});
  f.real("pue", in.pue, "PUE", "Power of the whole data centre over that of its machines.", {.range = {1, 2.5}});
  f.real("carbon_g_per_kwh", in.carbon_g_per_kwh, {"Carbon of the grid", "g/kWh"}, "Grams of CO2 equivalent.",
         {.range = {0, 1200}});
  f.real("electricity_per_kwh", in.electricity_per_kwh, {"A kilowatt-hour", "$"},
         "Usually part of the price of the hour; here it is named apart.", {.range = {0, 1}, .typical = {0, 0.4}});
}

void describe(Fields& f, Outputs& o) {
  f.group("A million tokens");
  f.real("dollars_per_million_tokens", o.dollars_per_million_tokens, {"A million tokens", "$"},
         {.headline = true, .against = {"if filled", "filled_dollars"}, .formula = "price / (3600 tokens per second)"});
  f.real("kwh_per_million_tokens", o.kwh_per_million_tokens, {"Energy", "kWh"}, "Per million tokens.",
         {.headline = true, .formula = "power x PUE / tokens per second"});
  f.real("kg_co2_per_million_tokens", o.kg_co2_per_million_tokens, {"Carbon", "kg"},
         "CO2 equivalent, per million tokens.", {.headline = true, .formula = "energy x carbon of the grid"});
  f.real("electricity_per_million", o.electricity_per_million, {"Electricity", "$"}, "Per million tokens.",
         {.formula = "energy x price of a kilowatt-hour"});
  f.real("filled_dollars", o.filled_dollars, {"With every hour filled", "$"}, {.formula = "price x share filled"});
  f.real("low_dollars", o.low_dollars, {"At the lowest rental price", "$"}, "Rental prices of late 2025 and of 2026.",
         {.absent = "The catalog has no rental price of this chip.", .formula = "as the price"});
  f.real("high_dollars", o.high_dollars, {"At the highest rental price", "$"},
         "Rental prices of late 2025 and of 2026.",
         {.absent = "The catalog has no rental price of this chip.", .formula = "as the price"});
  f.real("one_user_dollars", o.one_user_dollars, {"One user alone", "$"}, "The same share of the bandwidth reached.",
         {.absent = not_serve, .formula = "price / tokens of a batch of 1"});
  f.group("What the money went to");
  f.real("part_empty", o.parts.empty, {"Empty hours", "$"}, {.formula = "price x (1 - filled)"});
  f.real("part_not_reached", o.parts.not_reached, {"Never reached", "$"},
         "Steps take longer than their bound: launches, communication, kernels below the peak.",
         {.formula = "price x filled x (1 - reached)"});
  f.real("part_weights", o.parts.weights, {"Reading weights", "$"}, {.formula = "weights / bandwidth, of the step"});
  f.real("part_cache", o.parts.cache, {"Reading the cache", "$"}, {.formula = "cache / bandwidth, of the step"});
  f.real("part_computing", o.parts.computing, {"Computing", "$"}, "0 where it is hidden under the reading.",
         {.formula = "flops / peak, of the step"});
  f.group("A step");
  f.real("reach", o.reach, {"Bound reached", "%"}, "Share of the bandwidth, or of the peak where a step computes.",
         {.formula = "bound / step"});
  f.real("step_s", o.step_s, {"Time", "s"}, "A decode step; in training one token.",
         {.formula = "tokens in a step / busy rate"});
  f.real("busy_tokens_per_s", o.busy_tokens_per_s, {"While work runs", "tokens/s"}, {.formula = "rate / share filled"});
  f.real("bound_tokens_per_s", o.bound_tokens_per_s, {"At most", "tokens/s"}, {.formula = "tokens in a step / bound"});
  f.group("A year");
  f.real("year_dollars", o.year_dollars, {"A year", "$"},
         {.headline = true, .formula = "tokens per day x 365.25 x price"});
  f.real("year_kwh", o.year_kwh, {"Energy of a year", "kWh"}, {.formula = "tokens per year x energy"});
  f.real("year_co2_t", o.year_co2_t, {"Carbon of a year", "t"}, {.formula = "energy x carbon of the grid"});
  f.real("nodes", o.nodes, "Such machines needed", {.formula = "tokens per day / (86,400 x rate), rounded up"});
  f.real("together_saved", o.together_saved, {"All levers together", "$"}, "Per year.",
         {.formula = "difference with all of them"});
  f.real("promised_saved", o.promised_saved, {"Their sum, alone", "$"}, "Per year; they cut the same coin.",
         {.formula = "sum of what each saves alone"});
  f.table("levers", o.levers, "Levers");
  f.table("by_users", o.by_users, "The same hour, by users");
  f.table("by_grid", o.by_grid, "Carbon by grid");
  f.group("A training");
  f.real("step_dollars", o.step_dollars, {"A step", "$"}, {.absent = not_train, .formula = "tokens per step x price"});
  f.real("run_dollars", o.run_dollars, {"The run", "$"}, {.absent = not_train, .formula = "tokens of the run x price"});
  f.real("run_kwh", o.run_kwh, {"Energy of the run", "kWh"},
         {.absent = not_train, .formula = "tokens of the run x energy"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"fleet/cost", "Cost", "What does a million tokens cost, and what was the money spent on?"}, compute, arrange,
      draw);
}

}  // namespace chapters::fleet::cost
