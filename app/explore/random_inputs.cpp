#include "app/explore/random_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/counter_random.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Fields;
using chapters::Kind;
using chapters::Scale;

/// The standard's distributions differ from library to library, these do not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  double unit() { return models::unit_draw(seed_, drawn_++); }  ///< [0, 1)
  std::size_t below(std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(models::counter_hash(seed_, drawn_++) % n);
  }

 private:
  std::uint64_t seed_, drawn_ = 0;
};

/// `most`: the number that may not be exceeded, beside the range.
double number(const Field& f, Random& random, double most) {
  const double lo = f.spec.range.lo, hi = std::min(f.spec.range.hi, most);
  const std::size_t end = random.below(16);  // the ends are where models break
  const double t = random.unit();
  if (end == 0) return lo;
  if (end == 1) return hi;
  double v = f.spec.range.between(lo, hi, t);
  if (f.spec.range.scale == Scale::step) v = lo + std::round((v - lo) / f.spec.range.step) * f.spec.range.step;
  v = std::clamp(v, lo, hi);
  return f.kind == Kind::integer ? std::clamp(std::round(v), std::ceil(lo), std::floor(hi)) : v;
}

constexpr double no_limit = std::numeric_limits<double>::infinity();

void draw(const Field& f, Random& random, double most = no_limit) {
  constexpr std::size_t most_items = 8;
  const std::size_t items = std::min(f.spec.max_items, most_items);
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      f.set_number(number(f, random, most));
      break;
    case Kind::toggle:
      f.toggle() = random.below(2) == 1;
      break;
    case Kind::choice:
      if (!f.options->empty()) f.set_number(static_cast<double>(random.below(f.options->size())));
      break;
    case Kind::choices: {
      auto& chosen = f.chosen();
      chosen.clear();
      for (std::size_t n = random.below(std::min(items, f.options->size()) + 1); n > 0; --n) {
        const auto& id = (*f.options)[random.below(f.options->size())].id;
        if (std::find(chosen.begin(), chosen.end(), id) == chosen.end()) chosen.push_back(id);
      }
      break;
    }
    case Kind::reals:
      f.reals().resize(random.below(items + 1));
      for (double& v : f.reals()) v = number(f, random, most);
      break;
    case Kind::table: {
      f.table_resize(random.below(items + 1));
      Fields cells;
      for (std::size_t row = 0; row < f.table_size(); ++row) {
        f.table_row(row, cells);
        for (const Field& cell : cells) draw(cell, random);
      }
      break;
    }
    case Kind::text:
    case Kind::file:
      break;
  }
}

}  // namespace

void randomize(chapters::Lab& lab, std::uint64_t seed) {
  Random random(seed);
  const auto any = std::any_of(lab.inputs().begin(), lab.inputs().end(), [](const Field& f) { return f.spec.costly; });
  const chapters::LabPtr opened = any ? lab.clone() : nullptr;
  if (opened) opened->reset();
  for (const Field& f : lab.inputs())
    draw(f, random, f.spec.costly ? opened->inputs().find(f.key)->number() : no_limit);
}

}  // namespace app
