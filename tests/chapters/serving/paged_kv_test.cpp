#include "chapters/serving/paged_kv/lab.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>

#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

namespace {

LabPtr paged_kv(std::string_view inputs = "{}") { return open_lab("serving/paged-kv", inputs); }

/// A file of arrivals that came with a scenario.
std::string arrivals_of(const std::string& text, const std::string& more = "") {
  std::string quoted;
  for (const char c : text) quoted += c == '\n' ? "\\n" : std::string(1, c);
  return R"({"trace": {"name": "mine.csv", "text": ")" + quoted + "\"}" + more + "}";
}

}  // namespace

// Kwon et al., SOSP 2023, figure 2: shares of the cache's memory of a 13B model on an A100 of 40 GB. The lab draws
// lengths with the means that section 6.1 prints for ShareGPT, 161 and 338.
TEST_CASE("paged KV: the shares are those that the paper of vLLM prints for three ways to reserve, and for blocks") {
  const LabPtr lab = paged_kv();
  CHECK(near(computed(*lab, "reserved_used_share"), 20.4, 0.1));
  CHECK(near(out(*lab, "reserved_later_share"), 13.3, 0.15));
  CHECK(near(out(*lab, "reserved_never_share"), 57.3, 0.05));
  CHECK(near(out(*lab, "reserved_stranded_share"), 8.9, 0.01));
  CHECK(near(out(*lab, "paged_used_share"), 96.3, 0.02));
  CHECK(out(*lab, "reserved_most_running") == 7);
  set(*lab, "reserve_rule", "power_of_two", "fit", "buddy");
  CHECK(near(computed(*lab, "reserved_used_share"), 26.8, 0.1));
  CHECK(near(out(*lab, "reserved_never_share"), 13.6, 0.15));
  CHECK(near(out(*lab, "reserved_stranded_share"), 41.6, 0.15));
  choose(*lab, "reserve_rule", "exact");
  CHECK(near(computed(*lab, "reserved_used_share"), 38.2, 0.1));
  CHECK(near(out(*lab, "reserved_later_share"), 25.2, 0.1));
  CHECK(out(*lab, "reserved_never_share") == 0);
  // Table 1 there: 12 GiB are 15.7 thousand slots.
  CHECK(out(*lab, "token_bytes") == 819200);
  CHECK(near(out(*lab, "pool_bytes"), 12.0 * 1024 * 1024 * 1024, 1e-4));
}

TEST_CASE("paged KV: the contract's keys on a file of arrivals, added up by hand") {
  // Four requests at once: prompts of 100 and answers of 29 tokens, of which 28 are held at the end.
  const LabPtr lab = paged_kv(arrivals_of("time,prompt,output\n0,100,29\n0,100,29\n0,100,29\n0,100,29\n",
                                          R"(, "pool_tokens": 512, "block_tokens": 16, "reserve_tokens": 256,
                                              "watermark": 0, "model": "llama-2-13b")"));
  // Two reservations of 256 fill the pool. In blocks all four run: eight blocks each are all of them.
  CHECK(computed(*lab, "reserved_most_running") == 2);
  CHECK(out(*lab, "paged_most_running") == 4);
  CHECK(out(*lab, "reserved_running") == 2);
  CHECK(out(*lab, "paged_running") == 4);
  CHECK(out(*lab, "preemptions") == 0);
  CHECK(out(*lab, "asked") == 4);
  CHECK(out(*lab, "paged_served") == 4);
  CHECK(out(*lab, "reserved_served") < 4);
  // 100 to 128 tokens of each, on average by time a little under the middle of both, since the first step is longer.
  const double held = out(*lab, "paged_used_share") / 100 * 512 / 4;
  CHECK(held > 108);
  CHECK(held < 114.5);
  CHECK(near(out(*lab, "reserved_used_share"), out(*lab, "paged_used_share") / 2, 0.03));
  CHECK(near(out(*lab, "reserved_never_share"), 100.0 * (256 - 128) / 256, 1e-9));
  // One block less, and somebody is sent back.
  CHECK(computed(set(*lab, "pool_tokens", 496), "preemptions") > 0);
}

TEST_CASE("paged KV: shares of both pools add up in every way to use them") {
  for (const char* inputs :
       {R"({"reserve_rule": "exact", "fit": "buddy", "requests": 120})",
        R"({"kind": "beams", "answers": 4, "requests": 60})",
        R"({"when_full": "wait", "watermark": 0, "requests": 120})", R"({"block_tokens": 100, "pool_tokens": 5000})",
        R"({"arrival_rate": 0.3, "requests": 30})"}) {
    const LabPtr lab = paged_kv(inputs);
    compute(*lab);
    for (const std::string pool : {"paged", "reserved"}) {
      double sum = pool == "paged" ? 0 : out(*lab, "reserved_later_share");
      for (const char* part : {"_used_share", "_never_share", "_stranded_share", "_spare_share"})
        sum += out(*lab, pool + part);
      CHECK(near(sum, 100, 1e-9));
    }
  }
}

TEST_CASE("paged KV: the pool stands still when nobody gives way, and moves on when the youngest does") {
  const LabPtr lab = paged_kv(R"({"when_full": "wait", "watermark": 0, "requests": 150})");
  CHECK(computed(*lab, "stuck_s") > 0);
  CHECK(out(*lab, "stuck_requests") > 10);
  CHECK(out(*lab, "paged_served") < out(*lab, "asked"));
  CHECK(std::string(lab->answer()).find("stands still") != std::string::npos);
  // A watermark alone puts it off.
  const double first = out(*lab, "stuck_s");
  CHECK(computed(set(*lab, "watermark", 10), "stuck_s") > first);
  for (const char* way : {"recompute", "swap"}) {
    choose(*lab, "when_full", way);
    CHECK(std::isnan(computed(*lab, "stuck_s")));
    CHECK(out(*lab, "paged_served") == out(*lab, "asked"));
  }
  CHECK(out(*lab, "swapped_bytes") > 0);
  CHECK(out(*lab, "recomputed_tokens") == 0);
}

TEST_CASE("paged KV: answers that share a prompt save blocks, beams save more, and apart they save nothing") {
  const LabPtr lab = paged_kv(R"({"kind": "sampled", "answers": 2, "arrival_rate": 2, "requests": 60})");
  const double sampled = computed(*lab, "saved");
  CHECK(sampled > 5);
  CHECK(out(*lab, "copies") > 0);
  choose(*lab, "kind", "beams");
  CHECK(computed(*lab, "saved") > sampled);
  input(*lab, "share").toggle() = false;
  CHECK(computed(*lab, "saved") == 0);
  CHECK(out(*lab, "copies") == 0);
  choose(*lab, "kind", "one");
  input(*lab, "share").toggle() = true;
  CHECK(computed(*lab, "saved") == 0);
}

TEST_CASE("paged KV: who jumps the line begins sooner, and in blocks almost at once") {
  const LabPtr lab = paged_kv(R"({"requests": 200})");
  CHECK(std::isnan(computed(*lab, "paged_first_wait_s")));
  compute(set(*lab, "urgent", 100));
  CHECK(out(*lab, "paged_first_wait_s") < out(*lab, "reserved_first_wait_s"));
  CHECK(out(*lab, "first_request") == 100);
  // A number beyond the last one is the last one.
  CHECK(computed(set(*lab, "urgent", 2000), "first_request") == 200);
}

TEST_CASE("paged KV: what cannot be is refused in one sentence") {
  CHECK(reason_of(*paged_kv(R"({"pool_tokens": 64, "block_tokens": 128})")) ==
        "A block of 128 tokens does not fit into a pool of 64: take smaller blocks.");
  CHECK(reason_of(*paged_kv(R"({"pool_tokens": 200000, "block_tokens": 1})")) ==
        "At most 65,536 blocks are followed here: take larger blocks or a smaller pool.");
  const std::string weights = reason_of(*paged_kv(R"({"model": "llama-3-70b"})"));
  CHECK(weights.find("take more chips") != std::string::npos);
  CHECK(reason_of(*paged_kv(arrivals_of("time,prompt,output\n0,5,five\n"))).find("ine 2") != std::string::npos);
  // A row whose request got no token is left out and counted.
  const LabPtr lab = paged_kv(arrivals_of("time,prompt,output\n0,50,9\n1,70,0\n2,60,9\n"));
  CHECK(computed(*lab, "failed") == 1);
  CHECK(out(*lab, "asked") == 2);
  // What is longer than the context is cut, and the answer says so.
  const LabPtr longer = paged_kv(arrivals_of("time,prompt,output\n0,3000,9\n1,70,5\n"));
  CHECK(computed(*longer, "cut") == 1);
  CHECK(std::string(longer->answer()).find("`1` request of the file is cut to `2,048` tokens") != std::string::npos);
}

TEST_CASE("paged KV: the answer says who is better off, and when nobody is") {
  const auto starts = [](std::string_view inputs, std::string_view words) {
    const std::string answer = answer_of("serving/paged-kv", inputs);
    INFO(answer);
    CHECK(answer.starts_with(words));
  };
  starts("{}",
         "Reserved ahead, `79.4 %` of the pool holds nothing; in blocks, `4.95 %`: `37.1` requests run, not `7`.");
  starts(R"({"when_full": "wait", "watermark": 0, "max_running": 3, "requests": 60})",
         "Blocks win nothing here: `2.84` requests run in either pool");
  starts(R"({"arrival_rate": 0.1, "requests": 20})", "Nobody waits for either pool.");
  starts(R"({"reserve_tokens": 16384, "requests": 60})", "No reservation fits");
  starts(R"({"pool_tokens": 64, "prompt_tokens": 100, "length_variation": 0, "requests": 5})", "Neither pool serves");
}

TEST_CASE("paged KV: a moment can be had by the hand, and the copy is the moment at which tables part") {
  use_bundled_catalog();
  using namespace chapters::serving::paged_kv;
  Inputs in;
  in.kind = Answers::sampled;
  in.arrival_rate = 2;
  in.requests = 60;
  const auto picture = picture_of(
      in, [](const Inputs& i, chapters::Progress& p) { return compute(i, p); }, arrange);
  REQUIRE(picture.split_s > 0);
  const auto blocks_at = [&](double at_s) {
    std::vector<std::vector<std::int32_t>> tables;
    for (const models::PoolFrame& frame : picture.run->paged.frames) {
      if (frame.time_us != std::llround(1e6 * at_s)) continue;
      const std::size_t index = static_cast<std::size_t>(&frame - picture.run->paged.frames.data());
      for (const models::PoolSequence& one : frame.sequences)
        if (one.request == picture.moments[index].follow)
          tables.emplace_back(frame.blocks.begin() + one.first, frame.blocks.begin() + one.first + one.count);
    }
    return tables;
  };
  const auto before = blocks_at(picture.before_split_s), after = blocks_at(picture.split_s);
  REQUIRE(before.size() == 2);
  REQUIRE(after.size() == 2);
  CHECK(before[0] == before[1]);
  CHECK(after[0] != after[1]);
  for (std::size_t i = 0; i + 1 < before[0].size(); ++i) CHECK(after[0][i] == after[1][i]);
}

TEST_CASE("paged KV: the line of time, a request in a pool and one that waits are taken by the hand") {
  ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
  REQUIRE(d.workspace.open("serving/paged-kv"));
  REQUIRE(d.settle());
  const double before = view(d.workspace.lab(), "at_s").number();
  CHECK(before == -1);
  d.ui.click_at(d.ui.point_in("paged pool", {0.2f, 0.2f}));
  REQUIRE(d.settle());
  CHECK(view(d.workspace.lab(), "followed").number() > 0);
  d.ui.drag_points(d.ui.point_in("who waits", {0.02f, 0.5f}), d.ui.point_in("paged pool", {0.5f, 0.5f}));
  REQUIRE(d.settle());
  CHECK(input(d.workspace.lab(), "urgent").number() > 0);
}

// Two reservations of 256 fill 512 slots, and four requests run in blocks: see the contract's keys above.
TEST_CASE("paged KV: how many more run in blocks, and with half the bytes against reserving in 16 bits") {
  const std::string file = "time,prompt,output\n0,100,29\n0,100,29\n0,100,29\n0,100,29\n";
  const LabPtr lab = paged_kv(arrivals_of(file, R"(, "pool_tokens": 512, "reserve_tokens": 256, "watermark": 0)"));
  CHECK(computed(*lab, "gain") == 2);
  CHECK(out(*lab, "gain_16") == 2);
  // 512 slots of 8 bits are the bytes of 256 slots of 16, which hold one reservation.
  choose(*lab, "kv_format", "fp8");
  CHECK(computed(*lab, "gain") == 2);
  CHECK(out(*lab, "gain_16") == 4);
}
