#include "app/explore/fixes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using chapters::Scale;

/// Tries values of one input on a clone. A lab whose compute is a job may take seconds, so it gets fewer tries.
class FeasibilityTrial {
 public:
  FeasibilityTrial(const chapters::Lab& lab, chapters::Progress& progress)
      : lab_(lab.clone()), progress_(progress), left_(lab.info().job ? 60 : 1500) {}

  chapters::Lab& lab() { return *lab_; }
  bool spent() const { return left_ <= 0 || progress_.cancelled; }
  bool feasible(const Field& f, double value) {
    if (spent()) return false;
    --left_;
    f.set_number(value);
    lab_->compute_facts(progress_);
    return lab_->reason().empty();
  }

 private:
  chapters::LabPtr lab_;
  chapters::Progress& progress_;
  int left_;
};

double to_three_digits(double v, bool up) {
  if (v == 0 || !std::isfinite(v)) return v;
  const double grain = std::pow(10.0, std::floor(std::log10(std::abs(v))) - 2);
  return (up ? std::ceil(v / grain) : std::floor(v / grain)) * grain;
}

/// The number `k` steps from `from` upwards (k > 0) or downwards.
double stepped(const Field& f, double from, int k) {
  const auto& s = f.spec.range;
  double v = 0;
  if (s.is_log(s.lo))
    v = std::max(from, s.lo) * std::pow(2.0, k);
  else if (s.scale == Scale::step)
    v = from + k * s.step;
  else
    v = from + k * (s.hi - s.lo) / 32;
  v = std::clamp(v, s.lo, s.hi);
  return f.kind == Kind::integer ? std::round(v) : v;
}

/// Between a value that is infeasible and one that is not: the one nearest to the first, in round figures.
double nearest_feasible(FeasibilityTrial& trial, const Field& f, double bad, double good) {
  for (int i = 0; i < 12 && !trial.spent(); ++i) {
    double mid = f.spec.range.scale == Scale::log && bad > 0 ? std::sqrt(bad * good) : (bad + good) / 2;
    if (f.kind == Kind::integer) mid = std::round(mid);
    if (mid == bad || mid == good) break;
    (trial.feasible(f, mid) ? good : bad) = mid;
  }
  const double round = f.kind == Kind::integer ? good : to_three_digits(good, good > bad);
  return round != good && round >= f.spec.range.lo && round <= f.spec.range.hi && trial.feasible(f, round) ? round
                                                                                                           : good;
}

std::optional<Fix> fix_number(FeasibilityTrial& trial, const Field& f) {
  const double from = f.number();
  double bad_up = from, bad_down = from;
  for (int k = 1; k <= 40 && !trial.spent(); ++k) {
    const double up = stepped(f, from, k), down = stepped(f, from, -k);
    if (up != bad_up && trial.feasible(f, up)) return Fix{{}, nearest_feasible(trial, f, bad_up, up), {}, k};
    if (down != bad_down && trial.feasible(f, down)) return Fix{{}, nearest_feasible(trial, f, bad_down, down), {}, k};
    if (up == bad_up && down == bad_down) break;
    bad_up = up;
    bad_down = down;
  }
  return std::nullopt;
}

std::optional<Fix> fix_choice(FeasibilityTrial& trial, const Field& f) {
  const int from = static_cast<int>(f.number()), n = static_cast<int>(f.options->size());
  for (int k = 1; k < n && !trial.spent(); ++k)
    for (const int i : {from + k, from - k}) {
      if (i < 0 || i >= n) continue;
      if (!chapters::holds((*f.options)[static_cast<std::size_t>(i)].when, trial.lab().inputs())) continue;
      // Options are not ordered by how near they are: a change of one counts as two steps of a number.
      if (trial.feasible(f, i)) return Fix{{}, static_cast<double>(i), {}, 2};
    }
  return std::nullopt;
}

std::string words_of(const Field& f, double value) {
  std::string out(f.spec.label);
  out += ": ";
  if (f.kind == Kind::choice) return out + (*f.options)[static_cast<std::size_t>(value)].label;
  if (f.kind == Kind::toggle) return out + (value != 0 ? "on" : "off");
  return out + widgets::format_text(value, f.spec.unit, 4);
}

}  // namespace

std::vector<Fix> find_fixes(const chapters::Lab& lab, chapters::Progress& progress, std::size_t most) {
  std::vector<Fix> out;
  if (lab.reason().empty()) return out;
  FeasibilityTrial trial(lab, progress);
  for (const Field& f : trial.lab().inputs()) {
    if (trial.spent()) break;
    if (f.spec.origin != chapters::Origin::set || !chapters::holds(f.spec.when, lab.inputs())) continue;
    if (!f.is_scalar()) continue;
    std::optional<Fix> found;
    const double before = f.number();
    if (!std::isfinite(before)) continue;
    if (f.kind == Kind::toggle) {
      if (trial.feasible(f, before != 0 ? 0 : 1)) found = Fix{{}, before != 0 ? 0.0 : 1.0, {}, 1};
    } else {
      found = f.kind == Kind::choice ? fix_choice(trial, f) : fix_number(trial, f);
    }
    f.set_number(before);
    if (!found) continue;
    found->key = f.key;
    found->words = words_of(f, found->value);
    out.push_back(std::move(*found));
  }
  std::stable_sort(out.begin(), out.end(), [](const Fix& a, const Fix& b) { return a.steps < b.steps; });
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace app
