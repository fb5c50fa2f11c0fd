#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/headless_frame.h"
#include "tests/support/ui/text_inside.h"
#include "widgets/base/painter.h"

using namespace widgets;

TEST_CASE("a plate lies under the whole of its text, and nothing is recorded while a record is paused") {
  support::HeadlessFrame ui;
  Record record{};
  ui.frame([&] {
    const Recording recording(record);
    const Painter p = Painter::window();
    p.plate({10, 10}, "higher in FP8", IM_COL32(1, 2, 3, 255), Type::small, Font::bold);
    p.text({10, 10}, "higher in FP8", IM_COL32_WHITE, Type::small, Font::bold);
    p.plate({10, 30}, "", IM_COL32(1, 2, 3, 255));
    {
      const PausedRecording paused;
      Painter::window().text({10, 40}, "the answer", IM_COL32_WHITE);
    }
    Painter::window().text({10, 60}, "after", IM_COL32_WHITE);
  });
  REQUIRE(record.strokes.size() == 3);
  const Stroke &plate = record.strokes[0], &text = record.strokes[1];
  REQUIRE((plate.kind == Stroke::Kind::rect && text.kind == Stroke::Kind::text));
  CHECK(plate.fill == IM_COL32(1, 2, 3, 255));
  CHECK((plate.points[0].x < text.points[0].x && plate.points[0].y < text.points[0].y));
  CHECK(plate.points[1].x > text.points[0].x + text.points[1].x);
  CHECK(plate.points[1].y > text.points[0].y + text.points[1].y);
  CHECK(support::count_text(record, "the answer") == 0);
  CHECK(support::count_text(record, "after") == 1);
}
