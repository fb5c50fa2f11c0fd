#include "chapters/profiling/measure/lab.h"

namespace chapters::profiling::measure {
namespace {

const Choices measure_sources{
    {"drawn", "drawn runs", "A machine of which everything is known: the truth stands next to the finding."},
    {"machine", "this machine, now",
     "Two rungs of a ladder of kernels, timed here run by run in the order that is set."},
    {"recorded_same", "recorded: the same code twice", "Real runs, one version after the other; both are the same."},
    {"recorded_two", "recorded: two versions in turns",
     "Real runs of a product of vectors, held in lists or in tuples."},
    {"file", "your times", "A CSV with the columns version and time_s, in the order of the clock."}};
const Choices run_orders{{"new_first", "BBBB AAAA", "All of B, then the old version to compare with."},
                         {"old_first", "AAAA BBBB", "All of A, then the new version."},
                         {"alternate", "AB AB", "In turns, A always first."},
                         {"mirrored", "AB BA", "In turns, the first one changing: a steady drift cancels."},
                         {"random", "a coin for each pair", "In turns, a coin says who is first."}};
const Choices tests{{"t", "t test", "Compares means; Welch's, or of the differences of pairs."},
                    {"ranks", "ranks", "Mann-Whitney, or Wilcoxon's signed ranks of pairs: outliers weigh little."},
                    {"bootstrap", "bootstrap", "Draws the runs anew a thousand times and reads the spread."}};
const Choices statistics{{"mean", "mean", "What all runs cost together."},
                         {"median", "median", "Half of the runs are faster."},
                         {"least", "minimum", "The fastest run: what is left without interruptions."}};
const Choices verdicts{
    {"faster", "B is faster", {}}, {"slower", "B is slower", {}}, {"undecided", "no difference shown", {}}};
static_assert(models::measure::order_count == 5);

const Choices work_sizes{{"smallest", "a sixteenth", "A sixteenth of the ladder's usual size."},
                         {"small", "a quarter", "A quarter of the ladder's usual size."},
                         {"usual", "usual", "What the ladder was written for."}};

constexpr When drawn{"source", "drawn"}, timed_here{"source", "machine"};
constexpr std::string_view by_t = "Welch 1947, Student 1908", by_trials = "the whole experiment, repeated";
constexpr std::string_view unknown_machine = "Nobody knows what a real machine would have done in another order.";

void describe_rungs(Fields& f, Inputs& in) {
  f.choice("ladder", in.ladder, timed_ladders(), "Ladder", "The operation: its rungs are versions of it.",
           {.when = timed_here});
  f.integer("rung_a", in.rung_a, "A is rung", "From 1; beyond the last means the last.",
            {.range = {1, 12, Scale::step}, .typical = {1, 8}, .when = timed_here});
  f.integer("rung_b", in.rung_b, "B is rung", "The same one as A is fine: then every difference is the machine's.",
            {.range = {1, 12, Scale::step}, .typical = {1, 8}, .when = timed_here});
  f.choice("size", in.size, work_sizes, "Size", "How large the operation is.", {.when = timed_here});
  f.toggle("cold_caches", in.cold_caches, "Cold caches",
           "Operands are out of the caches when a timed run begins; off: they stay there.", {.when = timed_here});
}

void describe_machine(Fields& f, Inputs& in) {
  f.group("The machine");
  f.real("drift", in.drift, {"Slower when hot", "%"},
         "How much longer a run takes once the machine is hot and its clock has come down; below zero: shorter.",
         {.range = {-20, 20}, .typical = {-10, 10}, .headline = true, .when = drawn});
  f.real("heat_runs", in.heat_runs, "Runs to heat up", "After so many runs 63 % of that has happened.",
         {.range = {1, 1000, Scale::log}, .typical = {3, 200}, .when = drawn});
  f.real("noise", in.noise, {"Noise", "%"}, "Standard deviation of a run.",
         {.range = {0.05, 20, Scale::log}, .typical = {0.2, 10}, .when = drawn});
  f.real("correlation", in.correlation, "Noise shared by neighbours",
         "Correlation of a run's noise with the next one's: slow disturbances last longer than a run.",
         {.range = {0, 0.98}, .typical = {0, 0.95}, .when = drawn});
  f.real("cold", in.cold, {"Cold start", "%"},
         "How much longer the first run of each version takes; of that a quarter is left at each further one.",
         {.range = {0, 500}, .typical = {0, 100}, .when = drawn});
  f.real("outlier_share", in.outlier_share, {"Interrupted runs", "%"}, "Runs into which something else comes.",
         {.range = {0, 30}, .typical = {0, 10}, .when = drawn});
  f.real("outlier", in.outlier, {"An interruption takes", "%"}, "How much longer such a run is, on average.",
         {.range = {1, 200, Scale::log}, .typical = {5, 100}, .when = drawn});
  f.real("tick_s", in.tick_s, {"The clock steps by", "s"},
         "The clock counts in steps: a run takes a whole number of them. 0: it is exact.",
         {.range = {0, 5e-3}, .typical = {0, 2e-3}, .when = drawn});
}

void describe_reading(Fields& f, Inputs& in) {
  f.group("How it is read");
  f.choice("test", in.test, tests, "Method", "How an interval and a chance are made of the runs.");
  f.toggle("paired", in.paired, "Keep pairs together",
           "Compares each run of A with the run of B of the same place: what both share drops out.");
  f.choice("statistic", in.statistic, statistics, "Compared", "What a bootstrap compares.",
           {.when = {"test", "bootstrap"}});
  f.integer("discard", in.discard, "Thrown away",
            "First runs of each version that do not count; they are part of the budget.",
            {.range = {0, 40, Scale::step}, .typical = {0, 8}});
  f.group("Looking early");
  f.integer("look_every", in.look_every, "A look every", "Pairs between two looks at the result.",
            {.range = {1, 200, Scale::log}, .typical = {1, 50}});
  f.integer("repeats", in.repeats, "Repeated experiments",
            "More of them make the simulated shares sharper; ranks and bootstraps of many runs are asked in fewer.",
            {.range = {50, 2000, Scale::log}, .typical = {50, 1000}, .costly = true});
  f.integer("seed", in.seed, "Seed", "Other runs of the same machine.",
            {.range = {0, 1'000'000, Scale::step}, .typical = {0, 30}});
}

void describe_power(Fields& f, Outputs& o) {
  f.group("What the budget can see");
  f.real("smallest", o.smallest, {"Smallest gain that shows", "%"},
         "A t test of as many runs calls it in four of five trials.",
         {.headline = true,
          .may_be_missing = true,
          .absent = "A t test of so few or so restless runs would show none.",
          .formula = "gain with power(gain) = 80 %",
          .source = "distribution of t about a real difference, with the noise's correlation"});
  f.real("smallest_other", o.smallest_other, {"The other pairing would show", "%"},
         "The same with pairs taken apart, or kept together.",
         {.may_be_missing = true,
          .absent = "A t test of so few or so restless runs would show none.",
          .source = "as above"});
  f.real("power_computed", o.power_computed, {"Chance to call B faster, computed", "%"},
         "For a t test with what the order adds.", {.formula = "P(t > critical)", .source = "as above"});
  f.real("power_simulated", o.power_simulated, {"Chance to call B faster, simulated", "%"},
         "With the method that is set.", {.source = by_trials});
  f.real("power_error", o.power_error, {"It may be off by", "%"}, "The farther end of its 95 % interval.",
         {.formula = "Wilson's interval of a share of so many trials", .source = "Wilson 1927"});
  f.real("runs_needed", o.runs_needed, "Runs needed",
         "As many of both together, for B's real gain to show in four of five trials.",
         {.may_be_missing = true, .absent = "There is no gain to look for, or it takes more than 4,000 runs."});
  f.real("rule_pairs", o.rule_pairs, "Pairs by the rule of sixteen",
         "For runs that share no noise and no drift: runs of each version, rounded up.",
         {.may_be_missing = true,
          .absent = "There is no gain to look for.",
          .formula = "16 (spread of a run / gain)^2",
          .source = "Lehr 1992"});
}

void describe_alarms(Fields& f, Outputs& o) {
  f.group("False alarms");
  f.real("alarm_simulated", o.alarm_simulated, {"One look at the end", "%"},
         "Share of experiments on two equal versions that call a difference, with the method that is set.",
         {.source = by_trials});
  f.real("alarm_computed", o.alarm_computed, {"The same, computed", "%"}, "For a t test.",
         {.formula = "P(|t| > critical)", .source = "distribution of t about what the order adds"});
  f.real("peeking", o.peeking, {"False alarms, looking early", "%"},
         "Share of experiments on two equal versions in which a t test at 5 % calls a difference at some look.",
         {.headline = true, .against = {"one look", "one_look"}, .source = by_trials});
  f.real("one_look", o.one_look, {"The same with one look", "%"},
         "A t test at the end alone: what is above 5 % here was made by the order or the noise, not by looking early.",
         {.source = by_trials});
  f.real("split", o.split, {"5 % shared by all looks", "%"}, "The same with 5 % over the looks as the limit at each.",
         {.source = "Bonferroni"});
  f.real("fair_limit", o.fair_limit, {"Fair limit at each look", "%"},
         "With this in place of 5 % at each look, all looks together call equals different in 5 % of experiments; what "
         "the order makes of equals is in it. 5 % where even that calls fewer.",
         {.source = "Pocock 1977, by the whole experiment, repeated"});
  f.real("alarm_error", o.alarm_error, {"The looks' share may be off by", "%"}, "The farther end of its 95 % interval.",
         {.formula = "Wilson's interval of a share of so many experiments", .source = "Wilson 1927"});
  f.integer("looks", o.looks, "Looks", "Every so many pairs from five on, and one at the end.");
  f.real("independent_looks", o.independent_looks, {"If looks were independent", "%"},
         "If each look had runs of its own. Real ones share theirs with the look before.",
         {.formula = "1 - 0.95^looks"});
  f.integer("trials", o.trials, "Experiments", "How many were made for the shares.");
}

}  // namespace

void describe(Fields& f, TimedPair& r) {
  f.text("ladder", r.ladder, "Ladder");
  f.text("a", r.a, "A");
  f.text("b", r.b, "B");
  f.integer("size", r.size, "Size", {.range = {0, 1e15}});
  f.toggle("cold", r.cold, "Cold");
}

void describe(Fields& f, TimedRow& r) {
  f.toggle("is_b", r.is_b, "B");
  f.real("time_s", r.time_s, {"Time", "s"}, {.range = {1e-12, 1e6}});
}

void describe(Fields& f, MethodRow& r) {
  f.text("method", r.method, "Method");
  f.real("found", r.found, {"Gain found", "%"}, {.source = "estimate of the method"});
  f.real("lo", r.lo, {"From", "%"}, {.source = "95 % interval"});
  f.real("hi", r.hi, {"To", "%"}, {.source = "95 % interval"});
  f.real("p", r.p, "p", {.source = "two-sided"});
  f.text("says", r.says, "Says");
}

void describe(Fields& f, OrderRow& r) {
  f.text("order", r.order, "Order");
  f.real("bias", r.bias, {"Order alone shows", "%"}, {.source = "mean over the noise"});
  f.real("alarms", r.alarms, {"False alarms", "%"}, {.source = "distribution of t"});
  f.real("seen", r.seen, {"Smallest gain", "%"},
         {.may_be_missing = true,
          .absent = "A t test of so few or so restless runs would show none.",
          .source = "power of 80 %"});
}

void describe(Fields& f, Inputs& in) {
  f.group("The experiment");
  f.choice("source", in.source, measure_sources, "Runs", "Where the times come from.");
  f.file("file", in.file, "Your times", "A CSV with the columns version and time_s, one line per run.",
         {.when = {"source", "file"}, .mode = {"source", "file"}},
         {.reads = {FileKind::unknown}, .accepts = "csv, tsv, txt", .only_in_its_lab = true});
  f.integer("runs", in.runs, "Budget", "Runs of both versions together; recorded runs beyond it are left out.",
            {.range = {12, static_cast<double>(max_runs), Scale::log},
             .typical = {12, 200},
             .headline = true,
             .costly = true});
  f.choice("order", in.order, run_orders, "Order", "Who runs when.", {.when = {"source", "drawn|machine"}});
  describe_rungs(f, in);
  f.real("gain", in.gain, {"B really saves", "%"},
         "Share of A's time; of measured runs nobody knows it, and chances are computed for this one.",
         {.range = {-20, 20}, .typical = {-6, 6}, .headline = true});
  describe_machine(f, in);
  describe_reading(f, in);
  f.group("Timed here");
  f.table("timed", in.timed, "What was timed", "Two rungs of a ladder.",
          {.when = timed_here, .max_items = 1, .origin = Origin::measured});
  f.table("timed_runs", in.timed_runs, "Timed runs", "In the order of the clock.",
          {.when = timed_here, .max_items = static_cast<std::size_t>(max_runs), .origin = Origin::measured});
}

void describe(Fields& f, Outputs& o) {
  f.group("What the runs say");
  f.choice("verdict", o.verdict, verdicts, "Verdict", "By the interval that the method gives.");
  f.real("found", o.found, {"Gain found", "%"}, "What B saves of A's time; below zero: B takes longer.",
         {.headline = true,
          .against = {"really", "real_gain"},
          .formula = "(A - B) / A",
          .source = "the runs that count"});
  f.real("found_lo", o.found_lo, {"From", "%"}, "Lower end of the 95 % interval.", {.source = by_t});
  f.real("found_hi", o.found_hi, {"To", "%"}, "Upper end of the 95 % interval.", {.source = by_t});
  f.real("found_size", o.found_size, {"Its size", "%"}, {.formula = "|gain found|"});
  f.real("half_width", o.half_width, {"Half of the interval", "%"}, {.formula = "(to - from) / 2"});
  f.real("p", o.p, "p", "The chance of so large a difference between equals, if runs were independent.",
         {.source = by_t});
  f.real("standard_error", o.standard_error, {"Standard error", "%"}, "What a t test takes for the estimate's spread.",
         {.may_be_missing = true,
          .absent = "Only a t test has one.",
          .formula = "spread of the differences / sqrt(pairs)",
          .source = by_t});
  f.real("critical_t", o.critical_t, "Critical t", "What t must exceed at 5 %, two-sided.",
         {.may_be_missing = true, .absent = "Only a t test has one.", .source = "Student 1908"});
  f.real("order_bias", o.order_bias, {"Order alone shows", "%"},
         "What the means of two equal versions would show in this order, on average over the noise.",
         {.headline = true,
          .may_be_missing = true,
          .absent = unknown_machine,
          .formula = "1 - mean factor of B's runs / mean factor of A's"});
  f.real("expected_found", o.expected_found, {"Found on average", "%"}, "Real gain and order together.",
         {.may_be_missing = true, .absent = unknown_machine, .formula = "1 - (1 - gain) (1 - order)"});
  f.real("real_gain", o.real_gain, {"Really", "%"}, "What B saves, where it is known.",
         {.may_be_missing = true, .absent = "Nobody knows it of measured runs."});
  f.group("The runs");
  f.integer("runs_used", o.runs_used, "Runs that count",
            "Both versions, without what is thrown away, and in pairs without a run that has no partner.");
  f.integer("pairs", o.pairs, "Pairs", "Runs of the version that has fewer.");
  f.integer("thrown_away", o.thrown_away, "Thrown away", "First runs of both versions.");
  f.real("a_time_s", o.a_time_s, {"A takes", "s"}, "By what is compared.", {.source = "mean, median or minimum"});
  f.real("b_time_s", o.b_time_s, {"B takes", "s"}, "By what is compared.", {.source = "mean, median or minimum"});
  f.real("a_spread", o.a_spread, {"Spread of A", "%"}, {.formula = "standard deviation / mean of A"});
  f.real("b_spread", o.b_spread, {"Spread of B", "%"}, {.formula = "standard deviation / mean of A"});
  f.real("pair_spread", o.pair_spread, {"Spread of the differences", "%"},
         {.formula = "standard deviation of A - B by pairs / mean of A"});
  f.real("pair_correlation", o.pair_correlation, "Correlation in pairs",
         "Above 0 pairs have something in common, and keeping them together helps.", {.source = "Pearson"});
  f.text("next", o.next, "Timed next", "What Time them runs, where runs of this machine are chosen.");
  f.real("clock_spread", o.clock_spread, {"Spread by the clock alone", "%"},
         "How far a clock that counts in steps spreads runs of A that are all alike but for the noise.",
         {.may_be_missing = true,
          .absent = "Nobody knows it of measured runs.",
          .formula = "step sqrt(f (1 - f)) / A",
          .source = "a run of n + f steps shows n or n + 1"});
  f.real("run_spread", o.run_spread, {"Spread of a run", "%"},
         "How far runs of one version spread that meet the machine in the same state.",
         {.formula = "sqrt(noise^2 + interruptions^2 + clock^2) / mean",
          .source = "an interruption takes an exponential time; of measured runs: the spread of A"});
  describe_power(f, o);
  describe_alarms(f, o);
  f.group("Other ways");
  f.table("methods", o.methods, "The same runs, all methods", "What each method says of these runs.");
  f.table("orders", o.orders, "The same budget, all orders", "By formula, for t tests; empty for measured runs.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"profiling/measure",
                                                   "Measure",
                                                   "Is B faster than A, or does it only look so?",
                                                   {.job = true, .service = "kernels", .published_keys = "look_every"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::profiling::measure
