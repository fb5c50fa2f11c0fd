#include "chapters/compression/distillation/lab.h"

#include "chapters/compression/distillation/students.h"
#include "chapters/mechanism/choices_in_order.h"

namespace chapters::compression::distillation {
namespace {

const Choices widths = choices_in_order<Width::four>({{"16", "16 units", "Half of the teacher's."},
                                                      {"8", "8 units", "A quarter of the teacher's."},
                                                      {"4", "4 units", "An eighth of the teacher's."}});
const Choices digit_choices = choices_in_order<Digits::d800>({{"50", "50", "Five of each."},
                                                              {"100", "100", "Ten of each."},
                                                              {"200", "200", ""},
                                                              {"400", "400", ""},
                                                              {"800", "800", ""}});
const Choices trainings =
    choices_in_order<Train::all>({{"none", "Nobody yet", "The student before its first step: formulas alone."},
                                  {"chosen", "The chosen student", "One student, on labels and from the teacher."},
                                  {"all", "Every size", "Students of 4, 8 and 16 units."}});
const Choices view_choices = choices_in_order<Views::v12000>({{"250", "250", "Hardly begun."},
                                                              {"1000", "1,000", ""},
                                                              {"4000", "4,000", ""},
                                                              {"12000", "12,000", "Until little changes."}});
constexpr std::string_view hinton = "Hinton, Vinyals, Dean, Distilling the knowledge in a neural network, 2015",
                           held_out = "measured on 1,000 digits that no network was trained on";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The loss");
  f.real("temperature", in.temperature, "Temperature T",
         "Logits of both are divided by it before the softmax of the soft part.",
         {.range = {1, 20, Scale::log}, .headline = true});
  f.real("alpha", in.alpha, "Weight of labels", "alpha: 1 learns from labels alone, 0 from the teacher alone.",
         {.range = {0, 1}, .headline = true});
  f.group("The student");
  f.choice("student", in.student, widths, "Student", "Its hidden units; the teacher has 32.");
  f.choice("digits", in.digits, digit_choices, "Digits to learn from",
           "The teacher had 2,000. The fewer the student sees, the more a soft answer is worth.", {.headline = true});
  f.choice("train", in.train, trainings, "Train", "Which students are trained, each on labels and from the teacher.");
  f.choice("views", in.views, view_choices, "Digits looked at",
           "The same digits again and again; the learning rate falls to a tenth on the way.");
  f.group("The digits");
  f.integer("example", in.example, "Example", "Which held-out digit is shown.", {.range = {1, 200, Scale::step}});
  f.integer("seed", in.seed, "Seed", "Digits, first weights and order of training.", {.range = {1, 4, Scale::step}});
}

void describe(Fields& f, StudentRow& r) {
  f.integer("hidden", r.hidden, "Hidden units");
  f.integer("weights", r.weights, "Weights");
  f.real("bytes", r.bytes, {"Size, float32", "B"});
  f.real("labels_accuracy", r.labels_accuracy, {"From labels", "%"});
  f.real("distilled_accuracy", r.distilled_accuracy, {"Distilled", "%"});
  f.real("gain", r.gain, {"Gain", "%"}, {.formula = "distilled - from labels"});
}

void describe(Fields& f, Outputs& o) {
  f.group("What was learned");
  f.real("distilled_accuracy", o.distilled_accuracy, {"Distilled", "%"},
         "Accuracy of the chosen student with this loss; before training what chance gives.",
         {.headline = true, .source = held_out});
  f.real("labels_accuracy", o.labels_accuracy, {"From labels", "%"},
         "The same student, start and digits, with alpha 1.",
         {.headline = true, .absent = "No student is trained.", .source = held_out});
  f.real("gain", o.gain, {"Gain", "%"}, "Percentage points.",
         {.headline = true, .absent = "No student is trained.", .formula = "distilled - from labels"});
  f.real("teacher_accuracy", o.teacher_accuracy, {"Teacher", "%"}, {.headline = true, .source = held_out});
  f.real("student_bytes", o.student_bytes, {"Student's size", "B"}, {.formula = "4 (74 hidden + hidden + 10)"});
  f.real("times_smaller", o.times_smaller, {"Times smaller", "\xC3\x97"}, {.formula = "teacher's bytes / student's"});
  f.integer("steps", o.steps, "Passes over the digits", {.formula = "digits looked at / digits, at least 1"});
  f.group("The example");
  f.integer("label", o.label, "Example is a", "What the digit was drawn as.");
  f.integer("teacher_says", o.teacher_says, "Teacher says", {.formula = "class of the largest logit"});
  f.integer("student_says", o.student_says, "Student says", {.formula = "class of the largest logit"});
  f.real("teacher_top", o.teacher_top, {"Teacher's first choice", "%"}, "At T = 1.",
         {.formula = "largest of softmax(t)"});
  f.real("teacher_top_soft", o.teacher_top_soft, {"Its first class, softened", "%"}, "At this T.",
         {.formula = "largest of softmax(t / T)", .source = hinton});
  f.real("entropy", o.entropy, "Bits in the answer", "Entropy of the teacher's answer at T = 1; a label has none.",
         {.formula = "- sum p log2 p"});
  f.real("entropy_soft", o.entropy_soft, "Bits, softened", "At this T; log2 10 = 3.32 at most.",
         {.formula = "- sum p log2 p"});
  f.group("How alike digits are");
  f.integer("alike_drawn", o.alike_drawn, "Most alike: drawn as", "The class that the teacher most takes for another.");
  f.integer("alike_said", o.alike_said, "... looks like", "The wrong class that it gives most to.");
  f.real("alike_percent", o.alike_percent, {"Likeness of the two", "%"},
         "The teacher's probability of the wrong class at this T, mean over the held-out digits of the class drawn.",
         {.formula = "mean of softmax(t / T)", .source = held_out});
  f.group("The loss");
  f.real("hard_loss", o.terms.hard_loss, "Loss by label", "Nats, on the example.",
         {.formula = "- log softmax(s)[label]"});
  f.real("kl_teacher_student", o.terms.kl_teacher_student, "KL(teacher || student)",
         "Nats, at this T, on the example: what is trained.", {.formula = "sum p_t log(p_t / p_s)", .source = hinton});
  f.real("kl_student_teacher", o.terms.kl_student_teacher, "KL(student || teacher)",
         "The other direction is another number: it forgives what the student leaves out.",
         {.formula = "sum p_s log(p_s / p_t)"});
  f.real("soft_loss", o.terms.soft_loss, "Soft loss", {.formula = "T^2 KL(teacher || student)", .source = hinton});
  f.real("loss", o.terms.loss, "Loss", {.formula = "alpha loss by label + (1 - alpha) soft loss", .source = hinton});
  f.group("The gradients");
  f.real("hard_gradient", o.hard_gradient, "Gradient by label", "Length, by the student's logits, on the example.",
         {.formula = "alpha |softmax(s) - label|"});
  f.real("soft_gradient", o.soft_gradient, "Gradient by teacher", "T^2 from the loss, 1/T from the softmax.",
         {.formula = "(1 - alpha) T |p_s - p_t|", .source = hinton});
  f.real("soft_gradient_plain", o.soft_gradient_plain, "... without T\xC2\xB2",
         {.formula = "(1 - alpha) |p_s - p_t| / T"});
  f.real("gradient_ratio", o.gradient_ratio, "What T\xC2\xB2 restores",
         "Gradient by teacher with T^2 over that without.", {.formula = "T^2"});
  f.real("hot_gradient", o.hot_gradient, "... for T without end", "What the gradient by teacher tends to.",
         {.formula = "(1 - alpha) |(s - mean s) - (t - mean t)| / 10", .source = hinton});
  f.group("Every size");
  f.table("students", o.students, "Students", "Every size that was trained.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"compression/distillation",
       "Distillation",
       "What does a small network learn from a large one that labels do not say?",
       {.job = true}},
      [memory = std::make_shared<Memory>()](const Inputs& in, Progress& progress) {
        return compute(in, progress, *memory);
      },
      arrange, draw);
}

}  // namespace chapters::compression::distillation
