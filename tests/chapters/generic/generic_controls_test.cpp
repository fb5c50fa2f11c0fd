#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/content/content.h"
#include "app/explore/random_inputs.h"
#include "app/scenario/scenario.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"

// "Every control moved to both ends changes something" (design.md section 1).

using namespace support;

namespace {

/// What the states of one lab come to, as hashes: many moves begin at the same one, and some end there. That the same
/// inputs give the same outputs is another test's.
class Results {
 public:
  explicit Results(PictureFrame& frame) : frame_(frame) {}
  /// What only outputs are asked of computes nothing else: that both say the same is another test's.
  std::size_t outputs_of(chapters::Lab& lab) {
    const auto [at, is_new] = outputs_.try_emplace(fingerprint(lab.inputs()));
    if (is_new) {
      lab.compute_facts();
      at->second = std::hash<std::string>()(result_of(lab));
    }
    return at->second;
  }
  std::size_t picture_of(chapters::Lab& lab) {
    const auto [at, is_new] = pictures_.try_emplace(fingerprint(lab.inputs()));
    if (is_new) {
      lab.compute();
      at->second = std::hash<std::string>()(lab.reason().empty() ? frame_.strokes_of(lab) : lab.reason());
    }
    return at->second;
  }

 private:
  PictureFrame& frame_;
  std::unordered_map<std::string, std::size_t> outputs_, pictures_;  // by inputs
};

/// Takes a part of what the lab opens with where more is costly: a control that acts at all acts on short runs too.
void lighten(chapters::Lab& lab) {
  const auto opened = lab.clone();
  opened->reset();
  for (const Field& f : lab.inputs())
    if (f.spec.costly)
      f.set_number(
          std::min(f.number(), std::sqrt(std::max(f.spec.range.lo, 1.0) * opened->inputs().find(f.key)->number())));
}

/// A preset as it is, and the inputs that it sets.
struct WholePreset {
  chapters::LabPtr lab;
  app::Json set;
};
/// The states from which controls are moved.
struct Bases {
  std::vector<chapters::LabPtr> light;  ///< defaults, the presets in their order and some at random, of short runs
  std::vector<WholePreset> whole;       ///< for what acts in long runs alone
};

Bases base_states(const chapters::Lab& lab, const app::Content& content) {
  Bases out;
  out.light.push_back(chapters::make_lab_by_id(lab.info().id));
  for (const auto& preset : content.of(lab.info().id).presets) {
    auto base = chapters::make_lab_by_id(lab.info().id);
    app::Json set = app::Json::parse(preset.set);
    if (!app::apply_inputs(*base, set).error.empty()) continue;
    out.whole.push_back({base->clone(), std::move(set)});
    out.light.push_back(std::move(base));
  }
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    out.light.push_back(chapters::make_lab_by_id(lab.info().id));
    app::randomize(*out.light.back(), seed);
  }
  for (const chapters::LabPtr& base : out.light) lighten(*base);
  return out;
}

/// Options of a choice that are tried.
constexpr std::size_t max_options = 12;
/// More than any lab has.
constexpr std::uint64_t every_move = 1'000'000;

using Change = std::function<void(const Field&)>;
struct Move {
  std::string to;
  Change change;
};

/// Every way in which a person can push one control to an end.
std::vector<Move> moves_of(const Field& f) {
  std::vector<Move> out;
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      for (const double end : {f.spec.range.lo, f.spec.range.hi})
        out.push_back(
            {end == f.spec.range.lo ? "its low end" : "its high end", [end](const Field& g) { g.set_number(end); }});
      break;
    case Kind::toggle:
      out.push_back({"off", [](const Field& g) { g.toggle() = false; }});
      out.push_back({"on", [](const Field& g) { g.toggle() = true; }});
      break;
    case Kind::choice: {
      // Models, chips and networks of the catalog differ in what one lab's tests cannot know: a dozen stand for all.
      const std::size_t every = full() ? 1 : (f.options->size() + max_options - 1) / max_options;
      for (std::size_t i = 0; i < f.options->size(); i += every)
        out.push_back({(*f.options)[i].id, [id = (*f.options)[i].id](const Field& g) { g.set_choice_id(id); }});
      break;
    }
    case Kind::choices:
      for (const auto& o : *f.options)
        out.push_back({o.id + " alone", [id = o.id](const Field& g) { g.chosen() = {id}; }});
      out.push_back({"none", [](const Field& g) { g.chosen().clear(); }});
      break;
    case Kind::text:
      out.push_back({"another text", [](const Field& g) { g.text() += " x"; }});
      break;
    case Kind::reals:
      out.push_back({"nothing", [](const Field& g) { g.reals().clear(); }});
      for (const double end : {f.spec.range.lo, f.spec.range.hi})
        out.push_back({"one number at an end", [end](const Field& g) { g.reals().assign(1, end); }});
      break;
    case Kind::table:
      out.push_back({"no rows", [](const Field& g) { g.table_resize(0); }});
      out.push_back(
          {"one row more", [](const Field& g) { g.table_resize(std::min(g.table_size() + 1, g.spec.max_items)); }});
      break;
    case Kind::file:
      break;  // what a file must hold is for the lab's own tests
  }
  return out;
}

/// Where the move before of the same control showed something; no base: it is the first.
struct Hint {
  const chapters::Lab* base = nullptr;
  bool in_picture = false;
};

/// Does the move change an output from any base, or, where nothing computed speaks of it, the picture?
bool matters(const std::string& key, const Change& change, const Bases& all, Results& results, Hint& hint) {
  const std::span<const chapters::LabPtr> bases = all.light;
  const auto moved_from = [&](const chapters::Lab& base, bool in_picture) {
    const auto before = base.clone();
    make_relevant(*before, *before->inputs().find(key));
    const auto after = before->clone();
    change(*after->inputs().find(key));
    // What stands there already is moved from another side.
    const Field& from = *before->inputs().find(key);
    if (after->same_inputs(*before) && from.kind == Kind::toggle) from.toggle() = !from.toggle();
    if (after->same_inputs(*before) && from.kind == Kind::choice)
      from.set_number(std::fmod(from.number() + 1, static_cast<double>(from.options->size())));
    if (after->same_inputs(*before) && from.is_number())
      from.set_number(from.number() == from.spec.range.lo ? from.spec.range.hi : from.spec.range.lo);
    if (after->same_inputs(*before)) return false;
    return in_picture ? results.picture_of(*before) != results.picture_of(*after)
                      : results.outputs_of(*before) != results.outputs_of(*after);
  };
  const auto moved = [&](const chapters::Lab& base, bool in_picture) {
    const bool differs = moved_from(base, in_picture);
    if (differs) hint = {&base, in_picture};
    return differs;
  };
  // What one move of a control shows, its other moves mostly show in the same state.
  if (moved(hint.base ? *hint.base : *bases[0], hint.in_picture)) return true;
  // Of a few states the outputs first and then the pictures, and only then of all the others: what acts on the picture
  // alone does so in the first state already, and a computation costs more than a picture.
  const std::size_t few = std::min<std::size_t>(3, bases.size());
  const auto any_of = [&](std::span<const chapters::LabPtr> states) {
    for (const bool in_picture : {false, true})
      for (const chapters::LabPtr& base : states)
        if (moved(*base, in_picture)) return true;
    return false;
  };
  if (any_of(bases.first(few))) return true;
  // A preset that sets the control was made to show what it does, and where a short run does not, the whole one may.
  const auto sets_it = [&](const WholePreset& preset) { return preset.set.contains(key); };
  for (std::size_t i = 0; i < all.whole.size(); ++i)
    if (sets_it(all.whole[i]) && (moved(*bases[1 + i], false) || moved(*all.whole[i].lab, false))) return true;
  if (any_of(bases.subspan(few))) return true;
  return std::any_of(all.whole.begin(), all.whole.end(),
                     [&](const WholePreset& preset) { return !sets_it(preset) && moved(*preset.lab, false); });
}

}  // namespace

TEST_CASE("every lab: every control moved to both ends, and every option, changes an output or the picture") {
  use_bundled_catalog();
  const app::Content& content = bundled_content();
  PictureFrame frame;
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      const auto lab = chapters::make_lab_by_id(entry.id);
      const auto bases = base_states(*lab, content);
      Results results(frame);
      // Every move plainly; under sanitizers the first of the same walk, as many as the time allows.
      const Budget budget(sanitized() ? 60 : every_move, every_move, 1.2);
      std::uint64_t done = 0;
      for (const Field& f : lab->inputs()) {
        Hint hint;
        for (const Move& move : moves_of(f)) {
          if (!budget.allows(done++)) break;
          INFO(entry.id << ": " << f.key << " moved to " << move.to << " changes nothing anywhere");
          CHECK(matters(std::string(f.key), move.change, bases, results, hint));
        }
      }
    }
}
