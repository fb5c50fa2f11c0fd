#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/cli/cli.h"

/// The table of what the program can be asked in a terminal, and its help.
namespace app::cli {

struct Option {
  const char* name;   ///< "--set"
  const char* value;  ///< what follows it, "k=v"; empty: nothing
  const char* does;   ///< a clause, with units and what holds without it
};

struct Command {
  const char* name;   ///< one word, or two where the first has several: "kernels run"
  const char* usage;  ///< what follows "ridgeline"
  const char* does;   ///< a clause
  std::vector<Option> options;
  std::vector<const char*> examples;  ///< whole calls that run as they are written
  int (*run)(const Arguments&, const Streams&);
  std::size_t max_words;  ///< after the first word of the name
};

const std::vector<Command>& commands();

/// The command that these arguments begin with, the one of two words first; null when there is none.
const Command* find_command(const std::vector<std::string>& arguments);

/// One line a command.
void print_overview(std::ostream& out);
void print_help(const Command& command, std::ostream& out);

/// `ridgeline help --man`: the manual page, made of the table.
void print_man_page(std::ostream& out);
/// `ridgeline help --completion`: what bash sources to complete commands, labs and options.
void print_bash_completion(std::ostream& out);

/// `ridgeline help WORDS`: a command, a group of commands such as kernels, or nothing for the overview. Fails when the
/// words name none of them, with the nearest ones.
models::Status print_help_of(const std::vector<std::string>& words, std::ostream& out);

}  // namespace app::cli
