#include "chapters/mechanism/shared_choices.h"
#include "chapters/profiling/detective/lab.h"

namespace chapters::profiling::detective {
namespace {

/// What can be said: the causes, and that nothing is wrong.
const Choices& charges() {
  static const Choices choices = [] {
    Choices out{{"none", "Not said yet", ""}};
    for (std::size_t i = 1; i < models::trace::cause_count; ++i) out.push_back(cause_choices()[i]);
    out.push_back(cause_choices()[models::trace::cause_count]);  // nothing is wrong
    return out;
  }();
  return choices;
}
// In the order of models::trace::Fix.
const Choices fix_choices{{"none", "No fix yet", ""},
                          {"more_workers", "Twice the loader workers", ""},
                          {"pinned_memory", "Pinned memory, non_blocking", ""},
                          {"collect_by_hand", "gc.freeze, collect by hand", ""},
                          {"fixed_shapes", "Fixed or dynamic shapes", "Nothing is compiled a second time."},
                          {"keep_on_device", "Leave values on the GPU", "Reads and logs go every hundredth step."},
                          {"fuse_kernels", "Fused optimizer", ""},
                          {"replace_gpu", "Another GPU", "It neither throttles nor drops its clock."},
                          {"other_link", "Another cable or port", ""},
                          {"balance_batches", "Batches of equal tokens", ""},
                          {"smaller_buckets", "Smaller buckets", "The last one is small."},
                          {"save_in_background", "Save in the background", ""},
                          {"reuse_buffers", "Pinned buffers that stay", "They are touched and pinned once."},
                          {"lock_clocks", "Lock the clocks", ""},
                          {"machine_alone", "The machine alone", "No other process on its cores and GPUs."},
                          {"even_ranks", "Start the late rank earlier", "It comes to its collectives with the others."},
                          {"warm_up", "Warm up first", "Every kernel is launched once before the run counts."}};

const Choices& sources() {
  static const Choices choices = [] {
    Choices out{{"dealt", "Dealt by its number", "A generated job, with a fault or without one."}};
    for (const auto& r : models::trace::real_recordings())
      out.push_back({std::string(r.id), "Real: " + std::string(r.work), std::string(r.origin) + "."});
    return out;
  }();
  return choices;
}

constexpr std::string_view own = "file";
constexpr std::string_view sealed_words = "Sealed until you accuse, or a recording of your own.";
constexpr std::string_view nobody = "Nobody is accused.";
constexpr std::string_view replayed = "the replay: the job's graph run again with the change";

}  // namespace

void describe(Fields& f, Inputs& in) {
  constexpr When dealt{own, ""}, by_number{"recording", "dealt"};
  f.group("The case");
  f.choice("recording", in.recording, sources(), "Case",
           "Dealt, or a recording of a real job that others published: click, name, fix, and the replay grades.",
           {.when = dealt});
  f.integer("seed", in.seed, "Number", "Each number is another case.",
            {.range = {1, 99999, Scale::step}, .typical = {1, 50}, .headline = true, .when = by_number});
  f.integer("level", in.level, "Level",
            "1: a large fault in a small job; 3: a small one in a large job, with long spans that cost nothing.",
            {.range = {1, 3, Scale::step}, .headline = true, .when = by_number});
  f.toggle("faults", in.faults, "A fault is planted",
           "Off: a healthy job of the same kind. A sealed case decides itself.", {.when = by_number});
  f.real("severity", in.severity, {"Size of the fault", ""},
         "Times the size that was dealt; a small one may hide under other work.",
         {.range = {0, 4}, .typical = {0, 2}, .when = {"faults", "true"}});
  f.toggle("sealed", in.sealed, "Sealed",
           "What is wrong is shown when you have accused somebody. In about one dealt case of six nothing is wrong.",
           {.when = dealt});
  f.group("Your charge");
  f.integer("accused", in.accused, "Suspect",
            "Counted from 1 as in the line-up; 0 accuses nobody, and beyond the last means the last. A click on a span "
            "or on a row says it, too.",
            {.range = {0, max_suspects, Scale::step}, .headline = true, .when = dealt});
  f.choice("charge", in.charge, charges(), "Cause", "What you think is wrong.", {.when = dealt});
  f.choice("fix", in.fix, fix_choices, "Fix", "The job is run again with it.", {.when = dealt});
  f.group("Your own recordings");
  f.file("file", in.file, "Recording",
         "PyTorch or other Chrome trace (JSON, plain or gz), or an Nsight Systems export (sqlite). It takes the place "
         "of the case.",
         {.reads = {FileKind::recording, FileKind::memory_recording},
          .accepts = "json, json.gz, gz, sqlite",
          .by_bytes = true,
          .only_in_its_lab = true});
  f.table("ranks", in.ranks, "More ranks", "Recordings of the same run, a file for each other rank.",
          {.max_items = 64});
  shared::history(f, "history", in.history, scenarios_table, max_scenario_records,
                  {.label = "Your cases",
                   .help = "Every case that you ended, here and on the boards; kept between "
                           "sessions."});
  shared::clock(f, "now_s", in.now_s);
}

namespace {

void describe_verdict(Fields& f, Outputs& o) {
  f.group("The verdict");
  f.real("step_s", o.step_s, {"Step", "s"}, "Mean of the steps recorded.",
         {.headline = true, .against = {"healthy", "step_without_s"}, .formula = "run / steps"});
  f.real("won_s", o.won_s, {"Won without the fault", "s"}, "What the whole run takes less without it.",
         {.headline = true, .absent = sealed_words, .formula = "run - run without the fault", .source = replayed});
  f.real("longest_s", o.longest_s, {"Longest span", "s"}, "What it waits for is in it.",
         {.headline = true, .absent = "A recording of your own has no line-up."});
  f.real("score", o.score, "Score", "A point each for the suspect, the cause, and a fix that wins most of it.",
         {.headline = true, .absent = nobody, .formula = "suspect + cause + fix"});
  f.choice("planted", o.planted, cause_choices(), "Planted",
           "What is wrong with the job; what a real one is known for.");
  f.real("culprit_rank", o.culprit_rank, "Rank of the culprit", "-1: all of them.", {.absent = sealed_words});
  f.real("won_percent", o.won_percent, {"Won, of the run", "%"},
         {.absent = sealed_words, .formula = "won without the fault / run"});
  f.real("step_without_s", o.step_without_s, {"Step without the fault", "s"},
         {.absent = sealed_words, .formula = "run without the fault / steps", .source = replayed});
  f.real("replay_percent", o.replay_percent, {"The replay explains", "%"},
         "How much of a real recording's times comes out again when its graph is run without any change.",
         {.absent = "A dealt case is its own replay.", .source = replayed});
  f.real("culprit_s", o.culprit_s, {"The culprit's spans", "s"}, "All of them together, on the rank that is to blame.",
         {.absent = sealed_words});
  f.real("longest_won_s", o.longest_won_s, {"Won without the longest span", "s"},
         "It and all others of its kind are taken out.", {.absent = sealed_words, .source = replayed});
}

void describe_charge(Fields& f, Outputs& o) {
  f.group("Your charge, graded");
  f.real("accused_s", o.accused_s, {"Longest span of the accused", "s"}, "What it waits for is in it.",
         {.absent = nobody});
  f.real("accused_won_s", o.accused_won_s, {"Won without the accused", "s"},
         "Work that has to be done is cut to what it takes in a healthy job, all else to nothing.",
         {.absent = nobody, .source = replayed});
  f.real("fix_won_s", o.fix_won_s, {"Won by the fix", "s"},
         {.absent = "No fix is chosen, or all is sealed.", .source = replayed});
}

void describe_diagnosis(Fields& f, Outputs& o) {
  f.group("The program's own diagnosis");
  f.choice("diagnosed", o.diagnosed, cause_choices(), "Diagnosed", "From the recordings alone.");
  f.real("diagnosed_rank", o.diagnosed_rank, "Rank diagnosed", "-1: all of them.",
         {.absent = "Nothing is diagnosed, or all is sealed."});
  f.real("diagnosed_s", o.diagnosed_s, {"Time found for it", "s"}, "On the rank where it is most.",
         {.absent = "Nothing is diagnosed, or all is sealed."});
  f.real("explained_percent", o.explained_percent, {"Idle time explained", "%"},
         "The part of the compute streams' idle time for which a cause was found.",
         {.absent = "All is sealed, or no stream is idle.", .formula = "explained / idle"});
  f.table("witnesses", o.witnesses, "What was found", {.max_items = 64});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_verdict(f, o);
  describe_charge(f, o);
  f.group("Your record");
  f.integer("cases_sealed", o.cases_sealed, "Sealed cases", "Sealed recordings in which you named somebody.");
  f.integer("cases_solved", o.cases_solved, "Solved", "Those in which the first one named was guilty.");
  f.integer("cases_kept", o.cases_kept, "Cases of every kind", "With the boards and cases of interview/scenarios.");
  f.real("today_case", o.today_case, "Case of the day", "The number of the case that everybody is dealt today.",
         {.absent = "The day is not known."});
  describe_diagnosis(f, o);
  f.group("The job");
  f.real("length_s", o.length_s, {"Run", "s"}, "From the start to the end of the last step.");
  f.integer("ranks_shown", o.ranks, "Ranks", "Recordings.");
  f.integer("steps", o.steps, "Steps", "Those of the first rank.");
  f.text("origin", o.origin, "Recorded by");
  f.text("losses", o.losses, "Not read");
  f.table("suspects", o.suspects, "Line-up", {.max_items = 64});
}

void describe(Fields& f, SuspectRow& row) {
  f.text("letter", row.letter, "Suspect");
  f.text("name", row.name, "Spans");
  f.real("suspect_longest_s", row.longest_s, {"Longest", "s"});
  f.real("suspect_length_s", row.length_s, {"All of them", "s"});
  f.real("suspect_won_s", row.won_s, {"Won without", "s"}, {.absent = "Sealed."});
  f.text("verdict", row.verdict, "Verdict");
}

void describe(Fields& f, WitnessRow& row) {
  f.text("cause", row.cause, "Cause");
  f.text("where", row.where, "Where");
  f.text("span", row.span, "Costliest span");
  f.real("cost_s", row.cost_s, {"Time found", "s"});
}

LabPtr make() {
  auto cases = std::make_shared<DealtCases>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"profiling/detective", "Detective", "Which span makes the job slow, and what would fix it?", {.job = true}},
      [cases](const Inputs& in, Progress& progress) { return compute(in, progress, *cases); }, arrange, draw);
}

}  // namespace chapters::profiling::detective
