#include <algorithm>
#include <ostream>
#include <string>

#include "app/cli/commands.h"
#include "app/cli/version.h"

namespace app::cli {
namespace {

/// Text as roff takes it: no character of its own, and no control line at its start.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' || (c == '.' && out.empty())) {
      out += c == '.' ? "\\&." : "\\(aq";
    } else if (c != '`') {
      out += c;
    }
  }
  return out;
}

/// A sentence as roff takes it, which may break a long word after a comma or a bar: lists of values have no blanks.
std::string roff_sentence(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
    end = std::min(text.find_first_of(",|", begin), text.size() - 1) + 1;
    out += roff(text.substr(begin, end - begin));
    if (end < text.size() && text[end] != ' ') out += "\\:";
  }
  return out;
}

/// "sets one input" as a sentence of its own.
std::string sentence(std::string_view clause) {
  std::string out(clause);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out.empty() || out.back() == '.' ? out : out + ".";
}

void print_command(const Command& c, std::ostream& out) {
  out << ".SS " << roff(c.name) << "\n.B ridgeline " << roff(c.usage) << "\n.PP\n"
      << roff_sentence(sentence(c.does)) << "\n";
  for (const Option& o : c.options) {
    out << ".TP\n.B " << roff(o.name);
    if (*o.value) out << " " << roff(o.value);
    out << "\n" << roff_sentence(sentence(o.does)) << "\n";
  }
  out << ".PP\nFor example:\n.PP\n.nf\n";
  for (const char* example : c.examples) out << roff(example) << "\n";
  out << ".fi\n";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

void print_man_page(std::ostream& out) {
  out << ".TH RIDGELINE 1 \"\" \"ridgeline " << roff(version()) << "\" \"User Commands\"\n"
      << ".ad l\n"  // with such words in it a line cannot be filled to both margins
      << ".SH NAME\nridgeline \\- performance engineering of machine learning, taught by models to touch\n"
      << ".SH SYNOPSIS\n.B ridgeline\n[\\fILAB\\fR] [\\-\\-set \\fIk=v\\fR]... [\\-\\-preset \\fINAME\\fR] "
         "[\\-\\-scenario \\fIF\\fR]\n.br\n.B ridgeline\n\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
      << ".SH DESCRIPTION\nWithout a command it opens the window, at a lab or a link. With one it works in the "
         "terminal: it computes, sweeps, solves and draws pictures without a display.\n"
      << "Quantities take units and prefixes: 3.35e12, 1.07GB, 310ms. Lists read [1,2,3].\n"
      << ".SH COMMANDS\n";
  for (const Command& c : commands()) print_command(c, out);
  out << ".SH EXIT STATUS\n"
      << ".TP\n.B 0\nWhat was asked for was done.\n"
      << ".TP\n.B 1\nIt is not feasible, a check found a difference, or output could not be written; a sentence on "
         "standard error says which.\n"
      << ".TP\n.B 2\nThe input is bad; one sentence on standard error says where.\n"
      << ".SH ENVIRONMENT\n.TP\n.B RIDGELINE_ASSETS\nThe folder of the assets, instead of the one next to the "
         "program.\n"
      << ".SH FILES\n.TP\n.I ~/.config/ridgeline\nSettings, and chips, models and drills of your own.\n"
      << ".TP\n.I ~/.local/share/ridgeline\nProgress, notes, and lessons of your own.\n";
}

void print_bash_completion(std::ostream& out) {
  std::vector<std::string> names;
  for (const Command& c : commands()) {
    const std::string name = std::string(c.name).substr(0, std::string(c.name).find(' '));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  names.emplace_back("help");
  out << "# Made by `ridgeline help --completion`.\n_ridgeline() {\n"
      << "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n"
      << "  [ \"$COMP_CWORD\" -lt 2 ] || [ \"$command\" != kernels ] || command=\"kernels ${COMP_WORDS[2]}\"\n"
      << "  if [ \"$COMP_CWORD\" = 1 ]; then\n    words=\"" << joined(names)
      << " $(ridgeline list 2>/dev/null | sed -n 's|^ *\\([a-z-]*/[a-z-]*\\).*|\\1|p')\"\n  else\n"
      << "    case $command in\n";
  for (const Command& c : commands()) {
    std::vector<std::string> options;
    for (const Option& o : c.options) options.emplace_back(o.name);
    const bool takes_lab = std::string(c.usage).find("LAB") != std::string::npos;
    out << "      '" << c.name << "') words=\"" << joined(options) << "\"";
    if (takes_lab)
      out << "; [ \"$COMP_CWORD\" != 2 ] || words=\"$words $(ridgeline list 2>/dev/null | sed -n 's|^ "
             "*\\([a-z-]*/[a-z-]*\\).*|\\1|p')\"";
    out << " ;;\n";
  }
  std::vector<std::string> kernels;
  for (const Command& c : commands())
    if (std::string(c.name).starts_with("kernels ")) kernels.push_back(std::string(c.name).substr(8));
  out << "      kernels*) words=\"" << joined(kernels) << "\" ;;\n      help) words=\"" << joined(names)
      << "\" ;;\n    esac\n  fi\n"
      << "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      << "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
      << "complete -o filenames -F _ridgeline ridgeline\n";
}

}  // namespace app::cli
