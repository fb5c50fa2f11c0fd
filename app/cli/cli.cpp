#include "app/cli/cli.h"

#include <ostream>

#include "app/cli/version.h"
#include "app/content/load_catalog.h"
#include "app/platform/paths.h"
#include "app/scenario/link.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {
namespace {

struct Call {
  const char* name;
  const char* usage;
  const char* does;
  std::vector<std::string> valued, flags;
  int (*run)(const Arguments&, const Streams&);
  std::size_t most_words;
};

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"list", "list [--json]", "chapters, labs, their inputs (key, unit, range) and outputs", {}, {"--json"}, list, 0},
      {"eval",
       "eval LAB [--set k=v]... [--scenario F] [--json]",
       "computes a lab and prints inputs and outputs",
       {"--set", "--scenario"},
       {"--json"},
       eval,
       1},
      {"render",
       "render LAB -o F.png [--size 1600x1000] [--theme dark|light] [--scale S] [--at T] [--set k=v]... [--canvas] "
       "[--presentation] [--drawer TAB] [--question N [--guess X]]",
       "one picture without a display; F.svg and F.csv too",
       {"-o", "--size", "--theme", "--scale", "--at", "--set", "--scenario", "--drawer", "--question", "--guess"},
       {"--canvas", "--presentation"},
       render,
       1},
      {"tour",
       "tour -o DIR [--size 1600x1000] [--theme dark|light]",
       "pictures of every lab, with an index page",
       {"-o", "--size", "--theme"},
       {},
       tour,
       0},
      {"sweep",
       "sweep LAB --over k=LO:HI:N[:log] [--over ...] --output K [--set k=v]... [--json]",
       "an output over one or two inputs, as CSV",
       {"--over", "--output", "--set", "--scenario"},
       {"--json"},
       sweep,
       1},
      {"solve",
       "solve LAB --for k=LO:HI --output K=V [--set k=v]... [--json]",
       "the input at which an output meets a target, or why none does",
       {"--for", "--output", "--set", "--scenario"},
       {"--json"},
       solve,
       1},
      {"sensitivity",
       "sensitivity LAB --output K [--set k=v]... [--json]",
       "which inputs move an output most",
       {"--output", "--set", "--scenario"},
       {"--json"},
       sensitivity,
       1},
      {"trace",
       "trace FILE... [--json] [-o F.json]",
       "metrics of real traces: PyTorch/Kineto and other Chrome JSON, plain or .gz, Nsight Systems SQLite; times in ns",
       {"-o"},
       {"--json"},
       trace,
       256},
      {"kernels",
       "kernels list|run LADDER|roofline [--rung R]... [--size N] [--warm] [--seconds S] [--seed N] [--source F --rung "
       "R] [--device cpu|cuda] [--save] [--json]",
       "kernels on this machine: the ladders, a ladder timed rung by rung (checked first, cold unless --warm), the "
       "measured ceilings (--save: as a chip for every lab); --json is one event a line",
       {"--rung", "--size", "--seconds", "--seed", "--source", "--device"},
       {"--warm", "--json", "--save"},
       kernels_call,
       2},
      {"predict",
       "predict LAB [--question N] [--answer X] [--seed N]",
       "a lab's questions in the terminal: a number with its unit or one of the options, before the lab shows it; a "
       "curve is drawn in the window; --seed: in another order",
       {"--question", "--answer", "--seed"},
       {},
       predict,
       1},
      {"drill",
       "drill [--topic T] [--seed N] [--count N] [--level 1-6] [--clock 120|60|none] [--today]",
       "numeric questions in the terminal, graded, with worked solutions; --clock: seconds in which an answer must "
       "come; --today: one question a day",
       {"--topic", "--seed", "--count", "--level", "--clock"},
       {"--today"},
       drill,
       0},
      {"check", "check", "recomputes every claim and published figure", {}, {}, check, 0},
  };
  return all;
}

void help(std::ostream& out) {
  out << "ridgeline " << version() << ": ML performance engineering to touch\n\n"
      << "  ridgeline [LAB] [--set k=v]... [--scenario F]\n      the window, at a lab\n";
  for (const Call& c : calls()) out << "  ridgeline " << c.usage << "\n      " << c.does << "\n";
  out << "\nQuantities take units and prefixes: 3.35e12, 1.07GB, 310ms. Lists read [1,2,3]. `ridgeline list` names "
         "keys, units and ranges;\n"
         "`ridgeline LAB --help` those of one lab. Bad input is one sentence and exit status 2.\n";
}

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
  if (name == "--help" || name == "-h" || name == "help") {
    help(s.out);
    return 0;
  }
  if (name == "--version") {
    s.out << "ridgeline " << version() << "\n";
    return 0;
  }
  if (const auto assets = load_assets(); !assets) return complain(s, assets.error);
  for (const auto& notice : chapters::catalog().notices) s.error << notice << "\n";  // the rest is good: go on
  for (const Call& call : calls()) {
    if (name != call.name) continue;
    const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
    for (const auto& word : rest)
      if (word == "--help" || word == "-h") {
        s.out << "ridgeline " << call.usage << "\n    " << call.does << "\n";
        return 0;
      }
    const auto parsed = parse_arguments(rest, call.valued, call.flags);
    if (!parsed) return complain(s, parsed.error);
    const Arguments& a = *parsed;
    if (a.words.size() > call.most_words)
      return complain(
          s, "\"" + a.words[call.most_words].substr(0, 60) + "\" is one word too many: ridgeline " + call.usage + ".");
    return call.run(a, s);
  }
  const auto parsed = parse_arguments(arguments, {"--set", "--scenario"}, {"--help", "-h"});
  if (!parsed) return complain(s, parsed.error);
  const Arguments& a = *parsed;
  if (a.words.size() > 1)
    return complain(s,
                    "\"" + a.words[1].substr(0, 60) + "\" is one word too many: `ridgeline --help` shows every call.");
  if (!a.words.empty() && parse_link(a.words[0]).lab.empty()) {
    std::vector<std::string> names;
    for (const Call& c : calls()) names.emplace_back(c.name);
    const auto guess = a.words[0].find('/') == std::string::npos ? nearest(a.words[0], names) : "";
    return complain(s, guess.empty()
                           ? unknown_lab(a.words[0])
                           : "There is no call \"" + a.words[0].substr(0, 60) + "\": did you mean \"" + guess + "\"?");
  }
  if (a.has("--help") || a.has("-h")) {
    const auto lab = make_set_lab(a);
    if (!lab) return complain(s, lab.error);
    s.out << (*lab)->info().id << ": " << (*lab)->info().question << "\n";
    for (const auto& f : (*lab)->inputs())
      s.out << "  --set " << f.key << "=...   " << f.spec.label << (f.spec.help.empty() ? "" : ": ") << f.spec.help
            << "\n";
    return 0;
  }
  return window(a, s);
}

}  // namespace app::cli
