#include "models/parallel/collectives/collective_fit.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/parallel/collectives/collective_published.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models::parallel;
using nlohmann::json;
using support::near;

namespace {

const std::vector<PublishedCollective>& published_runs() {
  static const auto read =
      parse_published_collectives(support::read_text(support::source_file("assets/collectives/measured.json")), "it");
  REQUIRE(read.error == "");
  return *read;
}

/// Fits, floors and crossings of topic collectives_measured, computed by the rules there.
const json& recorded_fits() {
  static const json all = json::parse(support::read_text(support::data_file("collective_fits.json")));
  return all;
}

void check_pieces(const CollectiveCurve& curve, const json& row, std::size_t pieces) {
  const auto fit = fit_collective(curve, pieces);
  const std::string key = "fit_" + std::to_string(pieces) + "_pieces";
  CHECK(bool(fit) == row.contains(key));
  if (!fit || !row.contains(key)) return;
  const json& known = row[key];
  REQUIRE(fit->pieces.size() == pieces);
  CHECK(std::abs(fit->rms_error - known["rms_rel_error"].get<double>()) <= 1e-3);
  for (std::size_t k = 0; k < pieces; ++k) {
    CHECK(fit->pieces[k].from_bytes == known["starts_at_bytes"][k].get<double>());
    CHECK(std::abs(fit->pieces[k].line.alpha_s * 1e6 - known["alpha_us"][k].get<double>()) <=
          1e-4 * known["alpha_us"][k].get<double>());
    const json& rate = known["bus_bandwidth_GBps"][k];
    CHECK(rate.is_null() == std::isinf(fit->pieces[k].line.bus_bytes_per_s));
    if (!rate.is_null()) CHECK(near(fit->pieces[k].line.bus_bytes_per_s, rate.get<double>() * 1e9, 1e-4));
  }
}

}  // namespace

TEST_CASE("47 published collectives: bus bandwidth follows from size and time as nccl-tests prints it") {
  REQUIRE(published_runs().size() == 47);
  for (const PublishedCollective& run : published_runs()) {
    INFO(run.id);
    for (std::size_t i = 0; i < run.curve.samples.size(); ++i) {
      const double printed = run.curve.samples[i].busbw_bytes_per_s, computed = run.curve.busbw(i);
      INFO(run.curve.samples[i].bytes << " B: " << computed << " of " << printed);
      CHECK(std::abs(computed - printed) <= std::max(0.02e9, 0.006 * printed));
    }
  }
}

TEST_CASE("47 published collectives: lines of one, two and three pieces, floors, spikes and crossings") {
  REQUIRE(recorded_fits().size() == 47);
  for (std::size_t r = 0; r < 47; ++r) {
    const json& row = recorded_fits()[r];
    const CollectiveCurve& curve = published_runs()[r].curve;
    INFO(published_runs()[r].id);
    REQUIRE(row["id"] == published_runs()[r].id);

    const auto fit = fit_collective(curve, 1);
    REQUIRE(fit);
    const json& known = row["fit"];
    CHECK(near(fit->pieces[0].line.alpha_s * 1e6, known["alpha_us"], 1e-4));
    CHECK(near(fit->pieces[0].line.bus_bytes_per_s / 1e9, known["bus_bandwidth_GBps"], 1e-4));
    CHECK(std::abs(fit->rms_error - known["rms_rel_error"].get<double>()) <= 1e-3);
    CHECK(std::abs(fit->worst_error - known["worst_rel_error"].get<double>()) <= 1e-3);
    CHECK(fit->worst_at_bytes == known["worst_at_bytes"].get<double>());

    const std::vector<bool> spikes = one_off_spikes(curve);
    json excluded = json::array();
    for (std::size_t i = 0; i < spikes.size(); ++i)
      if (spikes[i]) excluded.push_back(std::llround(curve.samples[i].bytes));
    CHECK(excluded == known["excluded_bytes"]);

    check_pieces(curve, row, 2);
    check_pieces(curve, row, 3);
    if (!row["floor_us"].is_null()) CHECK(near(latency_floor_s(curve) * 1e6, row["floor_us"], 1e-4));
    CHECK(near(peak_of(curve).bus_bytes_per_s / 1e9, row["peak"][0], 0.05));

    const auto crossings = find_crossings(curve, *fit);
    REQUIRE(crossings.size() == row["crossings"].size());
    for (std::size_t i = 0; i < crossings.size(); ++i) {
      const json& c = row["crossings"][i];
      INFO(c.dump());
      CHECK(crossings[i].from_bytes == c[0].get<double>());
      CHECK(crossing_name(crossings[i].kind) == c[1].get<std::string>());
      const SecondColumn column = c[2].is_null()     ? SecondColumn::missing
                                  : c[2].get<bool>() ? SecondColumn::agrees
                                                     : SecondColumn::differs;
      CHECK(crossings[i].in_place == column);
      CHECK(std::abs(crossings[i].time_ratio - c[3].get<double>()) <= 1e-3);
      CHECK(std::abs(crossings[i].line_ratio - c[4].get<double>()) <= 1e-3);
    }
  }
}

TEST_CASE("a line through a made-up collective gives back its latency and bandwidth, and one spike does not move it") {
  CollectiveCurve curve{.ranks = 8};
  for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2)
    curve.samples.push_back({bytes, 20e-6 + 1.75 * bytes / 200e9});
  curve.samples[5].seconds *= 3;
  const auto fit = fit_collective(curve, 1);
  REQUIRE(fit);
  CHECK(near(fit->pieces[0].line.alpha_s, 20e-6, 1e-9));
  CHECK(near(fit->pieces[0].line.bus_bytes_per_s, 200e9, 1e-9));
  CHECK(near(fit->knee_bytes(), 20e-6 * 200e9 / 1.75, 1e-9));
  CHECK(find_crossings(curve, *fit).empty());
  CHECK_FALSE(fit->alpha_is_extrapolated);

  SECTION("two regimes are found where they meet") {
    for (auto& s : curve.samples)
      if (s.bytes >= 1 << 20) s.seconds = 60e-6 + 1.75 * s.bytes / 400e9;
    const auto two = fit_collective(curve, 2);
    REQUIRE(two);
    CHECK(two->pieces[1].from_bytes == 1 << 20);
    CHECK(two->rms_error < 1e-9);
    CHECK(near(two->seconds(1 << 25), 60e-6 + 1.75 * (1 << 25) / 400e9, 1e-9));
  }
  SECTION("too few sizes are refused with a sentence") {
    curve.samples.resize(4);
    CHECK(fit_collective(curve, 2).error == "A fit of 2 lines takes 7 sizes or more and has 4.");
    CHECK(fit_collective(curve, 1)->alpha_is_extrapolated);
  }
}
