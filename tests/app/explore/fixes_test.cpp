#include "app/explore/fixes.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "chapters/mechanism/lab.h"
#include "tests/support/lab/lab_bench.h"

// A lab made for this: feasible while load <= room (a number against a choice and a toggle).

namespace {

struct Out {
  double room = 0;
  std::string reason;
};
enum class Size { small, large };
const chapters::Choices sizes{{"small", "small", ""}, {"large", "large", ""}};

struct Sized {
  double load = 64;
  std::int64_t boxes = 1;
  Size size = Size::small;
  bool dense = false;
  bool operator==(const Sized&) const = default;
};

void describe(chapters::Fields& f, Sized& in) {
  f.real("load", in.load, "Load", {.range = {1, 1024, chapters::Scale::log}});
  f.integer("boxes", in.boxes, "Boxes", {.range = {1, 64, chapters::Scale::log}});
  f.choice("size", in.size, sizes, "Size");
  f.toggle("dense", in.dense, "Dense");
}
void describe(chapters::Fields& f, Out& out) { f.real("room", out.room, "Room"); }

Out compute(const Sized& in) {
  Out out;
  out.room = 10.0 * static_cast<double>(in.boxes) * (in.size == Size::large ? 4 : 1);
  if (in.load > out.room) out.reason = "The load does not fit.";
  return out;
}

chapters::LabPtr crowded(double load) {
  auto lab = chapters::make_lab<Sized, Out, chapters::NoView>(
      {"test/fixes", "Fixes", "Does it fit?"}, compute, [](widgets::Stage&, Sized&, const Out&, chapters::NoView&) {});
  lab->inputs().find("load")->real() = load;
  lab->compute();
  return lab;
}

std::vector<app::Fix> fixes_of(const chapters::Lab& lab) {
  chapters::Progress progress;
  return app::find_fixes(lab, progress);
}

const app::Fix* fix_of(const std::vector<app::Fix>& fixes, std::string_view key) {
  const auto at = std::find_if(fixes.begin(), fixes.end(), [&](const app::Fix& f) { return f.key == key; });
  return at == fixes.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("a feasible lab needs no fix") { CHECK(fixes_of(*crowded(10)).empty()); }

TEST_CASE("each fix is one input at the nearest value that works") {
  const auto lab = crowded(35);
  const auto fixes = fixes_of(*lab);
  const app::Fix *load = fix_of(fixes, "load"), *boxes = fix_of(fixes, "boxes"), *size = fix_of(fixes, "size");
  REQUIRE(load);
  CHECK(load->value <= 10);
  CHECK(load->value > 9.8);  // the nearest, in three digits
  REQUIRE(boxes);
  CHECK(boxes->value == 4);
  CHECK(boxes->words == "Boxes: 4");
  REQUIRE(size);
  CHECK(size->value == 1);
  CHECK(size->words == "Size: large");
  CHECK_FALSE(fix_of(fixes, "dense"));  // moves nothing
  for (const app::Fix& fix : fixes) {
    const auto trial = lab->clone();
    trial->inputs().find(fix.key)->set_number(fix.value);
    trial->compute();
    CHECK(trial->reason().empty());
  }
  CHECK(lab->inputs().find("load")->real() == 35);  // the lab itself is as it was
}

TEST_CASE("what no single option mends is not offered, and the nearest come first") {
  const auto fixes = fixes_of(*crowded(100));  // large alone gives 40
  CHECK_FALSE(fix_of(fixes, "size"));
  REQUIRE(fixes.size() == 2);
  CHECK(fixes[0].steps <= fixes[1].steps);
  CHECK(fix_of(fixes, "boxes")->value == 10);
}
