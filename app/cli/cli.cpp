#include "app/cli/cli.h"

#include <algorithm>
#include <ostream>

#include "app/cli/commands.h"
#include "app/cli/version.h"
#include "app/content/load_catalog.h"
#include "app/platform/paths.h"
#include "app/scenario/link.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {
namespace {

/// The inputs of one lab, for `ridgeline LAB --help`.
int lab_help(const Arguments& a, const Streams& s) {
  const auto lab = make_set_lab(a);
  if (!lab) return complain(s, lab.error);
  s.out << (*lab)->info().id << ": " << (*lab)->info().question << "\n";
  for (const auto& f : (*lab)->inputs())
    s.out << "  --set " << f.key << "=...   " << f.spec.label << (f.spec.help.empty() ? "" : ": ") << f.spec.help
          << "\n";
  return 0;
}

int run_command(const Command& command, const std::vector<std::string>& rest, const Streams& s) {
  std::vector<std::string> valued, flags;
  for (const Option& o : command.options) (*o.value ? valued : flags).emplace_back(o.name);
  const auto parsed = parse_arguments(rest, valued, flags);
  if (!parsed) return complain(s, parsed.error);
  if (parsed->words.size() > command.max_words)
    return complain(s, "\"" + parsed->words[command.max_words].substr(0, 60) + "\" is one word too many: ridgeline " +
                           command.usage + ".");
  return command.run(*parsed, s);
}

/// The first word is neither a command nor a lab.
std::string unknown_word(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& c : commands()) names.emplace_back(std::string(c.name).substr(0, std::string(c.name).find(' ')));
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string guess = word.find('/') == std::string::npos ? did_you_mean(word, names) : "";
  return guess.empty() ? unknown_lab(word) : "There is no command \"" + word.substr(0, 60) + "\": " + guess;
}

bool asks_help(const std::string& word) { return word == "--help" || word == "-h"; }

}  // namespace

models::Result<std::string> load_assets() {
  using Folder = models::Result<std::string>;
  const auto found = find_assets();
  if (!found) return Folder::fail(found.error);
  const std::string folder = found->string();
  if (!chapters::catalog().chips.empty()) return Folder::ok(folder);
  const auto user = user_paths();
  auto loaded = load_catalog(folder, user ? user->config : std::filesystem::path());
  if (loaded.catalog->chips.empty() || loaded.catalog->models.empty())
    return Folder::fail(loaded.errors.empty() ? "No chips or models were found under " + folder +
                                                    ": set RIDGELINE_ASSETS to the assets folder."
                                              : loaded.errors.front());
  loaded.catalog->notices = std::move(loaded.errors);
  chapters::set_catalog(loaded.catalog);
  return Folder::ok(folder);
}

int run(const std::vector<std::string>& arguments, const Streams& s) {
  const std::string name = arguments.empty() ? std::string() : arguments[0];
  if (asks_help(name)) {
    print_overview(s.out);
    return 0;
  }
  if (name == "--version") {
    s.out << "ridgeline " << version() << "\n";
    return 0;
  }
  if (name == "help" && arguments.size() == 2 && arguments[1] == "--man") {
    print_man_page(s.out);
    return 0;
  }
  if (name == "help" && arguments.size() == 2 && arguments[1] == "--completion") {
    print_bash_completion(s.out);
    return 0;
  }
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (const auto assets = load_assets(); !assets) return complain(s, assets.error);
  for (const auto& notice : chapters::catalog().notices) s.error << notice << "\n";  // the rest is good: go on
  if (name == "help") {
    if (rest.size() == 1 && chapters::has_lab(rest[0])) return lab_help({rest, {}}, s);
    const auto helped = print_help_of(rest, s.out);
    return helped ? 0 : complain(s, helped.error);
  }
  const bool group = std::any_of(commands().begin(), commands().end(),
                                 [&](const Command& c) { return std::string(c.name).starts_with(name + " "); });
  const Command* command = find_command(arguments);
  if ((command || group) && std::any_of(rest.begin(), rest.end(), asks_help)) {
    if (command) print_help(*command, s.out);
    const auto helped = command ? models::Status::ok() : print_help_of({name}, s.out);
    return helped ? 0 : complain(s, helped.error);
  }
  if (command) return run_command(*command, rest, s);
  if (group) return kernels_call({rest, {}}, s);  // its second word is missing or wrong, which it says
  const auto parsed = parse_arguments(arguments, {"--set", "--preset", "--scenario"}, {"--help", "-h"});
  if (!parsed) return complain(s, parsed.error);
  const Arguments& a = *parsed;
  if (a.words.size() > 2 || (a.words.size() > 1 && names_file(a.words[0])))
    return complain(
        s, "\"" + a.words.back().substr(0, 60) + "\" is one word too many: `ridgeline --help` shows every call.");
  const bool file = !a.words.empty() && names_file(a.words[0]);
  if (!a.words.empty() && !file && parse_link(a.words[0]).lab.empty()) return complain(s, unknown_word(a.words[0]));
  return a.has("--help") || a.has("-h") ? lab_help(a, s) : window(a, s);
}

}  // namespace app::cli
