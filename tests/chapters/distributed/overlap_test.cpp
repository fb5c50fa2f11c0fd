#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/overlap/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_overlap = chapters::distributed::overlap;
using models::parallel::OverlapMethod;

namespace {

lab_overlap::Picture overlap_picture(const lab_overlap::Inputs& in) {
  return picture_of(in, lab_overlap::compute, lab_overlap::arrange);
}

}  // namespace

TEST_CASE("overlap: the parts of a step add up, and the tail is the last bucket") {
  const LabPtr lab = open_lab("distributed/overlap");
  compute(*lab);
  CHECK(near(out(*lab, "compute_s") + out(*lab, "slowed_s") + out(*lab, "exposed_s"), out(*lab, "step_s"), 1e-9));
  CHECK(near(out(*lab, "tail_wait_s"), out(*lab, "exposed_s"), 1e-9));
  CHECK(out(*lab, "collectives") == 65);
  CHECK(out(*lab, "last_bytes") == 1050681344);
  CHECK(out(*lab, "tail_s") >= out(*lab, "last_s"));
  CHECK(out(*lab, "tail_s") < 1.02 * out(*lab, "last_s"));
  // A limit a hundred times smaller cuts no tensor.
  CHECK(near(computed(set(*lab, "bucket_bytes", 262144), "tail_s"), out(*lab, "last_s"), 0.01));
  compute(set(*lab, "beside_backward", 0));
  CHECK(near(out(*lab, "exposed_s"), out(*lab, "network_s"), 1e-9));
  CHECK(out(*lab, "slowed_s") == 0);
  compute(set(*lab, "gpus", 1));
  CHECK(out(*lab, "network_s") == 0);
  CHECK(near(out(*lab, "step_s"), out(*lab, "compute_s"), 1e-9));
}

TEST_CASE("overlap: the critical tokens are those of the closed form") {
  const LabPtr lab = open_lab("distributed/overlap", R"({"algorithm": "ring", "gpus": 8})");
  CHECK(near(computed(*lab, "critical_tokens"), 4 * 7.0 / 8 * 0.7 * 989.4e12 / (2 * 0.82 * 450e9), 1e-6));
  // Below it the network is the longer stream, well above it one bucket is left.
  const double few = computed(set(*lab, "batch", 1), "exposed_share");
  CHECK(few > 4 * computed(set(*lab, "batch", 16), "exposed_share"));
  // One switch has little latency; a ring over 2,048 GPUs has most of its time in it, and the answer says so.
  CHECK(out(*lab, "balance_tokens") < 1.5 * out(*lab, "critical_tokens"));
  const LabPtr wide = open_lab("distributed/overlap", R"({"method": "fsdp", "model": "llama-3-8b", "gpus": 2048,
                                                          "batch": 1, "sequence": 8192})");
  compute(*wide);
  CHECK(out(*wide, "balance_tokens") > 8192);
  CHECK(out(*wide, "critical_tokens") < 8192);
  CHECK(wide->answer().ends_with("latency, not bytes, holds it up."));
}

TEST_CASE("overlap: a layer balances where it does, however many layers share a bucket") {
  const LabPtr lab = open_lab("distributed/overlap");
  double before = computed(set(*lab, "bucket_bytes", 65536), "balance_tokens");
  for (const double bytes : {26214400.0, 380e6, 1e9, 1e12}) {
    const double tokens = computed(set(*lab, "bucket_bytes", bytes), "balance_tokens");
    // What is no product makes a layer's backward longer.
    CHECK(tokens > 0.6 * out(*lab, "critical_tokens"));
    CHECK(tokens <= before);  // fewer buckets have less latency
    before = tokens;
  }
}

TEST_CASE("overlap: FSDP's memory, traffic and order") {
  const LabPtr lab = open_lab("distributed/overlap", R"({"method": "fsdp"})");
  compute(*lab);
  CHECK(out(*lab, "collectives") == 52);  // 18 gathers, 16 more for the backward, 18 reductions
  CHECK(near(out(*lab, "state_bytes"), 16 * 1235814400.0 / 64, 1e-9));
  CHECK(std::isnan(out(*lab, "best_bucket_bytes")));
  const double sent = out(*lab, "sent_bytes");
  compute(set(*lab, "reshard_after_forward", 0));
  CHECK(out(*lab, "collectives") == 36);
  CHECK(out(*lab, "sent_bytes") < sent);
  const double kept = out(*lab, "held_peak_bytes");
  compute(set(*lab, "reshard_after_forward", 1));
  CHECK(out(*lab, "held_peak_bytes") < kept);
  compute(set(*lab, "layers_per_unit", 4));
  CHECK(out(*lab, "collectives") == 6 + 4 + 6);
  compute(set(set(*lab, "layers_per_unit", 1), "forward_ahead", 0));
  CHECK(out(*lab, "forward_wait_s") > 0.008);
}

TEST_CASE("overlap: the parts in which compute waits are said, and no part of nothing") {
  use_bundled_catalog();
  lab_overlap::Inputs in;
  CHECK(overlap_picture(in).waits_said.empty());  // the tail is all
  in.method = OverlapMethod::fsdp;
  const lab_overlap::Picture p = overlap_picture(in);
  CHECK(p.tail_said == "3.93 ms tail");
  CHECK(p.waits_said == "6.16 ms waiting in all");
  CHECK(p.answer.ends_with("It waits `2.23 ms` in the forward pass and `3.93 ms` after the backward pass."));
}

TEST_CASE("overlap: what cannot be says why") {
  const LabPtr lab = open_lab("distributed/overlap", R"({"model": "llama-3-8b"})");
  lab->compute();
  CHECK(lab->reason() ==
        "Weights, gradients and optimizer states take 128 GB on each GPU, which has 80 GB: split them with FSDP.");
  compute(set(*lab, "method", "fsdp"));
  CHECK(lab->reason().empty());
  set(set(*lab, "hybrid", 1), "shards", 48).compute();
  CHECK(lab->reason() == "The states are split over 48 GPUs: choose a whole multiple of that, or split over fewer.");
}

TEST_CASE("overlap: what falls, what is red and what the answer says") {
  use_bundled_catalog();
  lab_overlap::Inputs in;
  const lab_overlap::Picture p = overlap_picture(in);
  CHECK(p.falls.size() == 65);
  for (const lab_overlap::Fall& fall : p.falls) {
    CHECK(fall.from_s <= fall.to_s);
    CHECK(fall.start_s >= fall.to_s - 1e-12);
    CHECK_FALSE(fall.up);
  }
  CHECK(p.compute.size() == 18 + 18 + 1);
  CHECK(p.network.size() == 65);
  REQUIRE(p.waits.size() == 1);
  CHECK(near(p.waits[0].end_s - p.waits[0].start_s, p.last_s - p.backward_end_s, 1e-9));
  // What is sent behind the backward has appeared in it all the same.
  lab_overlap::Inputs late = in;
  late.beside_backward = false;
  late.slowdown = in.slowdown = 0;
  late.micro_batches = in.micro_batches = 3;
  const lab_overlap::Picture sent_late = overlap_picture(late), sent = overlap_picture(in);
  REQUIRE(sent_late.falls.size() == 65);
  for (std::size_t i = 0; i < sent.falls.size(); ++i) {
    CHECK(near(sent_late.falls[i].from_s, sent.falls[i].from_s, 1e-9));
    CHECK(near(sent_late.falls[i].to_s, sent.falls[i].to_s, 1e-9));
    CHECK(sent_late.falls[i].start_s >= sent_late.backward_end_s - 1e-12);
  }
  in = {};
  // The scenario's own point lies on every line.
  in.bucket_bytes = 65536;
  in.batch = 3;
  for (const std::int64_t gpus : {1, 48}) {
    in.gpus = gpus;
    const lab_overlap::Picture own = overlap_picture(in);
    const double step_s = lab_overlap::compute(in).facts.step.makespan_s;
    REQUIRE(own.sizes.x.front() == 65536);
    CHECK(near(own.sizes.y.front(), step_s, 1e-9));
    REQUIRE(own.gpus[0].label == "DDP");
    const std::vector<double>& of_gpus = own.gpus[0].x;
    const auto at = std::find(of_gpus.begin(), of_gpus.end(), static_cast<double>(gpus)) - of_gpus.begin();
    REQUIRE(at < static_cast<std::ptrdiff_t>(of_gpus.size()));
    CHECK(near(own.gpus[0].y[static_cast<std::size_t>(at)], step_s, 1e-9));
    CHECK(std::is_sorted(own.tokens.x.begin(), own.tokens.x.end()));
    CHECK(own.tokens.x[2] == 3 * 2048);
  }
  in = {};
  CHECK(p.answer.starts_with(
      "The backward pass hides all but `5.88 ms` of `35.3 ms` of communication; the step takes `163 ms`."));
  in.method = OverlapMethod::fsdp;
  const lab_overlap::Picture sharded = overlap_picture(in);
  CHECK(std::count_if(sharded.falls.begin(), sharded.falls.end(), [](const auto& f) { return f.up; }) == 34);
  // A gathered weight comes no later than its pass, a reduction follows it.
  for (const lab_overlap::Fall& fall : sharded.falls)
    CHECK((fall.up ? fall.end_s <= fall.from_s + 1e-12 : fall.start_s >= fall.to_s - 1e-12));
  CHECK_FALSE(sharded.held.empty());
}
