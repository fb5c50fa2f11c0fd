#include "models/gpu/async_pipeline.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

namespace gpu = models::gpu;
using gpu::PipelineKind, gpu::PipelineRun, gpu::PipelineSetup;
using support::near;

namespace {

using Times = std::vector<std::int64_t>;

const nlohmann::json& pipeline_cases() {
  static const auto all = nlohmann::json::parse(support::read_text(support::data_file("async_pipeline.json")));
  return all;
}

PipelineSetup setup_of(const nlohmann::json& c) {
  const std::string kind = c.at("kind");
  PipelineSetup s{.kind = kind == "sync"         ? PipelineKind::sync
                          : kind == "multistage" ? PipelineKind::multistage
                                                 : PipelineKind::warp_specialized,
                  .tiles = c.at("tiles"),
                  .stages = c.at("stages"),
                  .latency = c.at("latency").is_null() ? 0 : c.at("latency").get<std::int64_t>(),
                  .load_time = c.at("load_time"),
                  .compute_time = c.at("compute_time"),
                  .sync_overhead = c.at("sync_overhead"),
                  .barrier_release = c.at("barrier_release"),
                  .issue_time = c.at("issue_time")};
  if (c.contains("latencies")) s.latencies = c.at("latencies").get<Times>();
  return s;
}

void check_tiles(const PipelineRun& run, const nlohmann::json& c) {
  const auto issue = c.at("issue").get<Times>(), ready = c.at("ready").get<Times>(),
             start = c.at("compute_start").get<Times>();
  for (std::size_t i = 0; i < issue.size(); ++i) {
    const gpu::PipelineTile& t = run.tiles.at(i);
    CHECK((t.issue == issue[i] && t.ready == ready[i] && t.compute_start == start[i]));
  }
}

/// A number from 0 to `top`, the same in every run.
struct Draw {
  std::uint64_t state;
  std::int64_t operator()(std::int64_t top) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(top + 1));
  }
};

PipelineSetup drawn(Draw& draw, std::int64_t scale) {
  PipelineSetup s{.kind = static_cast<PipelineKind>(draw(2)), .tiles = 1 + draw(19)};
  s.stages = 2 + draw(4);
  s.latency = draw(8 * scale);
  s.load_time = 1 + draw(3 * scale);
  s.compute_time = 1 + draw(4 * scale);
  s.sync_overhead = draw(scale / 4);
  s.barrier_release = draw(scale / 4);
  s.issue_time = draw(scale / 4);
  return s;
}

/// Blocks on one SM, cycle by cycle, with queues in front of the channel and of the pipe.
class CycleByCycle {
 public:
  CycleByCycle(const PipelineSetup& setup, std::int64_t blocks) : s_(setup), blocks_(static_cast<std::size_t>(blocks)) {
    for (Block& b : blocks_) b.tiles.assign(static_cast<std::size_t>(s_.tiles), {-1, -1, -1, -1, -1});
  }
  std::vector<gpu::PipelineTile> run() {
    while (!std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& b) { return done(b); })) {
      for (Block& b : blocks_) advance(b);
      serve();
      ++now_;
      if (now_ > 100'000) FAIL("it never ends");
    }
    std::vector<gpu::PipelineTile> out;
    for (const Block& b : blocks_) out.insert(out.end(), b.tiles.begin(), b.tiles.end());
    return out;
  }

 private:
  struct Block {
    std::vector<gpu::PipelineTile> tiles;
    std::size_t issued = 0, asked = 0;        ///< tiles whose copy or computation was asked for
    std::int64_t producer = 0, consumer = 0;  ///< until when each stream is busy
    std::int64_t synchronized_at = -1;        ///< when the wait for tile `asked` is over; -1: not known yet
  };
  struct Waiting {
    Block* block;
    std::size_t tile;
  };
  bool done(const Block& b) const { return b.tiles.back().compute_end >= 0; }
  bool is_there(const Block& b, std::size_t i) const { return b.tiles[i].ready >= 0 && b.tiles[i].ready <= now_; }
  bool ended(const Block& b, std::size_t i, std::int64_t after = 0) const {
    return b.tiles[i].compute_end >= 0 && b.tiles[i].compute_end + after <= now_;
  }
  void issue(Block& b) {
    b.tiles[b.issued].issue = now_;
    copies_.push_back({&b, b.issued++});
    serve();
  }
  bool may_issue(const Block& b) const {
    const auto stages = static_cast<std::size_t>(s_.stages);
    if (b.issued >= b.tiles.size()) return false;
    if (s_.kind == PipelineKind::sync) return b.issued == 0 || ended(b, b.issued - 1);
    if (b.producer > now_) return false;
    return b.issued < stages || ended(b, b.issued - stages, s_.barrier_release);
  }
  void advance(Block& b) {
    const bool one_stream = s_.kind == PipelineKind::multistage;
    const auto ahead = static_cast<std::size_t>(s_.stages) - 1;
    while (true) {
      if (!one_stream && may_issue(b)) {
        issue(b);
        b.producer = now_ + s_.issue_time;
        continue;
      }
      if (one_stream && b.consumer > now_) return;
      if (one_stream && b.asked == 0 && b.issued < std::min(ahead, b.tiles.size())) {
        issue(b);
        b.consumer = now_ + s_.issue_time;
        continue;
      }
      if (b.asked >= b.tiles.size() || (b.asked > 0 && !ended(b, b.asked - 1)) || !is_there(b, b.asked)) return;
      if (b.synchronized_at < 0) b.synchronized_at = now_ + s_.sync_overhead;
      if (b.synchronized_at > now_) return;
      if (one_stream && b.issued < b.tiles.size() && b.issued == b.asked + ahead) {
        issue(b);
        b.consumer = now_ + s_.issue_time;
        continue;
      }
      tiles_.push_back({&b, b.asked++});
      b.synchronized_at = -1;
      serve();
    }
  }
  void serve() {
    while (!copies_.empty() && channel_free_ <= now_) {
      const auto [block, i] = copies_.front();
      copies_.pop_front();
      gpu::PipelineTile& t = block->tiles[i];
      t.transfer = now_;
      channel_free_ = now_ + s_.load_time;
      t.ready = std::max(channel_free_ + s_.latency, i > 0 ? block->tiles[i - 1].ready : 0);
    }
    while (!tiles_.empty() && pipe_free_ <= now_) {
      gpu::PipelineTile& t = tiles_.front().block->tiles[tiles_.front().tile];
      tiles_.pop_front();
      t.compute_start = now_;
      t.compute_end = pipe_free_ = now_ + s_.compute_time;
    }
  }

  const PipelineSetup& s_;
  std::vector<Block> blocks_;
  std::deque<Waiting> copies_, tiles_;
  std::int64_t now_ = 0, channel_free_ = 0, pipe_free_ = 0;
};

}  // namespace

TEST_CASE("async pipeline: 53 published cases to the cycle, their long run in closed form, and 7 of ping-pong") {
  int simulated = 0, closed = 0, turns = 0;
  for (const auto& c : pipeline_cases().at("cases")) {
    INFO(c.at("id"));
    if (c.at("kind") == "pingpong") {
      const auto p = gpu::ping_pong(c.at("output_tiles"), c.at("mainloop"), c.at("epilogue"));
      CHECK(p.total == c.at("pingpong_total"));
      CHECK(p.cooperative_total == c.at("cooperative_total"));
      CHECK(near(p.steady_per_tile, c.at("steady_per_tile").get<double>(), 1e-12));
      ++turns;
      continue;
    }
    const PipelineSetup s = setup_of(c);
    REQUIRE(gpu::check_pipeline(s));
    const PipelineRun run = gpu::run_pipeline(s);
    CHECK(run.total == c.at("total"));
    CHECK(run.stall_cycles == c.at("stall_cycles"));
    CHECK(run.first_compute_start == c.at("first_compute_start"));
    CHECK(run.max_tiles_in_flight == c.at("max_tiles_in_flight"));
    check_tiles(run, c);
    ++simulated;
    if (!c.contains("closed")) continue;
    const gpu::PipelineRate rate = gpu::pipeline_rate(s);
    CHECK(std::abs(rate.period - c.at("closed").at("period").get<double>()) < 1e-6);
    const std::string bound = c.at("closed").at("bound");
    CHECK((rate.bound == gpu::PipelineBound::latency) == (bound == "latency"));
    if (c.contains("stages_for_full_rate")) CHECK(rate.stages_for_full_rate == c.at("stages_for_full_rate"));
    const std::int64_t last =
        s.compute_time + s.sync_overhead + (s.kind == PipelineKind::multistage ? s.issue_time : 0);
    const double at_most =
        static_cast<double>(s.latency + s.load_time + last) + static_cast<double>(s.tiles - 1) * rate.period;
    CHECK(static_cast<double>(run.total) <= at_most + 1e-6);
    CHECK(std::abs(at_most - c.at("closed").at("total").get<double>()) < 1e-5);
    ++closed;
  }
  CHECK((simulated == 53 && closed == 46 && turns == 7));
}

TEST_CASE("async pipeline: 24 budgets of shared memory, and a ring that pushes the second block off an A100's SM") {
  for (const auto& row : pipeline_cases().at("budgets")) {
    const auto v = row.get<Times>();
    CHECK((v[1] + v[2]) * v[3] * v[4] == v[5]);
    CHECK(gpu::max_stages(v[0], v[5], 0) == v[6]);
  }
  CHECK(pipeline_cases().at("budgets").size() == 24);
  CHECK(gpu::max_stages(166912, 16384, 34000) == 8);  // an epilogue's buffer is taken first
  CHECK(gpu::max_stages(1000, 16384, 2000) == 0);
  // 164 KiB, 1 KiB of which the system takes of each block: 81 KiB for each of two.
  const gpu::SmLimits& a100 = *gpu::sm_limits(80);
  CHECK(gpu::resident_blocks(a100, 256, 128, gpu::ring_bytes(5, 16384, 0)) == 2);
  CHECK(gpu::resident_blocks(a100, 256, 128, gpu::ring_bytes(6, 16384, 0)) == 1);
  CHECK(gpu::resident_blocks(a100, 256, 128, gpu::ring_bytes(11, 16384, 0)) == 0);
}

TEST_CASE("async pipeline: one block and several that share the SM, held to a simulation cycle by cycle") {
  Draw draw{7};
  for (int round = 0; round < 60; ++round) {
    const PipelineSetup s = drawn(draw, 12);
    const std::int64_t blocks = 1 + round % 3;
    INFO(round << ": kind " << static_cast<int>(s.kind) << ", " << blocks << " blocks");
    const PipelineRun run = gpu::run_pipeline(s, blocks);
    const auto steps = CycleByCycle(s, blocks).run();
    REQUIRE(steps.size() == run.tiles.size());
    bool same = true;
    for (std::size_t i = 0; i < steps.size(); ++i)
      same = same && steps[i].issue == run.tiles[i].issue && steps[i].ready == run.tiles[i].ready &&
             steps[i].compute_start == run.tiles[i].compute_start && steps[i].compute_end == run.tiles[i].compute_end;
    CHECK(same);
    CHECK(run.stall_cycles == run.total - blocks * s.tiles * s.compute_time);
  }
}

TEST_CASE("async pipeline: the closed period is the long run's, and blocks that share an SM never pass its pipes") {
  Draw draw{11};
  for (int round = 0; round < 40; ++round) {
    const PipelineSetup s = drawn(draw, 100);
    const gpu::PipelineRate rate = gpu::pipeline_rate(s);
    INFO(round);
    CHECK(near(gpu::sm_period(s, 1), rate.period, 1e-9));
    const double two = gpu::sm_period(s, 2), pipes = static_cast<double>(std::max(s.load_time, s.compute_time));
    CHECK(two >= pipes - 1e-9);
    CHECK(two <= rate.period + 1e-9);
    if (s.kind == PipelineKind::sync) continue;
    // One buffer more than enough changes nothing; one less than enough costs.
    PipelineSetup enough = s;
    enough.stages = std::max<std::int64_t>(rate.stages_for_full_rate, s.kind == PipelineKind::multistage ? 2 : 1);
    CHECK(gpu::pipeline_rate(enough).period == rate.full_period);
    if (enough.stages > 2) {
      --enough.stages;
      CHECK(gpu::pipeline_rate(enough).period > rate.full_period);
    }
  }
  // Two blocks with two buffers each wait no more than one block with four.
  PipelineSetup s{.stages = 2};
  CHECK(near(gpu::pipeline_rate(s).period, 772.5, 1e-12));
  CHECK(near(gpu::sm_period(s, 2), 512, 1e-9));
}

TEST_CASE("async pipeline: what is refused, and latencies that are spread evenly") {
  CHECK_FALSE(gpu::check_pipeline({.kind = PipelineKind::multistage, .stages = 1}));
  CHECK_FALSE(gpu::check_pipeline({.tiles = 0}));
  CHECK_FALSE(gpu::check_pipeline({.stages = 65}));
  CHECK_FALSE(gpu::check_pipeline({.latency = -1}));
  CHECK_FALSE(gpu::check_pipeline({.compute_time = 0}));
  CHECK(gpu::check_pipeline({.stages = 1}));
  const Times spread = gpu::spread_latencies(570, 200, 3, 2000);
  CHECK(*std::min_element(spread.begin(), spread.end()) >= 370);
  CHECK(*std::max_element(spread.begin(), spread.end()) <= 770);
  double sum = 0;
  for (const std::int64_t l : spread) sum += static_cast<double>(l);
  CHECK(near(sum / 2000, 570, 0.02));
  CHECK(gpu::spread_latencies(10, 500, 1, 50) == gpu::spread_latencies(10, 500, 1, 50));
  for (const auto& m : gpu::measured_latencies()) CHECK((m.cycles > 20 && m.cycles < 1000));
}
