#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/explore/random_inputs.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "tests/support/base/chance.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"

// What a scenario, a link or a hand may give a lab, far beyond what `describe` allows: it is refused with a sentence
// and changes nothing, or it is taken, and then the lab computes finite outputs, outputs that say why they are absent,
// or a reason in one sentence.

using namespace support;

namespace {

/// One line that ends as a sentence does and that a terminal can print.
bool is_refusal(const std::string& s) {
  return s.size() >= 8 && s.size() <= 600 && s.back() == '.' &&
         std::none_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

/// A number at, just beyond or far beyond the ends of a field's range.
double beyond(const Field& f, Chance& chance) {
  const double lo = f.spec.range.lo, hi = f.spec.range.hi;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double numbers[] = {lo,
                            hi,
                            std::nextafter(hi, inf),
                            std::nextafter(lo, -inf),
                            hi + 1,
                            lo - 1,
                            1e6 * hi + 1,
                            -hi - 1,
                            0,
                            -0.0,
                            1e308,
                            -1e308,
                            5e-324,
                            0.5,
                            lo + 1e-9,
                            9007199254740993.0,
                            1.5 * hi,
                            (lo + hi) / 2};
  return chance.of(numbers);
}

std::string text_of_hostile(Chance& chance) {
  static const std::string texts[] = {"",
                                      " ",
                                      "nan",
                                      "-inf",
                                      "1e999",
                                      "no such option",
                                      std::string(5000, 'x'),
                                      std::string("\xff\xfe\x00\x80", 4),
                                      "{\"a\": [1, {\"b\": null}]}",
                                      std::string(400, '['),
                                      "1,2,3,nan,-1",
                                      "64 64 8 4\n-1\n1e30\n",
                                      "F0 B0 F1 B1; F9999999999",
                                      "alloc 10 GB\nfree nothing\n",
                                      "#       size         count      type\n 1 1 float sum -1 nan 0 0 0\n",
                                      "GPU0\tX\tNV18\nGPU1\tNV18\tX\n",
                                      "18446744073709551616",
                                      "-1 B",
                                      "\xE2\x88\x9E",
                                      "<script>&amp;</script>"};
  return chance.of(texts);
}

app::Json hostile_value(const Field& f, Chance& chance, int depth = 0) {
  switch (chance.below(depth > 2 ? 5 : 9)) {
    case 0:
      return text_of_hostile(chance);
    case 1:
      return chance.one_in(2);
    case 2:
      return nullptr;
    case 3:
      return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(chance.below(3));
    case 4:
      return beyond(f, chance);
    case 5: {
      app::Json list = app::Json::array();
      for (std::size_t n = chance.below(80); n > 0; --n) list.push_back(hostile_value(f, chance, depth + 1));
      return list;
    }
    case 6: {
      // Rows of a table, as far as its columns are known.
      app::Json rows = app::Json::array();
      chapters::Fields columns;
      if (f.kind == Kind::table) f.table_columns(columns);
      for (std::size_t n = chance.below(6); n > 0; --n) {
        app::Json row = app::Json::object();
        for (const Field& c : columns) row[std::string(c.key)] = hostile_value(c, chance, depth + 1);
        rows.push_back(std::move(row));
      }
      return rows;
    }
    case 7:
      return app::Json{{"path", "/"}, {"text", text_of_hostile(chance)}};
    default:
      return f.options && !f.options->empty() ? app::Json((*f.options)[chance.below(f.options->size())].id)
                                              : app::Json(beyond(f, chance));
  }
}

/// Gives the field a hostile value, as JSON or as a text. Empty where it was taken.
std::string give(const Field& f, Chance& chance, std::string& said) {
  if (f.kind == Kind::text || chance.one_in(3)) {
    said = text_of_hostile(chance);
    return app::set_field_from_text(f, said).error;
  }
  const app::Json value = hostile_value(f, chance);
  said = value.dump(-1, ' ', false, app::Json::error_handler_t::replace).substr(0, 200);
  return app::field_from_json(f, value).error;
}

/// What is wrong with how a value was refused; empty: nothing.
std::string problem_of_refusal(const std::string& refused, const std::string& before, const chapters::Lab& lab) {
  if (!is_refusal(refused)) return "refused with no sentence: " + app::printable(refused);
  return fingerprint(lab.inputs()) == before ? std::string() : "refused, and changed all the same: " + refused;
}

/// What is wrong with what the lab computed; empty: nothing.
std::string problem_of(chapters::Lab& lab) {
  lab.compute();
  if (!lab.reason().empty())
    return is_refusal(lab.reason()) ? "" : "the reason is no sentence: " + app::printable(lab.reason());
  if (const std::string bad = first_bad_value(lab.outputs()); !bad.empty()) return bad + " is not finite";
  return {};
}

}  // namespace

TEST_CASE("every lab: whatever is given beyond its ranges is refused with a sentence, or computed") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      const auto lab = entry.make();
      const std::size_t fields = lab->inputs().size();
      Chance chance(7);
      int said_faults = 0;
      std::uint64_t i = 0;
      // Half of the values go into texts and tables, which have no range to be held to.
      std::vector<std::size_t> free_ones;
      for (std::size_t k = 0; const Field& f : lab->inputs()) {
        if (f.kind == Kind::text || f.kind == Kind::table || f.kind == Kind::reals) free_ones.push_back(k);
        ++k;
      }
      for (const Budget budget{60, 2000, 0.21}; budget.allows(i) && said_faults < 5; ++i) {
        if (i % 16 == 0) app::randomize(*lab, i);
        const bool free = !free_ones.empty() && chance.one_in(2);
        const std::size_t at = free ? free_ones[chance.below(free_ones.size())] : chance.below(fields);
        const Field& f = lab->inputs().all()[at];
        make_relevant(*lab, f);
        const std::string before = fingerprint(lab->inputs());
        std::string said;
        const std::string refused = give(f, chance, said);
        const std::string problem = refused.empty() ? problem_of(*lab) : problem_of_refusal(refused, before, *lab);
        if (problem.empty()) continue;
        ++said_faults;
        FAIL_CHECK(f.key << " = " << app::printable(said).substr(0, 200) << "\n  " << problem << "\n  "
                         << app::command_line_of(*lab).substr(0, 600));
      }
    }
}
