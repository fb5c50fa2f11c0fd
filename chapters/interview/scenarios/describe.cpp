#include "chapters/interview/scenarios/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::interview::scenarios {
namespace {

const Choices kinds = choices_in_order<ScenarioKind::pitch>(
    {{"board", "board", "Join each symptom with its cause, its evidence and its fix."},
     {"branching", "branching case", "Run checks that cost minutes until you can name the cause."},
     {"design", "system design", "Tick what you said; the figures are computed by the labs."},
     {"pitch", "pitch", "Talk against the clock, with an outline to tick."}});
const Choices deals = choices_in_order<Deal::today>(
    {{"mixed", "mixed", "Cases of the topic and level, others where these are too few."},
     {"twins", "twins", "Pairs with the same symptom and two causes."},
     {"today", "board of the day", "The same for everybody, another one at midnight UTC; the seed does not matter."}});
const Choices levels =
    choices_in_order<CaseLevel::three>({{"any", "any", ""}, {"1", "1", ""}, {"2", "2", ""}, {"3", "3", ""}});

void describe_branching(Fields& f, Outputs& o) {
  f.group("The branching case");
  f.integer("possible", o.possible, "Causes still possible", "After the checks that were run.",
            {.when = {"kind", "branching"}});
  f.integer("checks", o.checks, "Checks run", "That you ran so far.", {.when = {"kind", "branching"}});
  f.real("spent_minutes", o.spent_minutes, {"Spent", "min"}, "By the checks that were run.",
         {.when = {"kind", "branching"}});
  f.real("best_mean_minutes", o.best_mean_minutes, {"Best plan, mean", "min"},
         "Over all causes, each as often as it is likely.",
         {.absent = "Only a branching case has checks.",
          .when = {"kind", "branching"},
          .formula = "least over checks of minutes + mean of what is left",
          .source = "dynamic programming over sets of causes"});
  f.real("cheapest_mean_minutes", o.cheapest_mean_minutes, {"Cheapest first, mean", "min"},
         "Always the cheapest check that parts what is left.",
         {.absent = "Only a branching case has checks.", .when = {"kind", "branching"}});
  f.real("all_checks_minutes", o.all_checks_minutes, {"All checks", "min"}, "If every one were run.",
         {.absent = "Only a branching case has checks.", .when = {"kind", "branching"}});
  f.real("longest_minutes", o.longest_minutes, {"Longest check", "min"}, "As given, or as you set it.",
         {.absent = "Only a branching case has checks.", .when = {"kind", "branching"}});
  f.real("best_here_minutes", o.best_here_minutes, {"Best plan, this cause", "min"},
         "What the best plan would have taken to find the cause that was at work.",
         {.absent = "It is known at the end, and only a branching case has it.", .when = {"kind", "branching"}});
  f.text("best_first", o.best_first, "Its first check", {.when = {"kind", "branching"}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  const ScenarioDeck& deck = scenario_deck();
  f.group("What is dealt");
  f.choice("kind", in.kind, kinds, "Kind", "What is practised.", {.headline = true});
  f.choice("topic", in.topic, deck.topics, "Topic", "The chapter that cases come from first.", {.headline = true});
  f.choice("case", in.which, deck.cases, "Case", "One of the kind, or the seed's choice. A board takes none.",
           {.when = {"kind", "branching|design|pitch"}});
  f.choice("level", in.level, levels, "Level", "1 is met in the first week, 3 on large jobs.",
           {.when = {"kind", "board"}});
  f.choice("deal", in.deal, deals, "Deal", "Whether symptoms come in pairs.", {.when = {"kind", "board"}});
  f.integer("cards", in.cards, "Symptoms", "How many lie on the board.",
            {.range = {4, static_cast<double>(max_cards)}, .when = {"kind", "board"}});
  f.integer("seed", in.seed, "Seed", "The same seed deals the same.",
            {.range = {0, 1e6, Scale::step}, .typical = {0, 60}, .headline = true});
  f.group("The clock");
  f.real("case_s", in.case_s, {"Clock per symptom (0: none)", "s"}, "A thread that is drawn later does not count.",
         {.range = {0, 300, Scale::step, 5}, .when = {"kind", "board"}});
  f.real("dear_minutes", in.dear_minutes, {"Longest check (0: as given)", "min"},
         "Minutes of the check that takes longest in the case as given.",
         {.range = {0, 240}, .typical = {0, 90}, .when = {"kind", "branching"}});
  f.real("design_s", in.design_s, {"Clock of a design", "s"}, "Points that are ticked later do not count.",
         {.range = {300, 3600, Scale::step, 60}, .when = {"kind", "design"}});
  f.real("words_per_min", in.words_per_min, "Words per minute", "How fast you speak; most people say 130 to 160.",
         {.range = {80, 220}, .when = {"kind", "pitch"}});
  f.toggle("reveal", in.reveal, "Show the solution", "All threads, the best path, or every point in full.");
  f.group("What you did");
  f.text(
      "moves", in.moves, "Moves",
      "Threads, checks and points in the order in which you made them, as a link carries them. Moves of another deal "
      "do not count.");
  shared::history(f, "history", in.history, scenarios_table, max_scenario_records,
                  {.label = "Your cases", .help = "Every case that you ended; kept between sessions."});
  shared::clock(f, "now_s", in.now_s);
}

void describe(Fields& f, FigureRow& r) {
  f.text("label", r.label, "Figure");
  f.text("value", r.value, "Value");
  f.text("lab", r.lab, "Lab");
  f.text("link", r.link, "Link");
}

void describe(Fields& f, Outputs& o) {
  f.group("How it goes");
  f.real("score", o.score, {"Score", "%"},
         "A board: right threads less half of each wrong one. A branching case: the best plan's minutes over yours, "
         "times how sure you could be. Otherwise the points that were said in time.",
         {.headline = true});
  f.integer("right", o.right, "Right", "Threads, points, or the score of a branching case.", {.headline = true});
  f.integer("of", o.of, "Out of", "Threads or points; 100 for a branching case.");
  f.integer("wrong", o.wrong, "Wrong", "Threads that were ever wrong, or a wrong cause that was named.",
            {.headline = true});
  f.integer("told", o.told, "Told", "Symptoms with all three threads right, points that were said, or the cause.");
  f.real("elapsed_s", o.elapsed_s, {"Time", "s"}, "On the clock, at the last move.", {.headline = true});
  f.real("limit_s", o.limit_s, {"Clock", "s"}, "0 where none runs.");
  f.text("state", o.state, "State");
  f.toggle("ended", o.ended, "Ended");
  f.toggle("moves_left_out", o.moves_left_out, "Moves left out", "They are of another deal, or no moves.");
  f.group("What lies there");
  f.text("what", o.what, "Case");
  f.text("topic_now", o.topic_now, "Topic");
  f.integer("items", o.cards, "Cards", "Symptoms, causes of a branching case, or points.");
  f.integer("causes", o.causes, "Causes", "On a board one of them belongs to no symptom.",
            {.when = {"kind", "board|branching"}});
  f.text("left_over", o.left_over, "Left over, or at work", "The cause without a symptom, or the one that was at work.",
         {.when = {"kind", "board|branching"}});
  f.integer("assignments", o.assignments, "Right assignments", "A fair board has one.", {.when = {"kind", "board"}});
  f.integer("of_topic", o.of_topic, "As asked for", "Symptoms of the topic and level.", {.when = {"kind", "board"}});
  f.real("by_luck", o.by_luck, "Right threads by luck",
         "The mean, when all threads are drawn by chance and each thing is used once.",
         {.when = {"kind", "board"}, .formula = "2 n / (n + 1) + 1"});
  describe_branching(f, o);
  f.group("Points");
  f.table("figures", o.figures, "Figures", "As the labs compute them now.",
          {.when = {"kind", "design"}, .max_items = 8});
  f.real("point_s", o.point_s, {"Time per point", "s"},
         {.when = {"kind", "design|pitch"}, .formula = "clock / points"});
  f.real("words", o.words, "Words", "That fit into the pitch.",
         {.when = {"kind", "pitch"}, .formula = "clock / 60 s * words per minute"});
  f.group("What you have done");
  f.integer("kept", o.kept, "Cases kept", "That you ended, of every kind.");
  f.real("kept_score", o.kept_score, {"Their mean score", "%"}, "Half a point off for each wrong thread.",
         {.absent = "You have ended no case yet."});
}

void describe(Fields& f, View& v) {
  f.text("open_link", v.requests.open_link, "Lab to open");
  f.toggle("ticking", v.requests.awake, "The clock runs");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"interview/scenarios",
       "Scenarios",
       "What is it, what proves it, and what mends it, before the clock runs out?",
       {.job = true}},  // figures of a design are computed by other labs
      compute, arrange, draw);
}

}  // namespace chapters::interview::scenarios
