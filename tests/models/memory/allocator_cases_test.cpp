#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/memory/allocator_replay.h"
#include "models/trace/text/bytes.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

// tests/data/allocator_cases.json.gz: lists of events and the figures that PyTorch's rules give, all integers,
// tolerance 0. Kinds: `rule` (one rule each, by hand from PyTorch v2.6.0, c10/cuda/CUDACachingAllocator.cpp),
// `pytorch_test` (the scenarios of PyTorch's own tests), `story` and `random` (two models that agree), `recording`
// (snapshots and a trace of public repositories under MIT: the addresses are the recorded ones), `recording_residual`
// (no truth for reserved).

using namespace models::memory;
using nlohmann::json;

namespace {

json read_cases() {
  const auto bytes = models::trace::in_memory(support::read_text(support::data_file("allocator_cases.json.gz")));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 20, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) text.append(part, 0, n);
  return json::parse(text);
}

AllocatorConfig config_of(const json& c) {
  AllocatorConfig out;
  out.capacity_bytes = c.value("capacity", out.capacity_bytes);
  out.fraction = c.value("fraction", out.fraction);
  out.max_split_size_bytes = c.value("max_split_size", out.max_split_size_bytes);
  out.max_non_split_rounding_bytes = c.value("max_non_split_rounding", out.max_non_split_rounding_bytes);
  out.garbage_collection_threshold = c.value("garbage_collection_threshold", 0.0);
  out.expandable_segments = c.value("expandable_segments", false);
  out.large_segment_bytes = c.value("large_segment_size", out.large_segment_bytes);
  if (c.contains("roundup_power2_divisions")) {
    REQUIRE(c["roundup_power2_divisions"].is_number());
    out.roundup_power2_divisions.fill(c["roundup_power2_divisions"]);
  }
  return out;
}

std::uint32_t crc32(const std::string& text) {
  std::uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

std::int64_t figure(const CachingAllocator& a, const std::string& key) {
  const AllocatorFigures& f = a.figures();
  const auto whole = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  if (key == "allocated") return whole(f.allocated_bytes);
  if (key == "requested") return whole(f.requested_bytes);
  if (key == "active") return whole(f.active_bytes);
  if (key == "reserved") return whole(f.reserved_bytes());
  if (key == "reserved_small") return whole(f.reserved_small_bytes);
  if (key == "reserved_large") return whole(f.reserved_large_bytes);
  if (key == "inactive_split_bytes") return whole(f.inactive_split_bytes);
  if (key == "inactive_split") return whole(f.inactive_splits);
  if (key == "segments") return whole(f.segments);
  if (key == "snapshot_segments") return whole(a.snapshot_segments());
  if (key == "largest_free") return whole(a.largest_free_bytes());
  if (key == "splits") return whole(f.splits);
  if (key == "device_allocs") return whole(f.device_allocs);
  if (key == "device_frees") return whole(f.device_frees);
  if (key == "retries") return whole(f.retries);
  if (key == "ooms") return whole(f.ooms);
  return -1;
}

json layout_of(const CachingAllocator& a) {
  json out = json::array();
  for (const SegmentView& s : a.snapshot()) {
    json parts = json::array();
    for (const auto& p : s.parts)
      parts.push_back({p.bytes, p.state == BlockState::allocated ? "allocated"
                                : p.state == BlockState::pending ? "pending"
                                                                 : "free"});
    out.push_back({s.small ? "small" : "large", s.stream, parts});
  }
  return out;
}

/// Replays one case; returns what differs, empty where nothing does.
std::string fault_of(const json& c) {
  const json& want = c["expected"];
  const AllocatorConfig config = config_of(c["config"]);
  std::string fault;
  const auto compare = [&](const std::string& what, const json& got, const json& wanted) {
    if (got != wanted && fault.size() < 400) fault += what + " " + got.dump() + " for " + wanted.dump() + "; ";
  };
  if (c.contains("requests")) {
    json rounded = json::array();
    for (const std::uint64_t r : c["requests"]) rounded.push_back(round_request(r, config));
    compare("rounded", rounded, want["rounded"]);
    return fault;
  }
  // Ids of the start are mentioned first, so that they keep their order.
  std::string text = c["events"];
  std::vector<InitialSegment> initial;
  std::map<std::int64_t, std::int32_t> start_ids;
  std::string mentions;
  if (c.contains("initial"))
    for (const json& s : c["initial"]) {
      InitialSegment segment{.address = s[0], .small = s[1] == "small", .stream = s[2], .parts = {}};
      for (const json& b : s[3]) {
        std::int32_t id = -1;
        if (const std::int64_t name = b[1]; name >= 0) {
          id = static_cast<std::int32_t>(start_ids.size());
          start_ids[name] = id;
          mentions += "r" + std::to_string(name) + " 0;";
        }
        segment.parts.push_back({b[0], id});
      }
      initial.push_back(segment);
    }
  auto list = parse_allocator_events(mentions + text);
  if (!list) return list.error;
  list->events.erase(list->events.begin(), list->events.begin() + static_cast<std::ptrdiff_t>(start_ids.size()));
  const auto placement = c.value("placement", std::vector<std::uint64_t>{});

  CachingAllocator allocator(config, list->ids, initial, placement);
  std::size_t row = 0;
  json oom_at = json::array();
  std::string addresses;
  for (std::size_t i = 0; i < list->events.size(); ++i) {
    const AllocatorEvent& e = list->events[i];
    if (!do_event(allocator, *list, e))
      oom_at.push_back(i);
    else if (want.contains("addresses_crc32") && e.action == AllocatorAction::allocate)
      addresses += (addresses.empty() ? "" : ",") + std::to_string(allocator.address_of(e.id));
    const AllocatorFigures& f = allocator.figures();
    if (f.allocated_bytes > f.active_bytes || f.active_bytes > f.reserved_bytes()) return "an identity is broken";
    if (want.contains("rows") && row < want["rows"].size() && want["rows"][row][0] == i + 1) {
      for (std::size_t k = 1; k < want["row_keys"].size(); ++k)
        compare("row " + std::to_string(row) + " " + want["row_keys"][k].get<std::string>(),
                figure(allocator, want["row_keys"][k]), want["rows"][row][k]);
      ++row;
    }
  }
  if (want.contains("rows")) compare("rows seen", row, want["rows"].size());
  for (const auto& [key, value] : want.items())
    if (value.is_number() && figure(allocator, key) >= 0) compare(key, figure(allocator, key), value);
  if (want.contains("oom_at")) compare("oom_at", oom_at, want["oom_at"]);
  if (want.contains("layout")) compare("layout", layout_of(allocator), want["layout"]);
  if (want.contains("addresses_crc32")) compare("addresses", crc32(addresses), want["addresses_crc32"]);
  if (want.contains("peak")) {
    const AllocatorRun run = replay_allocator(*list, config, {.initial = initial, .placement = placement});
    for (const auto& [key, value] : want["peak"].items())
      compare("peak " + key,
              key == "allocated"  ? run.peaks.allocated_bytes
              : key == "active"   ? run.peaks.active_bytes
              : key == "reserved" ? run.peaks.reserved_bytes
                                  : run.peaks.inactive_split_bytes,
              value);
    if (c["kind"] == "recording_residual") {
      // Nothing says what the steps before left reserved: both figures stand side by side, 3.9 % apart.
      const std::uint64_t model = run.peaks.reserved_bytes + c["before_bytes"].get<std::uint64_t>();
      compare("reserved with what was there before", model, want["model_reserved_with_before"]);
      compare("residual", want["recorded_reserved"].get<std::uint64_t>() - model, want["residual_bytes"]);
    }
  }
  return fault;
}

}  // namespace

TEST_CASE(
    "caching allocator: every case of the rules, PyTorch's tests, stories, random lists and recordings is exact") {
  const json cases = read_cases();
  std::map<std::string, int> exact;
  for (const json& c : cases) {
    const std::string fault = fault_of(c);
    INFO(c["id"].get<std::string>());
    CHECK(fault == "");
    exact[c["kind"]] += fault.empty();
  }
  CHECK(exact == std::map<std::string, int>{{"rule", 38},
                                            {"pytorch_test", 16},
                                            {"story", 16},
                                            {"random", 40},
                                            {"recording", 6},
                                            {"recording_residual", 1}});
}
