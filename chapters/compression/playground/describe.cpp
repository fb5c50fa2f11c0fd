#include "chapters/compression/playground/lab.h"

#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::compression::playground {
namespace {

const Choices students = choices_in_order<Student::eighth>(
    {{"full", "32 units, the teacher", "The network that was trained on the labels."},
     {"half", "16 units", "A student with half of the hidden units, distilled from the teacher."},
     {"quarter", "8 units", "A student with a quarter of the hidden units, distilled."},
     {"eighth", "4 units", "A student with an eighth of the hidden units, distilled."}});
const Choices prunings = choices_in_order<Zeros::neurons>(
    {{"magnitude", "Smallest weights", "Zeros anywhere: the smallest weights of all layers together."},
     {"two_four", "2 of 4", "In every four neighbouring inputs the two smallest; always half."},
     {"neurons", "Hidden units", "Whole units with all their weights: the matrices shrink."}});
const Choices difficulties =
    choices_in_order<Difficulty::hard>({{"easy", "Neat", "Hardly any noise, digits in the middle."},
                                        {"usual", "Usual", "Noise, shifts, turns, a stray stroke on a fifth of them."},
                                        {"hard", "Messy", "Much of all that."}});
constexpr std::string_view held_out = "measured on 1,000 digits that no network was trained on";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The recipe");
  f.choice(
      "student", in.student, students, "Network",
      "The teacher, or a student that learned from its softened answers (T = 4, a tenth of the loss from labels).");
  f.choice("pruning", in.pruning, prunings, "Zeros", "Which weights go.");
  f.real("sparsity", in.sparsity, {"Pruned", "%"},
         "Share of the weights, or of the hidden units, that goes; 2 of 4 is always half.",
         {.range = {0, 95}, .headline = true});
  f.integer("weight_bits", in.weight_bits, "Weight bits",
            "Symmetric codes, scale = largest / (2^(bits-1) - 1); at 2 bits a weight is -1, 0 or 1 times its scale.",
            {.range = {2, 16, Scale::step}, .headline = true});
  f.integer("activation_bits", in.activation_bits, "Activation bits",
            "What enters each layer, rounded to 2^bits levels from 0 to the largest seen on 256 training digits.",
            {.range = {2, 16, Scale::step}});
  f.toggle("per_channel", in.per_channel, "A scale per channel", "One for each output; off: one for each layer.");
  f.toggle("fine_tune", in.fine_tune, "Tune again",
           "Two more epochs over 1,000 digits: zeros stay, and the gradient passes straight through the rounding.",
           {.headline = true});
  f.group("Goal and digits");
  f.real("goal", in.goal, {"Goal", "%"}, "The smallest network above this accuracy wins.", {.range = {50, 95}});
  f.choice("difficulty", in.difficulty, difficulties, "Handwriting",
           "How hard the digits are to read; all networks are trained on the same.");
  f.integer("seed", in.seed, "Seed",
            "Digits, first weights and order of training; the same seed gives the same network to the last bit.",
            {.range = {1, 4, Scale::step}});
  shared::chip(f, "chip", in.chip, {.help = "For the speed that a large network of this shape could gain."});
}

void describe(Fields& f, FrontRow& r) {
  f.real("bytes", r.bytes, {"Size", "B"});
  f.real("accuracy", r.accuracy, {"Accuracy", "%"});
  f.integer("hidden", r.hidden, "Hidden units");
  f.text("pruning", r.pruning, "Zeros");
  f.integer("bits", r.bits, "Weight bits");
}

void describe(Fields& f, Outputs& o) {
  f.group("Yours");
  f.real("accuracy", o.accuracy, {"Accuracy", "%"},
         "The share that the compressed network reads right of 1,000 held-out digits.",
         {.headline = true, .formula = "right / digits", .source = held_out});
  f.real("size_bytes", o.size_bytes, {"Size", "B"}, "Everything that must travel: values, indices, scales, biases.",
         {.headline = true, .formula = "values + indices + scales + biases"});
  f.real("compression", o.compression, {"Times smaller", "\xC3\x97"},
         {.headline = true, .formula = "original size / size"});
  f.toggle("goal_met", o.goal_met, "Above the goal", {.formula = "accuracy > goal"});
  f.toggle("on_front", o.on_front, "Beats the sweep", "Nothing in the sweep is both smaller and as accurate.");
  f.real("original_accuracy", o.original_accuracy, {"Original accuracy", "%"}, "The teacher in float32.",
         {.source = held_out});
  f.real("accuracy_lost", o.accuracy_lost, {"Accuracy lost", "%"},
         "Percentage points; below 0 when rounding happened to help.",
         {.headline = true, .formula = "original accuracy - accuracy"});
  f.real("student_accuracy", o.student_accuracy, {"Network before", "%"}, "The chosen network in float32, not pruned.",
         {.source = held_out});
  f.real("training_accuracy", o.training_accuracy, {"Teacher on training digits", "%"},
         "Higher than on held-out ones: some of it is memory.");
  f.integer("wrong", o.wrong, "Misread of 1,000", "Held-out digits that it reads wrong.", {.source = held_out});
  f.group("Its bytes");
  f.real("original_bytes", o.original_bytes, {"Original size", "B"}, {.formula = "4 (2,368 weights + 42 biases)"});
  f.real("values_bytes", o.size.values_bytes, {"... values", "B"}, "Weights that are kept, packed.",
         {.formula = "kept weights x bits / 8"});
  f.real("indices_bytes", o.size.indices_bytes, {"... indices", "B"},
         "A bit per weight for zeros anywhere (unless dense is smaller), 2 bits per kept weight for 2 of 4.",
         {.formula = "weights / 8, or kept weights x 2 / 8"});
  f.real("scales_bytes", o.size.scales_bytes, {"... scales", "B"},
         "A float32 for each channel or layer, and for each layer's activations.");
  f.real("biases_bytes", o.size.biases_bytes, {"... biases", "B"}, "Left in float32.");
  f.real("bits_per_weight", o.bits_per_weight, "Bits per weight",
         "Bits for each weight of the network's own shape, everything counted.", {.formula = "8 size / weights"});
  f.real("kept", o.kept, {"Weights not zero", "%"}, "The share of the shape that is left, before rounding.");
  f.real("squares_kept", o.squares_kept, {"Their squares kept", "%"},
         "The share of the sum of all squared weights, before tuning and rounding: small weights add little to it.",
         {.formula = "sum of w^2 kept / sum of w^2"});
  f.integer("hidden", o.hidden, "Hidden units", "Hidden units of the network that is left.");
  f.integer("weights", o.weights, "Weights", {.formula = "(64 + 10) hidden"});
  f.integer("multiply_adds", o.multiply_adds, "Multiply-adds per digit", "On hardware that skips no zeros.",
            {.formula = "weights"});
  f.group("The sweep");
  constexpr std::string_view none = "Nothing in the sweep is above the goal.";
  f.real("goal_bytes", o.goal_bytes, {"Smallest above the goal", "B"},
         "The smallest of the sweep's 168 compressions, none of them tuned again.", {.absent = none});
  f.real("goal_accuracy", o.goal_accuracy, {"... its accuracy", "%"}, {.absent = none, .source = held_out});
  f.real("goal_compression", o.goal_compression, {"... times smaller", "\xC3\x97"},
         {.absent = none, .formula = "original size / its size"});
  f.group("Speed and training");
  f.real("speed_memory", o.speed.memory_bound, "Speed, bytes bound",
         "The speed-up of a large network of this shape with one request at a time, unpacking not counted.",
         {.formula = "bytes in 16 bits / bytes"});
  f.real("speed_compute", o.speed.compute_bound, "Speed, compute bound",
         "The speed-up of a large network of this shape in large batches; 8 bits or fewer on both sides run at the "
         "chip's INT8 "
         "rate, zeros anywhere skip nothing.",
         {.formula = "multiply-adds fewer x INT8 / BF16 peak x 2:4 rate"});
  f.real("first_loss", o.first_loss, "Loss, first epoch", "The teacher's mean loss while it trains, nats.");
  f.real("last_loss", o.last_loss, "Loss, last epoch", "The teacher's mean loss while it trains, nats.");
  f.group("Front of the sweep");
  f.table("front", o.front, "Front of the sweep", "Compressions that no other of the sweep beats in both.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"compression/playground",
       "Compression playground",
       "How small can a network get before it forgets how to read?",
       {.job = true}},
      [studies = std::make_shared<Studies>()](const Inputs& in, Progress& progress) {
        return compute(in, progress, *studies);
      },
      arrange, draw);
}

}  // namespace chapters::compression::playground
