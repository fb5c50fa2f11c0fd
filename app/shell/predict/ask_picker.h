#pragma once
#include <string>
#include <vector>

namespace app {

struct Shell;

/// What a lecturer chooses before asking about the scenario on the screen: the output, and for a curve the input that
/// it is drawn over. The list shows names and no figures.
struct AskPicker {
  bool open = false, just_opened = false;
  bool draws = false;                         ///< a curve is asked for
  std::string output;                         ///< key of the output that was chosen; empty: it is chosen now
  char query[128] = {};                       ///< what was typed to find one
  int selected = 0;                           ///< in `hits`
  std::string matched{};                      ///< the query that `hits` are for
  std::vector<std::string> keys{}, labels{};  ///< what can be chosen, the most telling first
  std::vector<std::size_t> hits{};            ///< in `keys`, those that fit the query
};

/// Opens the list of outputs; `draws`: for a curve. Says why where there is nothing to ask about.
void pick_output(Shell& shell, bool draws);
void draw_ask_picker(Shell& shell);

}  // namespace app
