#include <catch2/catch_test_macros.hpp>
#include <map>

#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/shell_driver.h"
#include "tests/support/lab/theme_colours.h"
#include "widgets/base/parts.h"

// One colour, one meaning, in every lab: what a picture is drawn with comes from the theme, says the same in the light
// theme as in the dark one, and no swatch of a picture stands for two things. That no two colours of a theme are alike
// is a test of the theme.

using namespace support;

namespace {

widgets::Record record_of(ShellDriver& d) {
  widgets::Record record;
  d.shell.record = &record;
  d.ui.frames(1);
  d.shell.record = nullptr;
  return record;
}

/// Do two labels speak of one thing in other words: do they share a word, or how one begins ("attention kernels" and
/// "attention matrices")?
bool same_thing(std::string_view a, std::string_view b) {
  constexpr std::size_t telling = 4;
  for (std::size_t i = 0; i + telling <= a.size(); ++i)
    if ((i == 0 || a[i - 1] == ' ') && a.substr(i, telling).find(' ') == std::string_view::npos)
      for (std::size_t k = 0; k + telling <= b.size(); ++k)
        if ((k == 0 || b[k - 1] == ' ') && widgets::same_letters(a.substr(i, telling), b.substr(k, telling)))
          return true;
  return false;
}

/// What has one colour in every lab, by how its words in a legend begin.
constexpr std::string_view hues_of_parts[][2] = {{"attention", "series 3"},      {"feed-forward", "series 2"},
                                                 {"norm", "series 1"},           {"forward", "meaning 0"},
                                                 {"backward", "meaning 1"},      {"optimizer", "meaning 3"},
                                                 {"communication", "meaning 4"}, {"all-reduce", "meaning 4"}};

/// "norms and adds" begins with the word "norm", "normal" does not.
bool begins_with_word(std::string_view words, std::string_view word) {
  if (!words.starts_with(word)) return false;
  words.remove_prefix(word.size());
  if (words.starts_with('s')) words.remove_prefix(1);
  return words.empty() || words.front() < 'a' || words.front() > 'z';
}

struct Seen {
  std::set<std::string> names;             ///< names of the colours that say what a mark is
  std::map<ImU32, std::string> strangers;  ///< colours that are not the theme's
  std::vector<std::string> doubled;  ///< swatches that stand for two things, or things with another colour elsewhere
};

Seen look_at_colours(ShellDriver& d) {
  Seen seen;
  const widgets::Record record = record_of(d);
  const ThemeColours theme(widgets::theme());
  for (const ImU32 colour : colours_of(record)) {
    if (const std::string name = theme.name_of(colour); !name.empty()) seen.names.insert(name);
    if (!theme.has(colour)) seen.strangers.emplace(colour, std::to_string(colour));
  }
  std::map<ImU32, std::string> said;
  for (const LegendWords& entry : legends_of(record)) {
    if (theme.name_of(entry.colour).empty()) continue;  // a neutral swatch says what its pattern says
    for (const auto& [part, name] : hues_of_parts)
      if (begins_with_word(entry.words, part) && theme.name_of(entry.colour) != name)
        seen.doubled.push_back("\"" + entry.words + "\" is " + theme.name_of(entry.colour) + ", elsewhere " +
                               std::string(name));
    const auto [at, added] = said.emplace(entry.colour, entry.words);
    if (!added && at->second != entry.words && !same_thing(at->second, entry.words))
      seen.doubled.push_back(theme.name_of(entry.colour) + " is \"" + at->second + "\" and \"" + entry.words + "\"");
  }
  return seen;
}

/// What each preset and the default are drawn with, in this theme.
Seen look_in_theme(ShellDriver& d, bool light) {
  d.workspace.settings.light = light;
  d.ui.frames(3);
  return look_at_colours(d);
}

}  // namespace

TEST_CASE("every lab: every colour is the theme's, says the same in both themes, and stands for one thing in legends") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content(), nowhere(), {1920, 1080}, true);
      REQUIRE(d.workspace.open(entry.id));
      d.shell.drawer_open = false;
      const auto& presets = d.workspace.content.of(entry.id).presets;
      for (std::size_t i = 0; i <= presets.size(); ++i) {
        if (sanitized() && i > 0) break;  // colours are looked at without; here addresses are
        if (i > 0) REQUIRE(d.workspace.apply_preset(presets[i - 1]));
        compute_once(d.workspace);
        d.settle();
        INFO((i == 0 ? std::string("default") : "preset \"" + presets[i - 1].name + "\""));
        const Seen dark = look_in_theme(d, false), light = look_in_theme(d, true);
        CHECK(dark.names == light.names);
        for (const Seen* seen : {&dark, &light}) {
          for (const auto& [colour, words] : seen->strangers)
            FAIL_CHECK("the theme has no colour " << std::hex << colour);
          for (const std::string& fault : seen->doubled) FAIL_CHECK(fault);
        }
      }
    }
}
