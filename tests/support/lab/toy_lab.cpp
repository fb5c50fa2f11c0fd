#include "tests/support/lab/toy_lab.h"

namespace support {
namespace toy {
namespace {

using chapters::FileInput;

const chapters::Choices shapes{{"box", "Box", "width and height apart"}, {"square", "Square", "height follows width"}};
const chapters::Choices colours{{"red", "Red", ""}, {"green", "Green", ""}, {"blue", "Blue", ""}};
enum class Shape { box, square };

struct Row {
  std::string name = "row";
  double amount = 1;
  bool doubled = false;
  bool operator==(const Row&) const = default;
};

struct Inputs {
  double width = 2;
  double height = 3;
  std::int64_t count = 4;
  bool loud = false;
  Shape shape = Shape::box;
  std::string tone = "red";
  std::vector<std::string> tones{"red", "blue"};
  std::string note = "hello";
  FileInput file;
  std::vector<double> weights{1, 2};
  std::vector<Row> rows{{"first", 10, false}};
  bool operator==(const Inputs&) const = default;
};

struct Outputs {
  double area = 0, total = 0;
  std::int64_t cells = 0;
  bool big = false;
  Shape shape = Shape::box;
  std::string says;
  std::string reason;
};

struct View {
  double time = 0;
};

void describe(chapters::Fields& f, Row& r) {
  f.text("name", r.name, "Name");
  f.real("amount", r.amount, {"Amount", "B"}, {.range = {0, 1000}});
  f.toggle("doubled", r.doubled, "Doubled");
}

void describe(chapters::Fields& f, Inputs& in) {
  f.real("width", in.width, {"Width", "s"}, "how wide",
         {.range = {1e-3, 1e3, chapters::Scale::log}, .shared = "size.width"});
  f.real("height", in.height, {"Height", "s"}, {.range = {0, 100}, .when = {"shape", "box"}});
  f.integer("count", in.count, "Count", {.range = {1, 64, chapters::Scale::step}});
  f.toggle("loud", in.loud, "Loud");
  f.choice("shape", in.shape, shapes, "Shape");
  f.choice("tone", in.tone, colours, "Tone", {.shared = "tone"});
  f.choices("tones", in.tones, colours, "Tones", "");
  f.text("note", in.note, "Note");
  f.file("file", in.file, "File", "");
  f.reals("weights", in.weights, {"Weights", "B"}, {.range = {0, 10}, .max_items = 4});
  f.table("rows", in.rows, "Rows", {.max_items = 3});
}

void describe(chapters::Fields& f, Outputs& out) {
  f.real("area", out.area, {"Area", "s"}, {.formula = "width x height"});
  f.real("total", out.total, {"Total", "B"});
  f.integer("cells", out.cells, "Cells");
  f.toggle("big", out.big, "Big");
  f.choice("shape_found", out.shape, shapes, "Shape found");
  f.text("says", out.says, "Says");
}

void describe(chapters::Fields& f, View& v) { f.real("time", v.time, {"Time", "s"}, {.range = {0, 10}}); }

Outputs compute(const Inputs& in) {
  Outputs out;
  out.shape = in.shape;
  out.area = in.width * (in.shape == Shape::square ? in.width : in.height);
  if (!(out.area <= 5000)) return {.reason = "The area is above 5,000: make it smaller."};
  out.total = out.area;
  for (double w : in.weights) out.total += w;
  for (const Row& r : in.rows) out.total += r.amount * (r.doubled ? 2 : 1);
  out.cells = in.count * in.count;
  out.big = out.area > 100;
  out.says = (in.loud ? "HO " : "ho ") + in.note + in.tone + std::to_string(in.tones.size()) + in.file.text;
  return out;
}

void draw(widgets::Stage&, Inputs&, const Outputs&, View&) {}

}  // namespace

static chapters::LabPtr make(bool job) {
  return chapters::make_lab<Inputs, Outputs, View>({"toy/box", "Box", "How large?", {.job = job}}, compute, draw);
}

}  // namespace toy

chapters::LabPtr toy_lab(bool job) { return toy::make(job); }

}  // namespace support
