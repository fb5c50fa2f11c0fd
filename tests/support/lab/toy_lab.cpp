#include "tests/support/lab/toy_lab.h"

namespace support {
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
  f.text("name", r.name, {.label = "Name"});
  f.real("amount", r.amount,
         {
             .label = "Amount",
             .unit = "B",
             .lo = 0,
             .hi = 1000,
         });
  f.toggle("doubled", r.doubled, {.label = "Doubled"});
}

void describe(chapters::Fields& f, Inputs& in) {
  f.real("width", in.width,
         {
             .label = "Width",
             .unit = "s",
             .help = "how wide",
             .lo = 1e-3,
             .hi = 1e3,
             .scale = chapters::Scale::log,
             .shared = "size.width",
         });
  f.real("height", in.height,
         {
             .label = "Height",
             .unit = "s",
             .lo = 0,
             .hi = 100,
             .when = {"shape", "box"},
         });
  f.integer("count", in.count,
            {
                .label = "Count",
                .lo = 1,
                .hi = 64,
                .scale = chapters::Scale::step,
            });
  f.toggle("loud", in.loud, {.label = "Loud"});
  f.choice("shape", in.shape, shapes, {.label = "Shape"});
  f.choice("tone", in.tone, colours, {.label = "Tone", .shared = "tone"});
  f.choices("tones", in.tones, colours, {.label = "Tones"});
  f.text("note", in.note, {.label = "Note"});
  f.file("file", in.file, {.label = "File"});
  f.reals("weights", in.weights,
          {
              .label = "Weights",
              .unit = "B",
              .lo = 0,
              .hi = 10,
              .max_items = 4,
          });
  f.table("rows", in.rows, {.label = "Rows", .max_items = 3});
}

void describe(chapters::Fields& f, Outputs& out) {
  f.real("area", out.area, {.label = "Area", .unit = "s", .formula = "width x height"});
  f.real("total", out.total, {.label = "Total", .unit = "B"});
  f.integer("cells", out.cells, {.label = "Cells"});
  f.toggle("big", out.big, {.label = "Big"});
  f.choice("shape_found", out.shape, shapes, {.label = "Shape found"});
  f.text("says", out.says, {.label = "Says"});
}

void describe(chapters::Fields& f, View& v) {
  f.real("time", v.time,
         {
             .label = "Time",
             .unit = "s",
             .lo = 0,
             .hi = 10,
         });
}

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

chapters::LabPtr toy_lab(bool job) {
  return chapters::make_lab<Inputs, Outputs, View>(
      {
          .id = "toy/box",
          .title = "Box",
          .question = "How large?",
          .job = job,
      },
      compute, draw);
}

}  // namespace support
