#include "chapters/mechanism/published_panel.h"

#include <catch2/catch_test_macros.hpp>

#include "app/content/load_published.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/lab/lab_bench.h"

TEST_CASE("published training rows stand beside the best possible of one chip, those of the model and chip set first") {
  const auto lab = support::open_lab("roofline/transformer-layer", R"({"model": "llama-2-7b", "chip": "a100_80_sxm"})");
  chapters::Progress progress;
  const auto table = app::published_table(lab->info().id, progress);
  chapters::PublishedMarks marks;
  chapters::detail::set_published(marks, lab->info(), lab->inputs(), *table->figures);
  CHECK(marks.marks.size() == chapters::catalog().published_of("roofline/transformer-layer").size());
  CHECK(marks.bounds);
  REQUIRE_FALSE(marks.marks.empty());
  CHECK(marks.marks[0].label == "Llama 2 7B, 4096 tokens, 128 x A100, BF16");
  CHECK_FALSE(marks.marks[0].faint);
  CHECK(marks.marks.back().faint);
  CHECK(marks.marks[0].value.find("4,550 tokens/s measured") != std::string::npos);
  CHECK(marks.marks[0].info.find("fms-fsdp") != std::string::npos);
  for (const auto& mark : marks.marks) {
    INFO(mark.label);
    CHECK((mark.ratio > 0.2 && mark.ratio <= 1));
  }
}
