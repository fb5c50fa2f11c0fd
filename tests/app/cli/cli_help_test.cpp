#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/cli/commands.h"
#include "app/platform/headless.h"
#include "tests/support/base/effort.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::refused_by_cli;
using support::run_cli;
using support::sanitized;

namespace {

/// Words of a call as a shell splits them: blanks, and double quotes around what has some.
std::vector<std::string> words_of(const std::string& call) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : call) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

/// A person who works in a folder of their own, with recordings of two ranks in it.
struct Working {
  Working() {
    setenv("HOME", folder.path.c_str(), 1);
    for (const char* name : variables) unsetenv(name);
    std::filesystem::current_path(folder.path);
    for (const char* name : {"trace.json", "rank0.json", "rank1.json"})
      std::filesystem::copy_file(support::data_file("traces/small.json"), folder / name);
    std::filesystem::copy_file(support::data_file("kernel_reports/details.txt"), folder / "report.txt");
    for (const char* name : {"before.csv", "after.csv"})
      std::filesystem::copy_file(support::data_file("kernel_reports/details.csv"), folder / name);
    std::filesystem::create_directory(folder / "dumps");
    for (const std::string rank : {"0", "1", "2", "3"}) {
      const std::string dump = support::data_file("hangs/skip_call/rank" + rank + ".json");
      std::filesystem::copy_file(dump, folder / ("dumps/rank" + rank + ".json"));
      std::filesystem::copy_file(dump, folder / ("dump" + rank + ".json"));
    }
  }
  ~Working() {
    std::filesystem::current_path(before);
    setenv("HOME", home.c_str(), 1);
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (!values[i].empty()) setenv(variables[i], values[i].c_str(), 1);
  }
  static std::string value(const char* name) {
    const char* v = std::getenv(name);
    return v ? v : "";
  }
  static constexpr std::array variables{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"};
  std::string home = value("HOME");
  std::array<std::string, 3> values{value(variables[0]), value(variables[1]), value(variables[2])};
  std::filesystem::path before = std::filesystem::current_path();
  support::Folder folder;
};

}  // namespace

TEST_CASE("every command has two examples and a sentence for each option; help shows them and the README names it") {
  const std::string readme = support::read_text(support::source_file("README.md"));
  std::set<std::string> names;
  for (const auto& c : app::cli::commands()) {
    INFO(c.name);
    CHECK(readme.find("| `ridgeline " + std::string(c.name)) != std::string::npos);
    CHECK(names.insert(c.name).second);
    CHECK(std::string(c.usage).starts_with(c.name));
    CHECK(c.examples.size() >= 2);
    std::vector<std::string> call{"help"};
    for (const auto& word : words_of(c.name)) call.push_back(word);
    const Ran r = run_cli(call);
    CHECK(r.status == 0);
    CHECK(r.error == "");
    CHECK(r.out.starts_with("ridgeline " + std::string(c.usage) + "\n"));
    for (const char* example : c.examples) {
      CHECK(std::string(example).starts_with("ridgeline " + std::string(c.name)));
      CHECK(r.out.find(std::string("\n  ") + example + "\n") != std::string::npos);
    }
    for (const auto& o : c.options) {
      INFO(o.name);
      CHECK(std::string(o.does).size() > 3);
      CHECK(r.out.find(std::string("\n  ") + o.name) != std::string::npos);
    }
    call.erase(call.begin());
    call.emplace_back("--help");
    CHECK(run_cli(call).out == r.out);
  }
}

TEST_CASE("no line of the manual page has a word that does not fit on it") {
  const Ran page = run_cli({"help", "--man"});
  std::string word, last;
  bool example = false;  // which is printed as it is
  for (const char c : page.out) {
    if (c == '\n' && (word == ".nf" || word == ".fi")) example = word == ".nf";
    if (c == ' ' || c == '\n' || (c == ':' && last.ends_with('\\'))) {
      INFO(word);
      CHECK((example || word.size() <= 64));
      word.clear();
    } else {
      word += c;
    }
    last = c;
  }
}

TEST_CASE("the manual page and the completion name every command and every option, without a catalog") {
  const Ran page = run_cli({"help", "--man"}), completion = run_cli({"help", "--completion"});
  CHECK((page.status == 0 && completion.status == 0));
  CHECK(page.out.starts_with(".TH RIDGELINE 1 "));
  const auto escaped = [](std::string text) {
    for (std::size_t i = 0; (i = text.find('-', i)) != std::string::npos; i += 2) text.insert(i, 1, '\\');
    return text;
  };
  for (const auto& c : app::cli::commands()) {
    INFO(c.name);
    CHECK(page.out.find(".SS " + escaped(c.name) + "\n") != std::string::npos);
    const std::size_t at = completion.out.find("'" + std::string(c.name) + "') words=\"");
    REQUIRE(at != std::string::npos);
    const std::string words = completion.out.substr(at, completion.out.find('\n', at) - at);
    for (const auto& o : c.options) {
      INFO(o.name);
      CHECK(page.out.find(".B " + escaped(o.name)) != std::string::npos);
      CHECK(words.find(o.name) != std::string::npos);
    }
  }
  for (std::size_t i = 0; (i = page.out.find('\n', i)) != std::string::npos && i + 1 < page.out.size(); ++i) {
    if (page.out[i + 1] != '.') continue;  // a line that begins with a dot is an order, and only ours are
    const std::string order = page.out.substr(i + 1, 3);
    INFO(order);
    CHECK((order == ".SH" || order == ".SS" || order == ".TP" || order == ".PP" || order == ".B " || order == ".I " ||
           order == ".nf" || order == ".fi" || order == ".br" || order == ".TH" || order == ".ad"));
  }
}

TEST_CASE("help of a group shows all of it, help of a lab its inputs, and help of nothing known the nearest") {
  const Ran kernels = run_cli({"help", "kernels"});
  for (const char* part : {"ridgeline kernels list", "ridgeline kernels run LADDER", "ridgeline kernels roofline"})
    CHECK(kernels.out.find(part) != std::string::npos);
  CHECK(run_cli({"kernels", "--help"}).out == kernels.out);
  CHECK(run_cli({"help", "roofline/roofline"}).out.find("--set chip=") != std::string::npos);
  CHECK(refused_by_cli({"help", "swep"}) ==
        "There is no command \"swep\": did you mean \"sweep\"? `ridgeline help` shows every one.");
  CHECK(refused_by_cli({"help", "kernels", "rum"}).find("did you mean \"kernels run\"?") != std::string::npos);
  CHECK(refused_by_cli({"help", std::string(500, 'z')}).size() < 160);
}

TEST_CASE("every example of the help runs as it is written") {
  const Working working;
  const bool pictures = static_cast<bool>(app::Headless::create(64, 64));
  for (const auto& c : app::cli::commands()) {
    const std::string name = c.name;
    // Under sanitizers the tests of these commands draw and check enough.
    const bool draws = name == "render" || name == "tour" || name == "handout";
    if ((draws && (!pictures || sanitized())) || (name == "check" && sanitized())) continue;
    for (const char* example : c.examples) {
      INFO(example);
      if (std::string_view(example) == "ridgeline check") continue;  // runs as written in cli_check_test.cpp
      auto words = words_of(example);
      REQUIRE(words.front() == "ridgeline");
      words.erase(words.begin());
      const Ran r = run_cli(words, "quit\n");
      INFO(r.error);
      CHECK(r.status == 0);
      CHECK_FALSE(r.out.empty());
    }
  }
  if (pictures && !sanitized()) CHECK(std::filesystem::exists(working.folder / "roofline.png"));
  CHECK(std::filesystem::exists(working.folder / ".config/ridgeline/chips"));  // kernels roofline --save
}

TEST_CASE("a lab's name without its chapter, and one with a letter wrong, are answered with what was meant") {
  CHECK(run_cli({"eval", "rofline"}).error.find("did you mean one of roofline/hierarchy, roofline/roofline") !=
        std::string::npos);
  CHECK(run_cli({"eval", "batchin"}).error.find("did you mean \"serving/batching\"?") != std::string::npos);
  CHECK(run_cli({"eval", "iron-low"}).error.find("did you mean \"roofline/iron-law\"?") != std::string::npos);
  CHECK(run_cli({"eval", "xyzzy"}).error == "There is no lab \"xyzzy\". `ridgeline list` names all.\n");
}

TEST_CASE("list and eval count memory as the screen does: in GiB where the window says GiB") {
  const Ran listed = run_cli({"list", "framework/allocator"});
  CHECK(listed.out.find("--set capacity_bytes=80 GiB ") != std::string::npos);
  const Ran computed = run_cli({"eval", "framework/allocator"});
  CHECK(computed.out.find("\n  capacity_bytes = 80 GiB\n") != std::string::npos);
  CHECK(computed.out.find("85.9") == std::string::npos);
  CHECK(run_cli({"eval", "framework/allocator", "--set", "capacity_bytes=80 GiB"}).out == computed.out);
}

TEST_CASE("a sentence that refuses an option names a few of many, and where all are") {
  const std::string refused = refused_by_cli({"eval", "roofline/roofline", "--set", "model=[[["});
  INFO(refused);
  CHECK(refused.size() < 400);
  CHECK(refused.find(" more (`ridgeline list LAB --json` names all).") != std::string::npos);
}
