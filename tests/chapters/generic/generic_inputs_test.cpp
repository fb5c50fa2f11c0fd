#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/explore/random_inputs.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"

// What design.md section 1 promises of every lab without its author asking: nothing here knows any one lab.

using namespace support;

namespace {

/// A thousand cases of a light lab, as many as the time allows of a heavy one.
Budget random_budget() { return {50, 1000, 0.28}; }
/// Fewer of them are computed three times.
Budget repeated_budget() { return {20, 200, 0.14}; }
/// More cases of what computes nothing.
Budget written_budget() { return {50, 1000, 0.07}; }

/// Runs `body` on a fresh copy of every lab, hidden ones too.
template <class Body>
void each_lab(Body&& body) {
  use_bundled_catalog();
  REQUIRE_FALSE(labs_under_test().empty());
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      const auto lab = entry.make();
      REQUIRE(lab->info().id == entry.id);
      body(*lab);
    }
}

/// The first field whose value differs; empty where all are the same.
std::string first_difference(const Fields& a, const Fields& b) {
  std::string out;
  for (const Field& f : a)
    if (out.empty() && app::field_to_json(f) != app::field_to_json(*b.find(f.key)))
      out = std::string(f.key) + ": " + app::field_to_json(f).dump().substr(0, 60) + " and " +
            app::field_to_json(*b.find(f.key)).dump().substr(0, 60);
  return out;
}

/// A whole sentence, or words of it that stand where the number would.
bool is_reason(std::string_view words) { return words.size() >= 8; }

std::string problem_of_result(const chapters::Lab& lab) {
  if (!lab.reason().empty())
    return is_sentence(lab.reason()) ? "" : "the reason is not one sentence: \"" + lab.reason() + "\"";
  const std::string bad = first_bad_value(lab.outputs());
  if (!bad.empty()) return bad + " is not finite, or no option";
  // A figure that is not there says why: an empty place is read as a fault, or as zero.
  for (const Field& f : lab.outputs())
    if (f.kind == Kind::real && std::isnan(f.real()) && !is_reason(f.spec.absent))
      return std::string(f.key) + " is absent without a reason";
  return {};
}

/// Computes `lab` with what a picture needs, one that shares no memory with any other, and `used`, which has computed
/// something else: what is kept between computations must not show.
void compute_thrice(chapters::Lab& lab, chapters::Lab& used, std::uint64_t seed) {
  const std::string before = fingerprint(lab.inputs());
  const auto alone = entry_of(lab.info().id).make();
  for (const Field& f : lab.inputs())
    REQUIRE(app::field_from_json(*alone->inputs().find(f.key), app::field_to_json(f)));
  lab.compute();
  alone->compute_facts();
  app::randomize(used, seed);
  used.compute_facts();
  if (fingerprint(lab.inputs()) != before) FAIL_CHECK("seed " << seed << " changed its inputs");
  if (result_of(lab) != result_of(*alone))
    FAIL_CHECK("seed " << seed << " differs where nothing is remembered, or where facts alone are asked for: "
                       << first_difference(lab.outputs(), alone->outputs()) << "\n  " << app::command_line_of(lab));
  if (result_of(*alone) != result_of(used)) FAIL_CHECK("seed " << seed << " depends on what was computed before");
}

}  // namespace

TEST_CASE("every lab: the default inputs are feasible, within their ranges, and give finite outputs") {
  each_lab([](chapters::Lab& lab) {
    lab.compute();
    CHECK(lab.reason() == "");
    CHECK(first_bad_value(lab.outputs()) == "");
    const auto again = chapters::make_lab_by_id(lab.info().id);
    CHECK(app::apply_inputs(*again, app::fields_to_json(lab.inputs())).error ==
          "");  // which refuses whatever is out of range
  });
}

TEST_CASE("every lab: inputs written as JSON text and read into a fresh lab are the same inputs, whatever they are") {
  each_lab([](chapters::Lab& lab) {
    std::uint64_t seed = 0;
    for (const auto budget = written_budget(); budget.allows(seed); ++seed) {
      app::randomize(lab, seed);
      const auto back = chapters::make_lab_by_id(lab.info().id);
      const std::string text = app::fields_to_json(lab.inputs()).dump();
      const std::string error = app::apply_inputs(*back, app::Json::parse(text)).error;
      if (!error.empty() || !lab.same_inputs(*back)) FAIL_CHECK("seed " << seed << ": " << error << " " << text);
    }
  });
}

TEST_CASE("every lab: the link and the command of a scenario bring the same inputs back") {
  each_lab([](chapters::Lab& lab) {
    std::uint64_t seed = 0;
    for (const auto budget = written_budget(); budget.allows(seed); ++seed) {
      app::randomize(lab, seed);
      const auto link = app::parse_link(app::link_of(lab));
      REQUIRE(link.lab == lab.info().id);
      const auto back = chapters::make_lab_by_id(link.lab);
      for (const auto& [key, value] : link.sets) {
        INFO(key << " = " << value);
        CHECK(app::set_field_from_text(*back->inputs().find(key), value).error == "");
      }
      for (const Field& f : lab.inputs())  // a link speaks of the scenario; what is the person's own stays where it is
        if (app::is_personal(f)) REQUIRE(app::field_from_json(*back->inputs().find(f.key), app::field_to_json(f)));
      INFO(app::command_line_of(lab));
      CHECK(lab.same_inputs(*back));
    }
  });
}

TEST_CASE(
    "every lab: random inputs give finite outputs or a reason in one sentence, and the same ones whatever was computed "
    "before, with and without what a picture needs; computing leaves them alone") {
  each_lab([](chapters::Lab& lab) {
    const auto used = lab.clone();  // has computed something else each time
    std::uint64_t feasible = 0, seed = 0;
    const auto budget = random_budget(), repeated = repeated_budget();
    for (; budget.allows(seed); ++seed) {
      app::randomize(lab, seed);
      if (repeated.allows(seed))
        compute_thrice(lab, *used, seed);
      else
        lab.compute_facts();
      feasible += lab.reason().empty();
      if (const auto problem = problem_of_result(lab); !problem.empty())
        FAIL_CHECK("seed " << seed << ": " << problem << "\n  " << app::command_line_of(lab));
    }
    INFO(feasible << " of " << seed << " are feasible");
    CHECK(feasible >= seed / 20);  // ranges so wide that nearly nothing works teach nobody
  });
}

TEST_CASE("every lab: reset brings the defaults back, and a clone is independent") {
  each_lab([](chapters::Lab& lab) {
    const auto fresh = chapters::make_lab_by_id(lab.info().id);
    app::randomize(lab, 7);
    CHECK_FALSE(lab.same_inputs(*fresh));
    const auto clone = lab.clone();
    CHECK(clone->same_inputs(lab));
    lab.reset();
    CHECK(lab.same_inputs(*fresh));
    CHECK_FALSE(clone->same_inputs(lab));
  });
}
