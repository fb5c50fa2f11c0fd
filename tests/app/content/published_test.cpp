#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "app/content/load_catalog.h"
#include "app/content/load_published.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using Catch::Approx;

namespace {

/// A file of published figures with these rows, of one lab and one source.
std::string published_file(const std::string& rows) {
  return R"({"lab": "roofline/roofline", "sources": {"s": {"name": "A table", "date": "2025-02-25"}}, "published": [)" +
         rows + "]}";
}

/// 1 TFLOP over 2 GB is 500 FLOP/B: on an H100 SXM in BF16 the roof there is its peak, 989.4 TFLOP/s.
std::string published_row(const std::string& members) {
  return R"({"id": "a", "name": "a kernel", "inputs": {"operation": "custom", "flops": 1e12, "bytes": 2e9}, )"
         R"("output": "attainable_flops_per_s", "unit": "FLOP/s", "source": "s", )" +
         members + "}";
}

std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> errors;
  CHECK(app::parse_published(text, "p.json", errors).empty());
  return errors;
}

app::CheckedPublished checked(const std::string& members) {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  std::vector<std::string> errors;
  const auto rows = app::parse_published(published_file(published_row(members)), "p.json", errors);
  REQUIRE(errors.empty());
  REQUIRE(rows.size() == 1);
  const auto found = app::check_published(rows[0]);
  REQUIRE(found.error.empty());
  return *found;
}

std::string refusal(const std::string& row) {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  std::vector<std::string> errors;
  const auto rows = app::parse_published(published_file(row), "p.json", errors);
  REQUIRE(errors.empty());
  REQUIRE(rows.size() == 1);
  return app::check_published(rows[0]).error;
}

}  // namespace

TEST_CASE("a published figure carries its source, its inputs by kind and what the model is to it") {
  std::vector<std::string> errors;
  const auto rows = app::parse_published(
      R"({"lab": "roofline/roofline", "sources": {"s": {"name": "A table", "date": "2025-02-25", "url": "u"}},
      "published": [{"id": "a", "name": "a kernel", "label": "k",
      "inputs": {"chip": "h100_sxm", "m": 64, "kv_reads": true, "show": ["walk"]}, "output": "time_s",
      "measured": 1e-5, "unit": "s", "model": "floor", "tolerance": 0.5, "source": "s", "note": "Once."}]})",
      "p.json", errors);
  REQUIRE(errors.empty());
  REQUIRE(rows.size() == 1);
  const chapters::Published& row = rows[0];
  CHECK(row.source == "A table");
  CHECK(row.date == "2025-02-25");
  CHECK(row.label == "k");
  CHECK(row.role == chapters::ModelRole::floor);
  CHECK(row.sets("chip", "h100_sxm"));
  CHECK(row.sets("kv_reads", "true"));
  CHECK(row.number("m", 0) == 64);
  CHECK(row.number("chip", 7) == 7);
  CHECK(row.input("show") == nullptr);  // a list: of no use to a plot, and still in `set`
  CHECK(row.set.find("walk") != std::string::npos);
}

TEST_CASE("a broken file of published figures is named with its place and fault, and good rows stay") {
  CHECK(faults_of("[") ==
        std::vector<std::string>{
            "p.json is not a JSON object: published figures read {\"lab\", \"sources\", \"published\"}."});
  CHECK(faults_of(R"({"published": []})") == std::vector<std::string>{"p.json: the key \"lab\" is missing."});
  CHECK(faults_of(R"({"lab": "x"})") == std::vector<std::string>{"p.json: published must be a list."});
  const auto row_fault = [](const std::string& row) {
    const auto errors = faults_of(published_file(row));
    return errors.size() == 1 ? errors[0] : std::string();
  };
  CHECK(row_fault("1") == "p.json, published 1: an object is expected.");
  CHECK(row_fault(published_row(R"("model": "ceiling")")) == "p.json, published 1: measured must be a number.");
  CHECK(row_fault(published_row(R"("measured": 1, "model": "roof")")) ==
        "p.json, published 1: model is \"roof\": ceiling, floor, estimate or beside is allowed.");
  CHECK(row_fault(published_row(R"("measured": -1, "model": "ceiling")")) ==
        "p.json, published 1: measured next to a bound must be above 0.");
  CHECK(row_fault(published_row(R"("measured": 1, "model": "estimate", "beats": "So.")")) ==
        "p.json, published 1: beats is for a ceiling or a floor.");
  CHECK(row_fault(published_row(R"("measured": 1, "model": "estimate", "tolerance": 0)")) ==
        "p.json, published 1: tolerance must be above 0.");
  CHECK(row_fault(R"({"id": "a", "name": "n", "output": "o", "measured": 1, "model": "floor", "source": "t"})") ==
        "p.json, published 1: there is no source \"t\" in the list of sources.");
  CHECK(row_fault(published_row(R"("measured": 1, "tolerance": 1, "model": "beside")")) ==
        "p.json, published 1: what stands beside has no tolerance.");
  std::vector<std::string> errors;
  const std::string good = published_row(R"("measured": 1, "model": "estimate")");
  CHECK(app::parse_published(published_file(good + ", " + good + ", {}"), "p.json", errors).size() == 1);
  CHECK(errors == std::vector<std::string>{"p.json, published 2: there are two rows \"a\".",
                                           "p.json, published 3: the key \"id\" is missing."});
}

TEST_CASE("a row is recomputed by its lab: residual, share of a bound, and what is not as it should be") {
  const auto reached = checked(R"("measured": 494.7e12, "model": "ceiling")");
  CHECK(reached.model == Approx(989.4e12));
  CHECK(reached.residual == Approx(-0.5));
  CHECK(reached.share == Approx(0.5));
  CHECK(reached.fault.empty());
  const auto late = checked(R"("measured": 1978.8e12, "model": "floor")");  // twice the least
  CHECK(late.share == Approx(0.5));
  CHECK(late.residual == Approx(-0.5));  // as for a rate: what is missing of the bound
  CHECK(checked(R"("measured": 1978.8e12, "model": "estimate")").residual == Approx(1));
  CHECK(std::isnan(checked(R"("measured": 1e15, "model": "estimate")").share));
  CHECK(checked(R"("measured": 1.2e15, "model": "ceiling")").fault ==
        "a lies beyond the bound of the model, which was reached to 121 %: mend one of them, or say in beats why it "
        "may.");
  CHECK(checked(R"("measured": 1.2e15, "model": "ceiling", "beats": "Another clock.")").fault.empty());
  CHECK(checked(R"("measured": 9e14, "model": "ceiling", "beats": "Another clock.")").fault ==
        "a does not lie beyond the bound of the model: take its beats away.");
  CHECK(checked(R"("measured": 9e14, "model": "estimate", "tolerance": 0.1)").fault.empty());
  CHECK(checked(R"("measured": 8e14, "model": "estimate", "tolerance": 0.1)").fault ==
        "a is -19.1 % off the model, and 10 % is allowed.");
}

TEST_CASE("a row whose lab, input, output or unit is wrong is refused with a sentence") {
  const std::string rest = R"("measured": 1, "model": "estimate", "source": "s"})";
  CHECK(refusal(R"({"id": "a", "name": "n", "output": "time", "unit": "s", )" + rest)
            .starts_with("Published figure a: roofline/roofline has no output \"time\""));
  CHECK(refusal(R"({"id": "a", "name": "n", "output": "time_s", "unit": "ms", )" + rest) ==
        "Published figure a: unit is \"ms\", and time_s has \"s\".");
  CHECK(refusal(R"({"id": "a", "name": "n", "inputs": {"chop": "x"}, "output": "time_s", "unit": "s", )" + rest)
            .find("\"chop\"") != std::string::npos);
  CHECK(refusal(R"({"id": "a", "name": "n", "inputs": {"m": 0}, "output": "time_s", "unit": "s", )" + rest)
            .starts_with("Published figure a: "));
  chapters::Published lost;
  lost.id = "a";
  lost.lab = "roofline/roofl";
  CHECK(app::check_published(lost).error.starts_with("Published figure a: There is no lab \"roofline/roofl\""));
}

TEST_CASE("residuals are summed up by quantity and by what the model is to it: mean, the worst with its row, shares") {
  using chapters::ModelRole;
  const auto row = [](const char* id, const char* output, ModelRole role) {
    chapters::Published r;
    r.id = id;
    r.output = output;
    r.role = role;
    return r;
  };
  const std::vector<chapters::Published> rows{
      row("a", "rate", ModelRole::ceiling), row("b", "rate", ModelRole::estimate), row("c", "rate", ModelRole::ceiling),
      row("d", "time", ModelRole::ceiling), row("e", "loss", ModelRole::beside)};
  const double none = std::nan("");
  const std::vector<app::CheckedPublished> checked{
      {100, -0.3, 0.7, ""}, {100, 0.1, none, ""}, {100, -0.4, 0.6, ""}, {100, -0.9, 0.1, ""}, {100, none, none, ""}};
  std::vector<const chapters::Published*> of;
  for (const auto& r : rows) of.push_back(&r);
  const auto kinds = app::summarize_residuals(of, checked);
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[0].output == "rate");
  CHECK(kinds[0].role == ModelRole::ceiling);
  CHECK(kinds[0].rows == 2);
  CHECK(kinds[0].mean == Approx(-0.35));
  CHECK(kinds[0].mean_absolute == Approx(0.35));
  CHECK(kinds[0].worst == Approx(-0.4));
  CHECK(kinds[0].worst_id == "c");
  CHECK(kinds[0].least_share == Approx(0.6));
  CHECK(kinds[0].mean_share == Approx(0.65));
  CHECK(kinds[0].most_share == Approx(0.7));
  CHECK(kinds[1].role == ModelRole::estimate);
  CHECK(kinds[1].mean == Approx(0.1));
  CHECK(std::isnan(kinds[1].mean_share));
  CHECK(std::isnan(kinds[1].most_share));
  CHECK(kinds[2].output == "time");
  CHECK(kinds[2].mean == Approx(-0.9));
  CHECK(kinds[3].rows == 1);
  CHECK(std::isnan(kinds[3].mean));
}

TEST_CASE("what stands beside the model has no residual, no share and no tolerance, and is no fault") {
  const auto other = checked(R"("measured": 0.8, "model": "beside")");
  CHECK(std::isnan(other.residual));
  CHECK(std::isnan(other.share));
  CHECK(other.fault.empty());
}
