#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/serving/capacity/lab.h"
#include "models/base/result.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

// A fleet that was found opens in the labs that show its sides: one scenario, said once.

namespace capacity_doors_test {

using namespace support;
namespace lab_capacity = chapters::serving::capacity;

namespace {

using Link = models::Result<std::string>;

/// A fleet for forty requests a second, without its trial.
struct Fleet {
  lab_capacity::Inputs in;
  lab_capacity::Outputs out;
  chapters::LabDoors doors;

  explicit Fleet(lab_capacity::Inputs asked) : in(std::move(asked)) {
    use_bundled_catalog();
    in.trial = false;
    chapters::Progress progress;
    lab_capacity::Kept kept;
    out = compute(in, progress, kept).facts;
    doors = doors_of(in, out);
  }
  const Link& to(std::string_view lab) const {
    for (std::size_t i = 0; i < doors.size(); ++i)
      if (lab_capacity::fleet_doors()[i].lab == lab) return doors[i].link;
    FAIL("no such door");
    return doors.front().link;
  }
};

}  // namespace

TEST_CASE("capacity: one of its replicas opens in the labs of a step and of caches") {
  const Fleet fleet({});
  REQUIRE(fleet.out.reason == "");
  const double users = std::round(fleet.out.users / static_cast<double>(fleet.out.now.replicas));
  const LabPtr step = open_link(*fleet.to("inference/phases"));
  CHECK(input(*step, "batch").number() == users);
  CHECK(input(*step, "prompt").number() == 1000);
  CHECK(input(*step, "tensor_parallel").number() == static_cast<double>(fleet.out.now.replica_chips));
  // A bound is never slower than what the same replica was planned with.
  CHECK(computed(*step, "decode_time_s") <= fleet.out.gap_s);
  const LabPtr caches = open_link(*fleet.to("inference/kv-cache"));
  CHECK(computed(*caches, "total_bytes") >= users * fleet.out.kv_bytes_per_user);
}

TEST_CASE("capacity: the fleet opens under its load, and one replica with its part of it") {
  const Fleet fleet({.output_tokens = 200});
  const auto replicas = static_cast<double>(fleet.out.now.replicas);
  const LabPtr whole = open_link(*fleet.to("serving/slo"));
  CHECK(input(*whole, "replicas").number() == replicas);
  CHECK(input(*whole, "arrival_rate").number() == 40);
  CHECK(input(*whole, "kv_format").choice_id() == "fp8");
  CHECK(input(*whole, "tpot_limit_s").number() == 0.04);
  const LabPtr one = open_link(*fleet.to("serving/batching"));
  CHECK(near(input(*one, "arrival_rate").number() * replicas, 40, 1e-9));
  CHECK(input(*one, "output_tokens").number() == 200);
  CHECK(input(*one, "chips").number() == static_cast<double>(fleet.out.now.replica_chips));
}

TEST_CASE("capacity: a door that cannot hold the fleet is shut with the reason") {
  const Fleet recorded({.traffic = lab_capacity::Traffic::code});
  REQUIRE(recorded.out.reason == "");
  CHECK_FALSE(recorded.to("serving/slo"));
  CHECK(recorded.to("serving/slo").error.find("come from a recording") != std::string::npos);
  CHECK(recorded.to("inference/phases"));
  const Fleet huge({.arrival_rate = 2000, .replica_size = lab_capacity::ReplicaSize::own});
  REQUIRE(huge.out.reason == "");
  REQUIRE(huge.out.now.replicas > 32);
  CHECK(huge.to("serving/slo").error == "\"Replicas\" of this plan is beyond what that lab takes.");
}

}  // namespace capacity_doors_test
