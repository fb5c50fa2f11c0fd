#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/context/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_context = chapters::distributed::context;
using models::parallel::ContextOrder;

namespace {

lab_context::Computed context_of(const lab_context::Inputs& in) {
  lab_context::Computed done = computed_of(in, lab_context::compute);
  INFO(done.facts.reason);
  REQUIRE(done.run);
  return done;
}
lab_context::Picture context_picture(const lab_context::Inputs& in) {
  return picture_of(in, lab_context::compute, lab_context::arrange);
}

}  // namespace

TEST_CASE("context: the longest sequence fits, and one piece more does not") {
  const LabPtr lab = open_lab("distributed/context");
  const double reach = computed(*lab, "reach"), chip = out(*lab, "chip_bytes");
  CHECK(reach > 4 * out(*lab, "one_rank_reach"));
  CHECK(computed(set(*lab, "sequence", reach), "memory_bytes") <= chip);
  CHECK(computed(set(*lab, "sequence", reach + 512), "memory_bytes") > chip);
}

TEST_CASE("context: whatever the model and the ranks, the longest sequence fits and one piece more does not") {
  open_lab("distributed/context");  // the catalog is there
  int bounded = 0;
  for (const models::LanguageModel& model : chapters::catalog().models)
    for (const std::int64_t ranks : {1, 4, 64}) {
      lab_context::Inputs in;
      in.model = model.id;
      in.ranks = ranks;
      const auto setting = lab_context::read_setting(in);
      if (!setting) continue;
      INFO(model.id << " over " << ranks);
      const auto fits = [&](std::int64_t sequence) {
        const auto memory =
            models::memory::training_memory(setting->model->architecture, lab_context::plan_of(in, ranks, sequence));
        return memory && memory->total() <= setting->chip->memory_bytes;
      };
      const std::int64_t piece = 2 * ranks * std::max<std::int64_t>(in.tensor, 64), whole = std::int64_t{1} << 26;
      const std::int64_t longest = lab_context::longest_sequence(in, *setting, ranks);
      CHECK(longest % piece == 0);
      CHECK((longest == 0 || fits(longest)));
      CHECK((longest + piece > whole || !fits(longest + piece)));
      bounded += longest > 0 && longest + piece <= whole;
    }
  CHECK(bounded >= 30);
}

TEST_CASE("context: twice the sequence on twice the ranks takes the same memory, as was measured") {
  const LabPtr lab = open_lab("distributed/context",
                              R"({"model": "llama-3.1-8b", "tensor_parallel": 1, "context_parallel": 4,
                                  "sequence": 131072, "data_parallel": 2, "loss": "eager", "link": "chip"})");
  const double four = computed(*lab, "memory_bytes");
  set(set(set(*lab, "context_parallel", 8), "sequence", 262144), "data_parallel", 1);
  CHECK(near(computed(*lab, "memory_bytes"), four, 1e-9));
  CHECK(std::abs(four / (84.0 * 1073741824) - 1) <= 0.2);
}

TEST_CASE("context: tiles add up to the triangle, and a rank's computing and waiting to the step") {
  const LabPtr lab = open_lab("distributed/context", R"({"order": "contiguous"})");
  compute(*lab);
  REQUIRE(rows(*lab, "tiles") == 16);
  double pairs = 0, longest = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    pairs += cell(*lab, "tiles", i, "pairs");
    if (i >= 4 && i < 8)
      longest = std::max(longest, cell(*lab, "tiles", i, "compute_s") + cell(*lab, "tiles", i, "waits_s"));
  }
  CHECK(pairs == 131072.0 * 131073 / 2);
  for (std::size_t i = 4; i < 8; ++i)
    CHECK(near(cell(*lab, "tiles", i, "compute_s") + cell(*lab, "tiles", i, "waits_s"), longest));
  CHECK(near(out(*lab, "busy_share"), 100 * 4.0 / 7, 1e-3));
  CHECK(computed(set(*lab, "context_parallel", 128), "attention_s") > 0);
  CHECK(rows(*lab, "tiles") == 0);
}

TEST_CASE("context: a sequence that ranks cannot share evenly is padded to pieces that they can") {
  const LabPtr lab = open_lab("distributed/context", R"({"context_parallel": 3})");
  CHECK(computed(*lab, "padded_sequence") == 131076);
  CHECK(out(*lab, "rank_tokens") == 43692);
}

TEST_CASE("context: what cannot be is said in a sentence") {
  const auto reason = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/context", inputs);
    return reason_of(*lab);
  };
  CHECK(reason(R"({"context_parallel": 16, "method": "all_to_all"})").find("8 query heads") != std::string::npos);
  CHECK(reason(R"({"model": "deepseek-v3"})").find("Latent attention") != std::string::npos);
  CHECK(reason(R"({"tensor_parallel": 3})").find("64 query") != std::string::npos);
  CHECK(reason(R"({"context_parallel": 512})").find("256 ranks") != std::string::npos);
}

TEST_CASE(
    "context: each cell of the square is computed once, by the rank of its query, in the step that meets its key") {
  for (const ContextOrder order : {ContextOrder::contiguous, ContextOrder::zig_zag, ContextOrder::striped})
    for (const std::int64_t ranks : {1, 4, 6}) {
      const std::int64_t tokens = ranks * lab_context::tokens_a_rank;
      const lab_context::Square square = lab_context::square_of(order, true, ranks);
      for (std::int64_t q = 0; q < tokens; ++q)
        for (std::int64_t k = 0; k < tokens; ++k) {
          int now = 0;
          for (std::int64_t step = 0; step < ranks; ++step) {
            const auto cell = lab_context::square_cell(square, step, q, k);
            if (cell.state == lab_context::CellState::now) {
              ++now;
              // Who holds the keys in this step is the one who computes.
              const auto owner = models::parallel::token_rank(order, tokens, ranks, k);
              CHECK(models::parallel::key_holder(ranks, owner, step) == cell.rank);
              CHECK(square.holder(step, owner) == cell.rank);
            }
          }
          CHECK(now == (k <= q ? 1 : 0));
        }
    }
}

TEST_CASE("context: a method without steps has lanes of its own, as long and as busy as is said, beside the ring's") {
  use_bundled_catalog();
  for (const auto method : {models::parallel::ContextMethod::gather, models::parallel::ContextMethod::all_to_all})
    for (const auto pass : {lab_context::AttentionPass::forward, lab_context::AttentionPass::backward})
      for (const ContextOrder order : {ContextOrder::contiguous, ContextOrder::zig_zag}) {
        const lab_context::Inputs in{.order = order, .method = method, .pass = pass};
        const auto [o, run] = context_of(in);
        const lab_context::Picture p = lab_context::arrange(in, o, *run);
        CHECK_FALSE(p.method_words.empty());
        CHECK_FALSE(p.clocks[0].chosen);
        CHECK(p.clocks[0].title == (order == ContextOrder::contiguous ? "Contiguous ring" : "Zig-zag ring"));
        CHECK(near(p.clocks[0].end_s, run->chosen.ring.time_s));
        const lab_context::Clock& clock = p.clocks[1];
        CHECK(clock.chosen);
        CHECK(near(clock.end_s, o.attention_s));
        double busy_s = 0;
        for (const auto& bars : clock.ranks) {
          for (const lab_context::ClockBar& b : bars) busy_s += b.computed_s - b.start_s;
          CHECK(near(bars.back().end_s, o.attention_s, 1e-9));
        }
        CHECK(near(100 * busy_s / (4 * o.attention_s), o.busy_percent, 1e-6));
        CHECK(near(p.whole_work.back(), 1, 1e-3));
        const bool uneven = method == models::parallel::ContextMethod::gather && order == ContextOrder::contiguous;
        CHECK(near(p.whole_work.front(), uneven ? 1.0 / 7 : 1.0, 1e-3));
      }
  CHECK(context_picture({}).method_words.empty());
}

TEST_CASE("context: the clocks share an axis, and what is computed and waited for fills each rank to its end") {
  const lab_context::Picture p = context_picture({});
  CHECK(p.clocks[0].title == "Contiguous");
  CHECK(p.clocks[1].title == "Zig-zag");
  CHECK(near(p.clock_end_s, p.clocks[0].end_s));
  for (const lab_context::Clock& clock : p.clocks) {
    REQUIRE(clock.ranks.size() == 4);
    for (const auto& bars : clock.ranks) {
      double at = 0;
      for (const lab_context::ClockBar& b : bars) {
        CHECK(near(b.start_s, at));
        CHECK(b.computed_s <= b.slowest_s * (1 + 1e-12));
        CHECK(b.slowest_s <= b.end_s * (1 + 1e-12));
        at = b.end_s;
      }
      CHECK(near(at, clock.end_s));
    }
  }
  CHECK(p.meets[1][0] == "K3, 8 pairs");
  CHECK(p.answer.starts_with(
      "Zig-zag order keeps every rank busy: attention takes `14.8 ms` instead of the `25.9 ms` of"));
  lab_context::Inputs back;
  back.pass = lab_context::AttentionPass::backward;
  // The last bar of every rank is the gradients' way home.
  const lab_context::Picture homeward = context_picture(back);
  CHECK(near(homeward.clocks[1].ranks[0].back().end_s, homeward.clocks[1].end_s));
  CHECK(homeward.clocks[1].ranks[0].back().computed_s < homeward.clocks[1].end_s);
  CHECK(homeward.answer.find("The keys' gradients travel one step further, back to their rank: `367 µs`") !=
        std::string::npos);
  lab_context::Inputs many;
  many.ranks = 16;
  const lab_context::Picture drawn = context_picture(many);
  CHECK(drawn.ranks_note == "drawn with 4 of 16 ranks, 16 tokens drawn");
  CHECK(drawn.clocks[1].ranks.size() == 8);
  CHECK(drawn.clocks[1].names.back() == "rank 15");
}

TEST_CASE("context: the square, the ring and the clocks have places that do not touch") {
  for (const ImVec2 room : {ImVec2{640, 420}, ImVec2{1040, 480}, ImVec2{1400, 700}, ImVec2{900, 240}, ImVec2{300, 300}})
    for (const std::int64_t ranks : {1, 2, 4, 6}) {
      lab_context::RingPlaces l;
      lab_context::layout_ring(ranks, {{5, 7}, {5 + room.x, 7 + room.y}}, 1, l);
      CHECK(l.square.max.x <= 5.01f + room.x);
      CHECK(l.square.max.y <= 7.01f + room.y);
      CHECK(l.keys.max.y <= l.square.min.y);
      CHECK(l.queries.max.x <= l.square.min.x);
      CHECK(std::abs(l.square.width() - l.square.height()) <= 0.01f);
      if (l.with_clocks) {
        CHECK(l.clocks.min.x > l.square.max.x);
        CHECK(l.clocks.max.x <= 5.01f + room.x);
        CHECK(l.clocks.height() >= 149);
      }
      if (!l.with_ring) continue;
      for (std::size_t a = 0; a < l.nodes.size(); ++a) {
        CHECK(l.nodes[a].min.x >= l.ring.min.x - 0.01f);
        CHECK(l.nodes[a].max.y <= l.clocks.min.y + 0.01f);
        for (std::size_t b = a + 1; b < l.nodes.size(); ++b) {
          const bool apart = l.nodes[a].max.x <= l.nodes[b].min.x || l.nodes[b].max.x <= l.nodes[a].min.x ||
                             l.nodes[a].max.y <= l.nodes[b].min.y || l.nodes[b].max.y <= l.nodes[a].min.y;
          CHECK(apart);
        }
      }
      // Keys at rest touch neither a node nor each other, or are left out.
      for (const float inwards : {0.3f, 0.45f}) {
        const float side = lab_context::key_side(l, ranks, inwards, 12, 19);
        CHECK((side == 0 || (side >= 12 && side <= 19)));
        std::vector<widgets::Rect> boxes(l.nodes);
        for (std::int64_t owner = 0; owner < ranks && side > 0; ++owner) {
          const ImVec2 on = lab_context::key_place(l, ranks, owner, 0);
          const ImVec2 at{l.centre.x + (on.x - l.centre.x) * inwards, l.centre.y + (on.y - l.centre.y) * inwards};
          boxes.push_back({{at.x - side / 2, at.y - side / 2}, {at.x + side / 2, at.y + side / 2}});
        }
        for (std::size_t a = l.nodes.size(); a < boxes.size(); ++a)
          for (std::size_t b = 0; b < a; ++b) {
            const bool apart = boxes[a].max.x <= boxes[b].min.x + 0.01f || boxes[b].max.x <= boxes[a].min.x + 0.01f ||
                               boxes[a].max.y <= boxes[b].min.y + 0.01f || boxes[b].max.y <= boxes[a].min.y + 0.01f;
            CHECK(apart);
          }
      }
    }
  // A wide ring has room for them.
  lab_context::RingPlaces wide;
  lab_context::layout_ring(4, {{0, 0}, {1000, 500}}, 1, wide);
  CHECK(lab_context::key_side(wide, 4, 0.45f, 12, 19) == 19);
}

TEST_CASE("context: a press on a step shows it, and Play moves the keys on") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/context");
  compute(*lab);
  Canvas canvas(*lab, {1000, 620});
  canvas.ui.frames(3);
  const auto shown = [&](std::string_view text) {
    return std::ranges::count_if(canvas.ui.record().strokes, [&](const widgets::Stroke& s) {
      return s.kind == widgets::Stroke::Kind::text && s.text == text;
    });
  };
  CHECK(lab->view().find("time")->real() == 1);
  CHECK(shown("K3") == 1);
  canvas.ui.click("Play##ring");
  canvas.ui.frames(6);
  CHECK(lab->view().find("time")->real() > 1);
  CHECK(lab->view().find("playing")->toggle());
  canvas.ui.click("Pause##ring");
  canvas.ui.frames(2);
  CHECK_FALSE(lab->view().find("playing")->toggle());
}
