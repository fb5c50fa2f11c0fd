#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/mechanism/link_writer.h"
#include "chapters/serving/capacity/lab.h"

namespace chapters::serving::capacity {
namespace {

using Link = models::Result<std::string>;

constexpr auto doors = std::to_array<DoorTo>({
    {"open the fleet", "The fleet under load", "serving/slo"},
    {"open a replica", "A replica's batch", "serving/batching"},
    {"open a step", "A step of it", "inference/phases"},
    {"open the caches", "Its caches", "inference/kv-cache"},
});

/// Users of one replica at a time, at least one.
double users_of_replica(const Outputs& out) {
  return std::max(1.0, std::round(out.users / static_cast<double>(out.now.replicas)));
}

void write_machine(LinkWriter& w, const Inputs& in, const Outputs& out, std::string_view chips) {
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.choice("format", models::format_id(in.format));
  w.exactly(chips, static_cast<double>(out.now.replica_chips));
}

/// What the labs that run requests one by one have in common, at `share` of the rate.
void write_requests(LinkWriter& w, const Inputs& in, const Outputs& out, double share) {
  w.exactly("arrival_rate", out.planned_rate_per_s * share);
  w.exactly("prompt_tokens", std::round(out.planned_prompt));
  w.exactly("output_tokens", std::max(1.0, std::round(out.planned_output)));
  w.exactly("length_variation", in.length_variation);
  w.exactly("ttft_limit_s", in.ttft_limit_s);
  w.exactly("tpot_limit_s", in.tpot_limit_s);
  w.choice("policy", "chunked");
  w.exactly("chunk_tokens", static_cast<double>(in.chunk_tokens));
  w.exactly("slots", static_cast<double>(in.slots));
  w.choice("kv_format", in.kv_format == models::KvFormat::fp8 ? "fp8" : "bf16");
}

Link link_to(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  const bool requests = lab == "serving/slo" || lab == "serving/batching";
  if (requests && in.traffic != Traffic::lengths)
    return Link::fail("These requests come from a recording, whose arrivals a rate and lengths do not say.");
  write_machine(w, in, out, lab == "inference/phases" ? "tensor_parallel" : "chips");
  if (lab == "serving/slo") {
    write_requests(w, in, out, 1);
    w.exactly("replicas", static_cast<double>(out.now.replicas));
  } else if (lab == "serving/batching") {
    write_requests(w, in, out, 1 / static_cast<double>(out.now.replicas));
  } else if (lab == "inference/phases") {
    w.exactly("batch", users_of_replica(out));
    w.exactly("prompt", std::max(1.0, std::round(out.planned_prompt)));
    w.exactly("answer", std::max(1.0, std::round(out.planned_output)));
    w.exactly("kv_bits", in.kv_format == models::KvFormat::fp8 ? 8 : 16);
  } else {
    w.exactly("batch", users_of_replica(out));
    // A sequence as long as it is in the end.
    w.exactly("context", std::max(1.0, std::round(out.planned_prompt + out.planned_output)));
    w.choice("kv_format", in.kv_format == models::KvFormat::fp8 ? "fp8" : "bf16");
    w.exactly("memory_share", in.memory_percent / 100);
  }
  return w.link();
}

}  // namespace

std::span<const DoorTo> fleet_doors() { return doors; }

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(doors, [&](std::string_view lab) { return link_to(in, out, lab); });
}

}  // namespace chapters::serving::capacity
