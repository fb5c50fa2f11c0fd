#pragma once
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

/// The command line: one binary, every call of it. Bad input is one sentence on the error stream and exit status 2.
namespace app::cli {

struct Streams {
  std::ostream& out;
  std::ostream& error;
  std::istream* in = nullptr;  ///< what a person types; null: standard input
};

/// Runs the program with the arguments after its name. Returns the exit status.
int run(const std::vector<std::string>& arguments, const Streams& streams);

/// The same, and never throws: no memory and no thread to be had is a sentence and exit status 1, and so is output that
/// could not be written.
int run_safely(const std::vector<std::string>& arguments, const Streams& streams);

/// What main does: standard streams that are closed are taken by nothing else, and a file that may not grow is an error
/// of the call that writes it, instead of the end of the process.
int run_process(int argc, char** argv);

/// What a call was given, after its name.
struct Arguments {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> options;  ///< "--set" -> "k=v", in order; flags have an empty value

  bool has(std::string_view option) const;
  /// The last value of an option, or `otherwise`.
  std::string value(std::string_view option, std::string otherwise = {}) const;
  std::vector<std::string> values(std::string_view option) const;
};
/// Options in `valued` take the next argument (or what follows '='), those in `flags` do not. Fails on an unknown
/// option, with its name and the nearest that exists.
models::Result<Arguments> parse_arguments(const std::vector<std::string>& all, const std::vector<std::string>& valued,
                                          const std::vector<std::string>& flags);

/// Does this word name a file on the disk, and no lab?
bool names_file(const std::string& word);
/// The input of a lab that a file goes to.
struct FileArgument {
  std::string lab, key;
};
/// The input of this lab that reads such files. Fails where it has none, with what the file looks like.
models::Result<FileArgument> input_of_file(const chapters::Lab& lab, const std::string& path);
/// The one input of all labs that takes the file. Fails where none or several labs do, with how `call` names one.
models::Result<FileArgument> reader_of_file(const std::string& path, const std::string& call);
/// Fails where nothing here opens the file, as far as its first bytes tell.
models::Status check_opens(const std::string& path);

/// Makes the lab that words[0] names, words[1] being a file for it, or the lab that reads the file words[0], with
/// --scenario, --preset and --set applied, computed. Fails also where a file that was named is at fault: one that
/// leaves the lab infeasible with every other input at its default.
models::Result<chapters::LabPtr> make_set_lab(const Arguments& arguments);

/// Loads chips and models once for this process. Gives the folder of the assets; fails when they are not found.
models::Result<std::string> load_assets();

int list(const Arguments& a, const Streams& s);
int eval(const Arguments& a, const Streams& s);
int sweep(const Arguments& a, const Streams& s);
int solve(const Arguments& a, const Streams& s);
int sensitivity(const Arguments& a, const Streams& s);
int drill(const Arguments& a, const Streams& s);
int predict(const Arguments& a, const Streams& s);
int record(const Arguments& a, const Streams& s);
int check(const Arguments& a, const Streams& s);
int trace(const Arguments& a, const Streams& s);
int counters(const Arguments& a, const Streams& s);
int hang(const Arguments& a, const Streams& s);
int plan(const Arguments& a, const Streams& s);
int kernels_call(const Arguments& a, const Streams& s);
int render(const Arguments& a, const Streams& s);
int tour(const Arguments& a, const Streams& s);
int handout(const Arguments& a, const Streams& s);
int sheet(const Arguments& a, const Streams& s);
int window(const Arguments& a, const Streams& s);

/// Prints the sentence and returns 2.
int complain(const Streams& s, const std::string& sentence);
/// Prints why what was asked is not feasible and returns 1.
int say_infeasible(const Streams& s, const std::string& reason);

}  // namespace app::cli
