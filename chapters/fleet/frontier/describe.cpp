#include "chapters/fleet/frontier/lab.h"

namespace chapters::fleet::frontier {
namespace {

const Choices sets{
    {"chat", "Chat on B200 and H100", "11 language models as ML.ENERGY measured them, a front for each."},
    {"reasoning", "Reasoning on B200 and H100", "Two sizes of gpt-oss with long answers, measured by ML.ENERGY."},
    {"timm", "Image classifiers", "795 models of timm: accuracy on ImageNet and images per second."},
    {"gguf_8b", "Llama 3 8B, formats", "31 quantizations of llama.cpp: size of the file and perplexity."},
    {"gguf_70b", "Llama 2 70B, formats", "Nine quantizations of llama.cpp: size of the file and perplexity."},
    {"bev", "BEVFormer, engines", "22 engines on an RTX 3090: frames per second and nuScenes score."},
    {"yolov5", "YOLOv5 detectors", "Seven sizes on a V100: time per image and precision."},
    {"rtdetr", "RT-DETR detectors", "Five sizes on a T4: frames per second and precision."},
    {"orin", "YOLO11, exports", "Exports of five sizes on an Orin Nano: time per image and size of the file."},
    {"own", "Points of yours", "A CSV: a name and one column per axis."}};

/// What a list of names is made of: points, of which each stands by its own name.
const Choices points_listed{{"point", "a point of the set", "By its name."},
                            {"own", "a point of your file", "By the name in its first column."}};

constexpr When own{"set", "own"}, by_factors{"set", "chat|reasoning|orin|own"},
    by_units{"set", "timm|gguf_8b|gguf_70b|bev|yolov5|rtdetr|own"};
constexpr std::string_view no_log = "The vertical axis counts units, not factors.",
                           no_units = "The vertical axis counts factors, not units.",
                           no_other = "No other quality is compared, or none of its points passes the walls.",
                           no_end = "No exchange rate is too high for it.",
                           no_more = "Nothing passes that has so much more, or both axes are of one kind.",
                           no_mine = "No name is searched for, or no point has it.", measured = "the set's own source",
                           by_rate = "slope x across + up, in steps";

}  // namespace

void describe(Fields& f, FrontRow& r) {
  f.text("quality_name", r.quality_name, "Quality", "It has a front of its own.");
  f.integer("points", r.points, "Points", "Those that have every axis.");
  f.integer("on_front", r.on_front, "On its front", "No other point of it is as good on all axes and better on one.");
  f.text("winner_name", r.winner_name, "Best for you", "Where the ruler touches it.");
  f.real("across", r.across, "Across", {.absent = no_other, .source = measured});
  f.real("up", r.up, "Up", {.absent = no_other, .source = measured});
  f.real("times", r.times, {"Price", "×"}, "On the vertical axis, at the same exchange rate.",
         {.absent = no_log, .formula = "2^(difference of the rulers in doublings)"});
  f.real("units", r.units, "Price in units", "On the vertical axis, at the same exchange rate.",
         {.absent = no_units, .formula = "difference of the rulers"});
}

void describe(Fields& f, ReignRow& r) {
  f.text("point_name", r.point_name, "Point");
  f.real("rate_from", r.rate_from, "Wins from", "A factor, or units where the vertical axis counts units.",
         {.formula = by_rate});
  f.real("rate_to", r.rate_to, "Wins to", {.absent = no_end, .formula = by_rate});
  f.real("across", r.across, "Across", {.source = measured});
  f.real("up", r.up, "Up", {.source = measured});
}

void describe(Fields& f, Inputs& in) {
  f.group("What it is worth");
  f.choice("set", in.set, sets, "Set", "What was measured, and by whom; the source stands under the picture.");
  f.real("pays", in.pays, {"Twice is worth", "×"},
         "Twice as good across is worth so many times the vertical axis, where that axis is seen by factors.",
         {.range = {min_pays, max_pays, Scale::log}, .typical = {1.01, 10}, .headline = true, .when = by_factors});
  f.real("pays_units", in.pays_units, "Twice is worth, in units",
         "Twice as good across is worth so many units, where the vertical axis counts units.",
         {.range = {min_units, max_units, Scale::log}, .typical = {0.01, 10}, .when = by_units});
  f.real("wall_x", in.wall_x, "Wall across", "At most, or at least where more is better; 0: none.",
         {.range = {0, 1e9}, .typical = {0, 200}, .headline = true});
  f.real("wall_y", in.wall_y, "Wall up", "At most, or at least where more is better; 0: none.",
         {.range = {0, 1e9}, .typical = {0, 100}, .headline = true});
  f.real("more", in.more, "A little more", "So many units more on the linear axis, to see what they cost on the other.",
         {.range = {0.001, 1000, Scale::log}, .typical = {0.01, 10}, .when = by_units});
  f.file("points", in.points, "Your CSV",
         "A name and one column per axis; a column named quality gives each of its values a front of its own.",
         {.when = own, .mode = own},
         {.reads = {FileKind::unknown, FileKind::kernel_measurements},
          .accepts = "csv, tsv, txt",
          .only_in_its_lab = true});
  f.group("Fronts and axes");
  f.text("quality", in.quality, "Quality", "Whose front the ruler lies on; empty: the one that the set begins with.",
         {.max_bytes = 96});
  f.text("against", in.against, "Compared with",
         "Fronts that a parallel ruler prices, the first in the answer; empty: the set's own choice.",
         {.max_bytes = 400});
  f.text("axes", in.axes, "Axes", "Columns, the horizontal first, then the vertical; empty: the first two.",
         {.max_bytes = 400});
  f.text("best", in.best, "Best is", "For each axis high or low; empty: as the set says.", {.max_bytes = 100});
  f.text("mine", in.mine, "Find by name", "A part of a point's name, to see how far it is from its front.",
         {.max_bytes = 96});
}

void describe(Fields& f, Outputs& o) {
  f.group("The best for you");
  f.text("winner", o.winner, "Best for you", "Where the ruler touches the front of your quality.");
  f.real("winner_x", o.winner_x, "Best, across", "On the horizontal axis.",
         {.headline = true, .against = {"that is", "winner_across"}, .source = measured});
  f.real("winner_y", o.winner_y, "Best, up", "On the vertical axis.",
         {.headline = true, .against = {"that is", "winner_up"}, .source = measured});
  f.text("winner_across", o.winner_across, "It has, across", "With its unit.");
  f.text("winner_up", o.winner_up, "It has, up", "With its unit.");
  f.text("horizontal", o.horizontal, "Horizontal axis");
  f.text("vertical", o.vertical, "Vertical axis");
  f.real("rate", o.rate, "Twice is worth", "A factor, or units where the vertical axis counts units.",
         {.formula = "2^slope, or the slope"});
  f.real("rate_from", o.rate_from, "It wins from", "The lowest exchange rate with the same winner.",
         {.formula = by_rate});
  f.real("rate_to", o.rate_to, "It wins to", "The highest exchange rate with the same winner.",
         {.absent = no_end, .formula = by_rate});
  f.text("winner_below", o.winner_below, "Wins below that", "Empty where nothing does.");
  f.text("winner_above", o.winner_above, "Wins above that", "Empty where nothing does.");
  f.real("above_x", o.above_x, "Across, of that one", {.absent = no_end, .source = measured});
  f.real("above_y", o.above_y, "Up, of that one", {.absent = no_end, .source = measured});
  f.group("The fronts");
  f.text("quality_used", o.quality_used, "Quality");
  f.integer("front_count", o.front_count, "On the front", "Nothing of its quality is as good on all axes and better.",
            {.headline = true, .against = {"of", "quality_points"}});
  f.integer("quality_points", o.quality_points, "Points of the quality", "Those that have every axis.");
  f.integer("dominated", o.dominated, "Dominated", "Another is as good on every axis and better on one.");
  f.integer("passed", o.passed, "Pass the walls", "Points of the quality.");
  f.integer("touched", o.touched, "Touched by some ruler",
            "Points that pass and win for some exchange rate; the others of the front never do.");
  f.integer("points_count", o.points_count, "Points that have all axes", "Over all qualities.");
  f.integer("left_out", o.left_out, "Points that lack one", "They are left out of the fronts.");
  f.choices("front", o.front, points_listed, "The front", "Names of the points on it, in the order of the file.",
            {.max_items = models::fleet::max_points});
  f.group("The price of quality");
  f.text("against_used", o.against_used, "Compared with", "Empty where nothing is.");
  f.text("against_winner", o.against_winner, "Its best for you", "Where the parallel ruler touches it.");
  f.real("against_x", o.against_x, "Its horizontal value", {.absent = no_other, .source = measured});
  f.real("against_y", o.against_y, "Its vertical value", {.absent = no_other, .source = measured});
  f.real("against_times", o.against_times, {"The other is worse by", "×"}, "Against yours, at the same exchange rate.",
         {.headline = true, .absent = no_other, .formula = "2^(difference of the rulers in doublings)"});
  f.real("against_units", o.against_units, "Its price in units", "Against yours, at the same exchange rate.",
         {.absent = no_units, .formula = "difference of the rulers"});
  f.table("fronts", o.fronts, "Fronts", {.max_items = models::fleet::max_point_qualities});
  f.group("A little more");
  f.real("more_times", o.more_times, {"A little more, worse by", "×"},
         "The best that has so much more, on the other axis.",
         {.absent = no_more, .formula = "winner / best of those with more"});
  f.real("more_value", o.more_value, "It then has", {.absent = no_more, .source = measured});
  f.real("more_other", o.more_other, "On the other axis it has", {.absent = no_more, .source = measured});
  f.text("more_winner", o.more_winner, "The best with more", "Empty where nothing has so much more.");
  f.group("Stability");
  f.table("reigns", o.reigns, "Who wins at which exchange rate", {.max_items = models::fleet::max_points});
  f.group("Yours");
  f.text("mine_found", o.mine_found, "Found", "The first point with that in its name.");
  f.real("mine_dominators", o.mine_dominators, "Points that beat it", "On every axis, within its quality.",
         {.absent = no_mine, .formula = "count"});
  f.real("mine_times", o.mine_times, {"Better across by", "×"}, "The best that is at least as good on the other axis.",
         {.absent = no_mine, .formula = "best across at its height / its own"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"fleet/frontier", "Frontier", "Which configuration is best, and for whom?"}, compute, arrange, draw);
}

}  // namespace chapters::fleet::frontier
