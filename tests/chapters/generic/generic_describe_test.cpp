#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"
#include "widgets/number/number.h"
#include "widgets/number/number_units.h"

// What a person reads about a field comes from `describe` alone: control panel, hover, command line, error sentences.

using namespace support;

namespace {

/// "total_bytes", "p50_s", "in4bit": what scenarios, prose and the command line can say.
bool is_snake_case(std::string_view key) {
  if (key.empty() || key.front() < 'a' || key.front() > 'z' || key.back() == '_') return false;
  return std::all_of(key.begin(), key.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }) &&
         key.find("__") == std::string_view::npos;
}

/// Shown with a prefix, as a percentage, as intensity, or as a pure number: anything else would be printed and never
/// converted.
/// Units that are written as they are: people speak of energy and of carbon in these, and of no other multiples.
bool is_unit_of_bills(std::string_view unit) { return unit == "kWh" || unit == "kg" || unit == "t" || unit == "g/kWh"; }

bool is_known_unit(std::string_view unit) {
  return is_unit_of_bills(unit) || unit.empty() || unit == "%" || unit == widgets::times_unit || unit == "FLOP/B" ||
         unit == "min" || unit == "%/min" || widgets::unit_family(unit) != widgets::UnitFamily::plain;
}

void check_fields(const Fields& fields, const std::string& owner) {
  std::set<std::string_view> keys;
  for (const Field& f : fields) {
    INFO(owner << "." << f.key);
    CHECK(is_snake_case(f.key));
    CHECK(keys.insert(f.key).second);
    CHECK_FALSE(f.spec.label.empty());
    CHECK(is_known_unit(f.spec.unit));
    CHECK((f.spec.help.empty() || f.spec.help.back() == '.'));
    const bool ranged = f.is_number() || f.kind == Kind::reals;
    if (ranged) CHECK(f.spec.range.lo < f.spec.range.hi);
    // Where 0 leaves the number to the program, the slider begins at the first typical one.
    if (ranged && f.spec.range.scale == chapters::Scale::log)
      CHECK((f.spec.range.lo > 0 || (f.spec.range.lo == 0 && f.spec.drag().lo > 0)));
    if (ranged && f.spec.range.scale == chapters::Scale::step) CHECK(f.spec.range.step > 0);
    if (f.options) {
      std::set<std::string_view> ids;
      CHECK(f.options->size() >= 2);
      for (const auto& o : *f.options) {
        INFO(o.id);
        CHECK_FALSE(o.id.empty());
        CHECK_FALSE(o.label.empty());
        CHECK(o.id.find_first_of(",=&? []\"") ==
              std::string::npos);  // lists on the command line and links part at these
        CHECK(ids.insert(o.id).second);
      }
    }
    if (f.kind == Kind::table) {
      Fields cells;
      f.table_columns(cells);
      CHECK(cells.size() > 0);
      check_fields(cells, owner + "." + std::string(f.key));
    }
  }
}

}  // namespace

TEST_CASE("every lab: ids, keys, labels, units, ranges and options are fit to be shown, typed and linked to") {
  use_bundled_catalog();
  std::set<std::string_view> ids;
  for (const auto& entry : labs_under_test()) {
    const auto lab = entry.make();
    INFO(entry.id);
    CHECK(ids.insert(entry.id).second);
    const auto slash = entry.id.find('/');
    REQUIRE(slash != std::string_view::npos);
    CHECK(std::all_of(entry.id.begin(), entry.id.end(),
                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '/'; }));
    CHECK_FALSE(lab->info().title.empty());
    CHECK(lab->info().question.find('?') != std::string_view::npos);
    CHECK(lab->inputs().size() > 0);
    CHECK(lab->outputs().size() > 0);
    check_fields(lab->inputs(), std::string(entry.id));
    check_fields(lab->outputs(), std::string(entry.id));
    check_fields(lab->view(), std::string(entry.id) + " view");
    // Prose and solve name both by key; where the contract has one name for what goes in and what comes out, they mean
    // the output.
    static const std::set<std::string> both{"precision/bits value", "precision/bits code",
                                            "precision/block-formats values",
                                            "distributed/memory-split optimizer_bytes"};
    for (const Field& f : lab->inputs()) {
      INFO(f.key);
      // A label is what a control is found by, and what rankings name it; inputs that never meet may share one.
      for (const Field& other : lab->inputs()) {
        const bool apart = f.spec.when.key == other.spec.when.key && f.spec.when.value != other.spec.when.value;
        INFO(other.key);
        const bool own_label = f.key == other.key || f.spec.label != other.spec.label || apart;
        if (!own_label)
          FAIL_CHECK("two inputs that can be seen together have the label \"" << f.spec.label
                                                                              << "\": give one another");
      }
      const bool own_key =
          lab->outputs().find(f.key) == nullptr || both.contains(std::string(entry.id) + " " + std::string(f.key));
      if (!own_key) FAIL_CHECK("an output has the key of this input: prose and sweeps could not tell them apart");
    }
  }
}

TEST_CASE(
    "every lab: each input explains itself, and matters only while an input that exists reads a value that it can "
    "have") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) {
    const auto lab = entry.make();
    for (const Field& f : lab->inputs()) {
      INFO(entry.id << "." << f.key);
      CHECK_FALSE(f.spec.help.empty());
      if (f.spec.when.key.empty()) continue;
      const Field* w = lab->inputs().find(f.spec.when.key);
      REQUIRE(w);
      if (w->kind == Kind::choice) {
        for (std::string_view left = f.spec.when.value; !left.empty();) {  // "a|b": each of them an option
          const std::string_view one = left.substr(0, left.find('|'));
          CHECK(w->set_choice_id(one));
          left.remove_prefix(std::min(one.size() + 1, left.size()));
        }
        CHECK_FALSE(f.spec.when.value.empty());
      } else if (w->kind == Kind::toggle)
        CHECK((f.spec.when.value == "true" || f.spec.when.value == "false"));
      else if (w->kind == Kind::text)
        CHECK(f.spec.when.value.empty());  // it counts while nothing is written there
      else
        CHECK(w->kind == Kind::file);
    }
  }
}

TEST_CASE("every lab: each number that comes out says how it is computed, where it comes from, or what it means") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) {
    const auto lab = entry.make();
    if (lab->info().hidden) continue;
    for (const Field& f : lab->outputs()) {
      INFO(entry.id << "." << f.key);
      if (f.is_number()) CHECK_FALSE((f.spec.formula.empty() && f.spec.source.empty() && f.spec.help.empty()));
    }
  }
}

TEST_CASE("every lab: what a card is to be seen against is a figure of the lab in the same unit") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) {
    const auto lab = entry.make();
    for (const Field& f : lab->outputs()) {
      if (f.spec.against.key.empty()) continue;
      INFO(entry.id << "." << f.key);
      CHECK(f.spec.headline);
      CHECK_FALSE(f.spec.against.words.empty());
      const Field* other = lab->outputs().find(f.spec.against.key);
      if (!other) other = lab->inputs().find(f.spec.against.key);
      REQUIRE(other);
      CHECK(other->spec.unit == f.spec.unit);
      CHECK(other != &f);
    }
  }
}
