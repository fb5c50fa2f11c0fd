#include <algorithm>
#include <ostream>

#include "app/cli/commands.h"
#include "app/cli/table.h"
#include "app/cli/version.h"
#include "app/scenario/sentences.h"

namespace app::cli {
namespace {

/// "kernels" of "kernels run"; the whole name of a command of one word.
std::string group_of(const Command& c) {
  const std::string name = c.name;
  return name.substr(0, name.find(' '));
}

}  // namespace

const Command* find_command(const std::vector<std::string>& arguments) {
  for (const Command& c : commands()) {
    const std::string name = c.name;
    const auto space = name.find(' ');
    if (arguments.empty() || arguments[0] != group_of(c)) continue;
    if (space == std::string::npos) return &c;
    if (arguments.size() > 1 && arguments[1] == name.substr(space + 1)) return &c;
  }
  return nullptr;
}

void print_overview(std::ostream& out) {
  out << "ridgeline " << version() << ": ML performance engineering to touch\n\n"
      << "  ridgeline [LAB] [FILE] [--set k=v]... [--preset NAME] [--scenario F]\n      opens the window, at a lab or "
         "a link; a file alone opens the lab that reads it\n";
  for (const Command& c : commands()) out << "  ridgeline " << c.usage << "\n      " << c.does << "\n";
  out << "\n`ridgeline help COMMAND` explains a command's options and shows examples; `ridgeline LAB --help` names "
         "the\n"
         "inputs of a lab. Quantities take units and prefixes: 3.35e12, 1.07GB, 310ms. Lists read [1,2,3].\n"
         "Bad input is one sentence and exit status 2; what is not feasible is a sentence and exit status 1.\n";
}

void print_help(const Command& c, std::ostream& out) {
  out << "ridgeline " << c.usage << "\n  " << c.does << "\n";
  if (!c.options.empty()) {
    out << "\n";
    std::vector<std::vector<std::string>> rows;
    for (const Option& o : c.options)
      rows.push_back({std::string(o.name) + (*o.value ? " " : "") + o.value, "  " + std::string(o.does)});
    print_table(out, rows);
  }
  out << "\nFor example\n";
  for (const char* example : c.examples) out << "  " << example << "\n";
}

models::Status print_help_of(const std::vector<std::string>& words, std::ostream& out) {
  if (words.empty()) {
    print_overview(out);
    return models::Status::ok();
  }
  if (const Command* c = find_command(words)) {
    print_help(*c, out);
    return models::Status::ok();
  }
  bool any = false;
  std::vector<std::string> names;
  for (const Command& c : commands()) {
    names.emplace_back(c.name);
    if (words.size() > 1 || group_of(c) != words[0]) continue;
    if (any) out << "\n";
    print_help(c, out);
    any = true;
  }
  if (any) return models::Status::ok();
  std::string asked;
  for (const auto& word : words) asked += (asked.empty() ? "" : " ") + word;
  const std::string guess = did_you_mean(asked, names);
  return models::Status::fail("There is no command \"" + excerpt(asked) + "\": " + (guess.empty() ? "" : guess + " ") +
                              "`ridgeline help` shows every one.");
}

}  // namespace app::cli
