#include "chapters/interview/cheat_sheet/lab.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace sheet = chapters::interview::cheat_sheet;

TEST_CASE("cheat sheet: sums of 70B on eight H100, by hand") {
  const LabPtr lab = open_lab("interview/cheat-sheet");
  compute(*lab);
  const double parameters = 70553706496;  // the config's, counted to the last
  CHECK(near(out(*lab, "parameters"), parameters, 1e-12));
  CHECK(near(out(*lab, "weights_bytes"), 2 * parameters, 1e-12));
  CHECK(near(out(*lab, "state_bytes"), 16 * parameters, 1e-12));
  CHECK(out(*lab, "cache_token_bytes") == 2 * 80 * 8 * 128 * 2);
  CHECK(out(*lab, "cache_bytes") == 327680.0 * 8192);
  CHECK(out(*lab, "fits") == std::floor((0.9 * 8 * 80e9 - 2 * parameters) / (327680.0 * 8192)));
  // The input embedding (128,256 x 8,192) is looked up and not read.
  const double read = 2 * (parameters - 128256.0 * 8192) + 327680.0 * 8192;
  CHECK(near(out(*lab, "token_s"), read / (8 * 3.35e12), 1e-3));
  CHECK(near(out(*lab, "step_s"), (read + 31 * 327680.0 * 8192) / (8 * 3.35e12), 1e-3));
  CHECK(near(out(*lab, "tokens_per_s"), 32 / out(*lab, "step_s"), 1e-12));
  // A written token takes a 32nd of a step, and a 256th of the prompt of 2,048 tokens that it answers.
  const double each_s = out(*lab, "step_s") / 32 + out(*lab, "prompt_s") / 256;
  CHECK(near(out(*lab, "answers_per_s"), 1 / each_s, 1e-9));
  CHECK(near(out(*lab, "dollars_per_million"), 8 * 2 / (3600 * 0.65) * each_s * 1e6, 1e-9));
  CHECK(near(out(*lab, "all_reduce_s"), 1.75e9 / 450e9, 1e-12));
  CHECK(near(out(*lab, "read_bytes"), 2 * (parameters - 128256.0 * 8192), 1e-3));
  CHECK(near(out(*lab, "bubble"), 100 * 15.0 / 31, 1e-12));
  CHECK(near(out(*lab, "drafted"), (1 - std::pow(0.8, 6)) / 0.2, 1e-12));
  CHECK(near(out(*lab, "train_s"), 6 * parameters * 1e12 / (1024 * 989.4e12 * 0.4), 1e-3));
  CHECK(near(out(*lab, "camera_bytes_per_s"), 11 * 8e6 * 30 * 12 / 8, 1e-12));
  CHECK(near(out(*lab, "save_every_s"), std::sqrt(2 * 15 * 1.824e8 / 1024), 0.02));  // Young, a little above
}

TEST_CASE("cheat sheet: every number in the hand changes its sums, stays in its range, and comes back") {
  const sheet::Inputs in;
  const auto first = sheet::compute(in);
  REQUIRE(first.facts.reason.empty());
  const auto lines = sheet::sum_lines(in, first.facts, *first.run);
  std::size_t dragged = 0;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (const auto& piece : lines[l].pieces) {
      if (piece.drag == sheet::Dragged::none) continue;
      INFO(lines[l].name << " " << piece.text);
      ++dragged;
      const sheet::DragRange range = sheet::drag_range(piece.drag);
      const double now = sheet::dragged_value(in, piece.drag);
      CHECK((now >= range.lo && now <= range.hi));
      sheet::Inputs moved = in;
      sheet::set_dragged(moved, piece.drag, now);
      CHECK(std::abs(sheet::dragged_value(moved, piece.drag) / now - 1) < 0.05);  // two digits
      sheet::set_dragged(moved, piece.drag, range.hi * 10);
      CHECK(sheet::dragged_value(moved, piece.drag) == range.hi);
      sheet::set_dragged(moved, piece.drag, now < range.hi / 2 ? now * 2 : now / 2);
      const auto then = sheet::compute(moved);
      REQUIRE(then.facts.reason.empty());
      const auto after = sheet::sum_lines(moved, then.facts, *then.run)[l];
      CHECK((after.value != lines[l].value || after.unit != lines[l].unit));
    }
  }
  // Bits of the weights that are read, and the chips that share a step and a prompt, among them.
  CHECK(dragged == 34);  // chips cancel in the price of a million tokens, so that they are no number of it
}

TEST_CASE("cheat sheet: every technique moves something or says why not, and opens a lab that there is") {
  for (const char* inputs : {"{}", R"({"tensor_parallel": 1, "batch": 1, "model": "gpt2-124m", "chip": "a100_80_sxm"})",
                             R"({"model": "deepseek-v3", "tensor_parallel": 8})"}) {
    const LabPtr lab = open_lab("interview/cheat-sheet", inputs);
    compute(*lab);
    INFO(inputs);
    REQUIRE(rows(*lab, "techniques") == models::sheet::technique_count);
    for (std::size_t i = 0; i < models::sheet::technique_count; ++i) {
      chapters::Fields row;
      output(*lab, "techniques").table_row(i, row);
      bool moved = false;
      for (const auto& f : row)
        if (f.kind == chapters::Kind::real) moved = moved || std::abs(f.real() - 1) > 1e-6;
      const std::string& why_not = row.find("why_not")->text();
      INFO(row.find("technique")->text() << ": " << why_not);
      CHECK((moved || !why_not.empty()));
      CHECK((why_not.empty() || why_not.back() == '.'));
    }
  }
  const sheet::Inputs in;
  const auto page = sheet::compute(in);
  for (const auto& words : sheet::technique_words()) {
    INFO(words.name);
    CHECK(sheet::link_to(in, page.facts, words.lab).starts_with(words.lab));
  }
  for (const auto& line : sheet::sum_lines(in, page.facts, *page.run)) {
    INFO(line.name);
    CHECK(sheet::link_to(in, page.facts, line.lab).starts_with(line.lab));
  }
}

TEST_CASE("cheat sheet: every figure of the ladder has a source") {
  const LabPtr lab = open_lab("interview/cheat-sheet");
  compute(*lab);
  REQUIRE(rows(*lab, "levels") == 9);
  for (std::size_t i = 0; i < rows(*lab, "levels"); ++i) {
    chapters::Fields row;
    output(*lab, "levels").table_row(i, row);
    INFO(row.find("level")->text());
    CHECK(std::isnan(row.find("bytes_per_s")->real()) == row.find("bandwidth_source")->text().empty());
    CHECK(std::isnan(row.find("latency_s")->real()) == row.find("latency_source")->text().empty());
  }
}

TEST_CASE("cheat sheet: above a node the ring goes through the network, and what does not fit is said first") {
  const LabPtr lab = open_lab("interview/cheat-sheet", R"({"tensor_parallel": 16})");
  compute(*lab);
  // Eight ports of 50 GB/s a node carry less than NVLink's 450: 2 x 15/16 of 1 GB over 400 GB/s.
  CHECK(near(out(*lab, "link_bytes_per_s"), 400e9, 1e-12));
  CHECK(near(out(*lab, "all_reduce_s"), 2 * 15.0 / 16 * 1e9 / 400e9, 1e-12));
  const auto says = [](const char* inputs) { return answer_of("interview/cheat-sheet", inputs); };
  CHECK(says("{}").starts_with("At the least a token takes"));
  CHECK(says(R"({"tensor_parallel": 1})").starts_with("Does not fit"));
}
