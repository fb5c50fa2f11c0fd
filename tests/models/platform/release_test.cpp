#include "models/platform/release.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "models/platform/techniques.h"
#include "models/serving/arrivals/queueing.h"
#include "tests/support/base/near.h"
#include "tests/support/models/decoders.h"

using namespace models;
using platform::Part;
using support::near;

namespace {

/// A chip of round figures.
const Chip& round_chip() {
  static const Chip chip = [] {
    Chip c;
    c.id = c.name = c.short_name = "Round";
    c.dense_peak_flops_per_s[static_cast<std::size_t>(Format::bf16)] = 1e15;
    c.dense_peak_flops_per_s[static_cast<std::size_t>(Format::fp8)] = 2e15;
    c.memory_bytes = 80e9;
    c.memory_bandwidth_bytes_per_s = 3e12;
    return c;
  }();
  return chip;
}
platform::ReleaseSetup setup_on(std::int64_t gpus) {
  platform::ReleaseSetup s;
  s.chip = &round_chip();
  s.recipe = find_recipe("fp8");
  s.kv = find_kv_recipe("bf16");
  s.gpus = gpus;
  return s;
}
platform::Release released(const platform::ReleaseSetup& s) {
  const auto r = platform::estimate_release(support::llama_3_8b(), s);
  INFO(r.error);
  REQUIRE(r);
  return *r;
}
double hours_of(const platform::Release& r, Part part) { return r.parts[static_cast<std::size_t>(part)].time_s / 3600; }
double usd_of(const platform::Release& r, Part part) { return r.parts[static_cast<std::size_t>(part)].usd; }

}  // namespace

TEST_CASE("release: parts add up, and data with training are the run") {
  const auto r = released(setup_on(256));
  double time_s = 0, usd = 0;
  for (const auto& part : r.parts) {
    CHECK(part.time_s >= 0);
    CHECK(part.usd >= 0);
    time_s += part.time_s;
    usd += part.usd;
  }
  CHECK(near(r.total.time_s, time_s, 1e-12));
  CHECK(near(r.total.usd, usd, 1e-12));
  CHECK(near(r.parts[0].time_s + r.parts[1].time_s, r.run.time_s, 1e-6));
  CHECK(near(r.run.loader_s + r.run.kernels_s + r.run.network_s + r.run.host_s, r.run.time_s, 1e-6));
  CHECK(near(usd_of(r, Part::data) + usd_of(r, Part::training), r.run.time_s / 3600 * 256 * 3, 1e-6));
}

TEST_CASE("release: kernels shrink with the GPUs, storage does not, and the bottleneck leaves training") {
  const auto few = released(setup_on(64)), many = released(setup_on(1024));
  CHECK(near(few.run.step.forward_s / many.run.step.forward_s, 16, 1e-3));
  CHECK(near(few.run.step.backward_s / many.run.step.backward_s, 16, 1e-3));
  CHECK(few.bottleneck == static_cast<std::size_t>(Part::training));
  CHECK(many.bottleneck == static_cast<std::size_t>(Part::data));
  // 30 million samples of 4 MB through 3 GB/s: no number of GPUs is faster.
  CHECK(near(many.run.time_s, 30e6 * 4e6 / 3e9, 0.01));
  CHECK(near(many.run.storage_ceiling, 750, 1e-9));
  platform::ReleaseSetup wide = setup_on(1024);
  wide.storage_bytes_per_s *= 8;
  CHECK(released(wide).bottleneck == static_cast<std::size_t>(Part::monitoring));
}

TEST_CASE("release: the bottleneck is what would shorten it, not what fills the most hours") {
  // On 256 GPUs the storage takes 11.1 h and hides training, which fills more of them than the waits do.
  const auto r = released(setup_on(256));
  CHECK(hours_of(r, Part::training) > hours_of(r, Part::data));
  CHECK(r.bottleneck == static_cast<std::size_t>(Part::data));
  CHECK(r.twice_saves_s[1] < 0.01 * r.run.time_s);
  platform::ReleaseSetup twice = setup_on(256);
  twice.storage_bytes_per_s *= 2;
  twice.request_latency_s /= 2;
  twice.decode_s /= 2;
  CHECK(near(r.run.time_s - released(twice).run.time_s, r.twice_saves_s[0], 0.01));
  // What waits for nothing else saves half of itself.
  CHECK(near(r.twice_saves_s[6], r.parts[6].time_s / 2, 1e-12));
}

TEST_CASE("release: what passes over the network is 2 (n - 1) / n of two bytes a parameter") {
  platform::ReleaseSetup s = setup_on(128);
  s.overlap = false;
  s.storage_bytes_per_s = 1e13;
  const auto r = released(s);
  const double bytes = 2 * static_cast<double>(count_parameters(support::llama_3_8b()).total);
  CHECK(near(r.run.network_s / r.run.steps, 2 * 127.0 / 128 * bytes / 50e9, 0.01));
  s.overlap = true;
  CHECK(released(s).run.network_s < r.run.network_s);
}

TEST_CASE("release: replicas are the fewest that Erlang's formula allows") {
  const double rate = 80, request_s = 2.9;
  for (const std::int64_t slots : {1, 16, 64}) {
    const double n = platform::replicas_for(rate, request_s, slots, 0.05);
    const auto servers = static_cast<std::int64_t>(n) * slots;
    REQUIRE(erlang_c(servers, rate * request_s));
    CHECK(*erlang_c(servers, rate * request_s) <= 0.05);
    const auto fewer = erlang_c(servers - slots, rate * request_s);
    CHECK((!fewer || *fewer > 0.05));
  }
  CHECK(platform::replicas_for(0, 3, 64, 0.05) == 1);
}

TEST_CASE("release: a canary needs the square of the drop, and the square of 2.80 deviations") {
  // 7.849 x 0.09 / (0.005^2 x 0.95)
  CHECK(near(platform::canary_requests(0.9, 0.005, 0.05), 29744, 1e-3));
  CHECK(near(platform::canary_requests(0.9, 0.01, 0.05) * 4, platform::canary_requests(0.9, 0.005, 0.05), 1e-9));
  platform::ReleaseSetup s = setup_on(64);
  const auto r = released(s);
  CHECK(near(hours_of(r, Part::monitoring), 29744 / (0.05 * 40) / 3600, 1e-3));
  s.canary = 0.1;
  CHECK(near(hours_of(released(s), Part::monitoring) / hours_of(r, Part::monitoring), 0.5 * 0.95 / 0.9, 1e-6));
}

TEST_CASE("release: starts, waves and replicas are paid where they stand") {
  platform::ReleaseSetup s = setup_on(64);
  const auto r = released(s);
  CHECK(near(hours_of(r, Part::profiling), 10 * (300 + 20 * r.run.profiled_step_s) / 3600, 1e-9));
  CHECK(near(usd_of(r, Part::profiling), hours_of(r, Part::profiling) * 64 * 3, 1e-9));
  s.profile_one_node = true;
  CHECK(near(usd_of(released(s), Part::profiling), hours_of(released(s), Part::profiling) * 8 * 3, 1e-9));
  const double weights_s = r.service.replicas * r.service.weights_bytes / 3e9;
  CHECK(near(hours_of(r, Part::serving), (4 * 300 + weights_s) / 3600, 1e-9));
  CHECK(near(usd_of(r, Part::serving), (r.service.replicas - r.service.busy_replicas) * 30 * 24 * 3, 1e-9));
  s.autoscale = true;
  const auto follows = released(s);
  CHECK(follows.service.mean_replicas < r.service.replicas);
  CHECK(follows.service.mean_replicas > r.service.busy_replicas);
  CHECK(usd_of(follows, Part::serving) < usd_of(r, Part::serving));
}

TEST_CASE("release: what cannot be is said in a sentence") {
  const auto why = [](const platform::ReleaseSetup& s) {
    return platform::estimate_release(support::llama_3_8b(), s).error;
  };
  CHECK(why(setup_on(4096)).find("2048 samples cannot be split over 4096 GPUs") != std::string::npos);
  CHECK(why(setup_on(1)).find("The training run does not fit into a GPU's memory") == 0);
  const auto held = platform::release_training_bytes(support::llama_3_8b(), setup_on(1));
  REQUIRE(held);
  CHECK(*held > setup_on(1).chip->memory_bytes);
  CHECK(*held > *platform::release_training_bytes(support::llama_3_8b(), setup_on(64)));
  platform::ReleaseSetup s = setup_on(64);
  s.slots = 1000;
  s.prompt = 8192;
  CHECK(why(s).find("slots are asked for") != std::string::npos);
  s = setup_on(64);
  s.peak = 3;
  CHECK(!why(s).empty());
}

TEST_CASE("release: every technique changes what it names, once") {
  for (const platform::Technique& t : platform::techniques()) {
    INFO(t.id);
    platform::ReleaseSetup s = setup_on(64);
    s.recompute = true;
    s.overlap = false;
    const platform::ReleaseSetup before = s;
    CHECK(t.apply(s));
    CHECK(!(s == before));
  }
  platform::ReleaseSetup s = setup_on(64);
  s.autoscale = true;
  for (const platform::Technique& t : platform::techniques())
    if (t.id == "autoscale") CHECK(!t.apply(s));
}
