#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "app/content/content.h"
#include "app/content/questions.h"
#include "app/explore/explore.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "app/shell/shell.h"
#include "tests/support/base/effort.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"
#include "widgets/prose/prose.h"

// What is said about labs is data: nothing of it may be broken, stale or missing.

using namespace support;

namespace {

/// How many of a lab's states of one kind are computed: all of them, and under sanitizers the first and as many more as
/// the time allows, since they run the same code with other numbers.
class States {
 public:
  bool more() { return budget_.allows(done_++); }

 private:
  static constexpr std::uint64_t all = 1'000'000;
  Budget budget_{sanitized() ? 10 : all, all, 0.5};
  std::uint64_t done_ = 0;
};

template <class Body>
void each_shown_lab(Body&& body) {
  const app::Content& content = bundled_content();
  for (const auto& entry : labs_under_test()) {
    const auto lab = chapters::make_lab_by_id(entry.id);
    if (lab->info().hidden) continue;
    INFO(entry.id);
    body(*lab, content);
  }
}

app::Json parsed(const std::string& text) { return app::Json::parse(text); }

const widgets::ProseSource source_of(chapters::Lab& lab) {
  return {&lab,
          [](const void* context, std::string_view key, widgets::NumberText& scratch) {
            return app::live_value(*static_cast<const chapters::Lab*>(context), key, scratch);
          },
          nullptr};
}

/// Words with two capitals or more. A unit, which stands behind its number, is none, and neither is what stands between
/// backticks.
std::set<std::string> abbreviations(std::string_view text) {
  std::set<std::string> out;
  std::string word;
  bool figure = false, number_before = false;
  const auto end_word = [&] {
    if (word.empty()) return;
    const auto capitals = std::count_if(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (capitals >= 2 && !number_before) out.insert(word);
    number_before = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    word.clear();
  };
  for (const char c : text) {
    if (c == '`') {
      end_word();
      figure = !figure;
      number_before = true;
    }
    const bool inside = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '/';
    if (inside && !figure)
      word += c;
    else
      end_word();
  }
  end_word();
  return out;
}

/// The words of prose alone: of links their labels, a 1 where a live value stands, and nothing of code and formulas.
std::string words_of_prose(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto skip_to = [&](std::string_view end) {
      const std::size_t at = text.find(end, i + 1);
      i = at == std::string_view::npos ? text.size() : at + end.size() - 1;
    };
    if (text.substr(i, 3) == "```") {
      i += 2;
      skip_to("```");
    } else if (text[i] == '`' || text[i] == '$') {
      skip_to(text.substr(i, 1));
    } else if (text[i] == '{') {
      skip_to("}");
      out += '1';
    } else if (text.substr(i, 2) == "](") {
      skip_to(")");
    } else {
      out += text[i];
      continue;
    }
    out += ' ';
  }
  return out;
}

/// Opens a link of prose as the drawer would; "" when it opens or is an address on the web.
std::string problem_of_link(const std::string& target, States& states) {
  if (target.starts_with("https://") || target.starts_with("http://")) return "";
  const auto link = app::parse_link(target);
  if (link.lab.empty()) return "is no link to a lab";
  const auto lab = chapters::make_lab_by_id(link.lab);
  for (const auto& [key, value] : link.sets) {
    const Field* f = lab->inputs().find(key);
    if (!f) return app::unknown_key(link.lab, "input", key, lab->inputs());
    if (auto set = app::set_field_from_text(*f, value); !set) return set.error;
  }
  if (!states.more()) return "";
  lab->compute_facts();
  return lab->reason();
}

}  // namespace

TEST_CASE("every lab: three objectives, each a sentence that begins with a verb, to be checked on fields of the lab") {
  const std::set<std::string> verbs{"Answer", "Choose",    "Compare", "Compute", "Convert", "Count",
                                    "Decide", "Estimate",  "Explain", "Find",    "Judge",   "Measure",
                                    "Name",   "Order",     "Plan",    "Predict", "Read",    "Recall",
                                    "Say",    "Recognize", "Show",    "Split",   "Tell",    "Weigh"};
  std::set<std::string> all;
  each_shown_lab([&](chapters::Lab& lab, const app::Content& content) {
    const auto& objectives = content.of(lab.info().id).objectives;
    CHECK(objectives.size() == 3);
    for (const auto& objective : objectives) {
      INFO(objective.can);
      CHECK(is_sentence(objective.can));
      CHECK(verbs.contains(objective.can.substr(0, objective.can.find(' '))));
      CHECK((objective.can.size() >= 30 && objective.can.size() <= 125));
      CHECK(all.insert(objective.can).second);
      CHECK((objective.check.size() >= 1 && objective.check.size() <= 4));
      for (const auto& key : objective.check) {
        INFO(key);
        CHECK((lab.outputs().find(key) || lab.inputs().find(key)));
      }
    }
  });
}

TEST_CASE("every lab: what should come first are labs before it, and terms of the glossary") {
  const app::Content& content = bundled_content();
  const auto is_term = [&](std::string_view name) {
    return std::any_of(content.glossary.begin(), content.glossary.end(), [&](const auto& t) { return t.term == name; });
  };
  // A lab that stands after all that it needs can be in no circle.
  const auto place_of = [](std::string_view id) {
    const auto labs = chapters::all_labs();
    return std::find_if(labs.begin(), labs.end(), [&](const auto& entry) { return entry.id == id; }) - labs.begin();
  };
  each_shown_lab([&](chapters::Lab& lab, const app::Content&) {
    const auto& needs = content.of(lab.info().id).needs;
    CHECK((needs.size() >= 1 && needs.size() <= 4));
    std::set<std::string> once;
    for (const auto& need : needs) {
      INFO(need);
      CHECK(once.insert(need).second);
      if (need.starts_with(app::term_prefix))
        CHECK(is_term(std::string_view(need).substr(app::term_prefix.size())));
      else
        CHECK(place_of(need) < place_of(lab.info().id));
    }
  });
}

TEST_CASE("the words of prose are read without its code, formulas and targets") {
  CHECK(words_of_prose("An [SM](lab:x/y?chip=h100_sxm) of {n} GB: `nvidia-smi -L` and $FLOP$.") ==
        "An [SM  of 1  GB:   and  .");
  CHECK(words_of_prose("```python\nDDP(model)\n```") == " ");
}

TEST_CASE("every abbreviation in a lab's question, objectives, first answer and Concept is in the glossary") {
  const app::Content& content = bundled_content();
  std::set<std::string> known;
  for (const auto& term : content.glossary) {
    known.insert(term.term);
    known.insert(term.also.begin(), term.also.end());
  }
  each_shown_lab([&](chapters::Lab& lab, const app::Content&) {
    compute_once(lab);
    std::string text = std::string(lab.info().question) + " " + std::string(lab.answer()) + " ";
    for (const auto& objective : content.of(lab.info().id).objectives) text += objective.can + " ";
    text += words_of_prose(content.of(lab.info().id).prose[0]);
    for (const auto& word : abbreviations(text)) {
      INFO(word);
      const std::string one = word.ends_with('s') ? word.substr(0, word.size() - 1) : word;
      CHECK((known.contains(word) || known.contains(one) || known.contains(word + " cache")));
    }
  });
}

TEST_CASE("every lab: at least three presets, each with a name of its own, that apply and are feasible") {
  each_shown_lab([](chapters::Lab& lab, const app::Content& content) {
    const auto& presets = content.of(lab.info().id).presets;
    CHECK(presets.size() >= 3);
    std::set<std::string> names;
    States states;
    for (const auto& preset : presets) {
      INFO(preset.name);
      CHECK(names.insert(preset.name).second);
      CHECK_FALSE(preset.note.empty());
      const auto fresh = chapters::make_lab_by_id(lab.info().id);
      CHECK(app::apply_inputs(*fresh, parsed(preset.set)).error == "");
      if (!states.more()) continue;
      compute_once(*fresh);
      CHECK(fresh->reason() == "");
      CHECK(first_bad_value(fresh->outputs()) == "");
    }
  });
}

TEST_CASE("every lab: two questions with a number or a choice and a curve to draw, each fair and computed by the lab") {
  // The drills are questions themselves, and nothing of them is a curve over an input.
  const std::set<std::string_view> without_curve{"interview/drills"};
  std::set<std::string> ids;
  each_shown_lab([&](chapters::Lab& lab, const app::Content& content) {
    const auto& questions = content.of(lab.info().id).predictions;
    std::size_t curves = 0;
    States states;
    for (const auto& question : questions) {
      INFO(question.id);
      CHECK(ids.insert(question.id).second);  // progress remembers them by id
      if (states.more()) CHECK(app::check_question(question, lab.info().id).error == "");
      CHECK(question.question.find('?') != std::string::npos);
      CHECK((question.tolerance > 0 && question.tolerance <= 1));
      curves += question.curve.has_value();
      const auto whole = [](const std::string& s) { return s.size() > 2 && (s.back() == '.' || s.back() == '?'); };
      CHECK(whole(question.explain));
      if (question.curve) {
        CHECK(whole(question.curve->too_high));
        CHECK(whole(question.curve->too_low));
        CHECK(whole(question.curve->wrong_bend));
      }
      const auto asked = app::asked_lab(question, lab.info().id);
      REQUIRE(asked);
      for (std::size_t at = 0; (at = question.explain.find('{', at)) != std::string::npos; ++at) {
        const std::string key = question.explain.substr(at + 1, question.explain.find('}', at) - at - 1);
        INFO(key);
        CHECK((asked->outputs().find(key) || asked->inputs().find(key)));
      }
    }
    CHECK(questions.size() - curves >= 2);
    CHECK((curves >= 1 || without_curve.contains(lab.info().id)));
  });
}

TEST_CASE("every lab: prose for all five angles, with live values it knows, formulas that read, and links that open") {
  each_shown_lab([](chapters::Lab& lab, const app::Content& content) {
    compute_once(lab);
    std::size_t live = 0;
    States states;
    for (std::size_t i = 0; i < app::angles.size(); ++i) {
      const std::string& text = content.of(lab.info().id).prose[i];
      INFO(app::angles[i]);
      CHECK(text.size() >= 200);
      for (const auto& problem : widgets::prose_problems(text)) FAIL_CHECK(problem);
      for (const auto& key : widgets::unknown_keys(text, source_of(lab)))
        FAIL_CHECK("unknown live value {" << key << "}");
      const auto doc = widgets::parse_prose(text);
      live += doc.uses.size();
      for (const auto& link : doc.links) {
        INFO(link.label << " -> " << link.target);
        CHECK(problem_of_link(link.target, states) == "");
      }
    }
    CHECK(live >= 1);
    const bool code_shows_code = content.of(lab.info().id).prose[2].find("```") != std::string::npos;
    INFO("# Code has no block between ``` lines");
    CHECK(code_shows_code);
  });
}

TEST_CASE("every lab: at least three claims, each of which recomputes to its recorded verdict") {
  each_shown_lab([](chapters::Lab& lab, const app::Content& content) {
    const auto claims = content.claims_of(lab.info().id);
    CHECK(claims.size() >= 3);
    States states;
    for (const app::Claim* claim : claims) {
      if (!states.more()) break;
      const auto checked = app::check_claim(*claim);
      INFO(claim->id);
      CHECK(checked.error == "");
      if (!checked) continue;
      INFO("claimed " << claim->claimed << ", computed " << checked->computed);
      CHECK(checked->agrees);
    }
  });
}

TEST_CASE("every chapter ships a lesson; every step of its lessons applies and is feasible") {
  const app::Content& content = bundled_content();
  std::set<std::string> taught;
  std::map<std::string, States> states;  // of each lab
  for (const auto& lesson : content.lessons) {
    INFO(lesson.title);
    for (const auto& step : lesson.steps) {
      if (!is_under_test(step.lab)) continue;
      INFO(step.title);
      const auto lab = chapters::make_lab_by_id(step.lab);
      REQUIRE(lab);
      CHECK(app::apply_inputs(*lab, parsed(step.inputs)).error == "");
      CHECK(app::apply_view(*lab, parsed(step.view)).error == "");
      if (states[step.lab].more()) {
        lab->compute_facts();
        CHECK(lab->reason() == "");
      }
      CHECK_FALSE(step.say.empty());
      taught.insert(chapter_of(step.lab));
    }
  }
  for (const std::string& chapter : whole_chapters_under_test()) {
    INFO(chapter);
    CHECK(taught.contains(chapter));
  }
}
