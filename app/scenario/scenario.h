#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"

/// Inputs, Outputs and Views as JSON, checked against what `describe` says.
namespace app {

using Json = nlohmann::ordered_json;

/// Reads a file for a file input: text, or one sentence in `error`.
struct FileText {
  std::string text, error;
};
/// Reads from disk; up to 8 MiB.
FileText read_text_file(const std::string& path);

/// A file of up to 4 GiB for an input that takes bytes; opened here, read by the job that needs it. Null with one
/// sentence in `error`.
struct FileContent {
  std::shared_ptr<const chapters::FileBytes> bytes;
  std::string error;
};
FileContent read_file_bytes(const std::string& path);

/// Where file inputs get their files from: the disk unless something else is said.
struct FileReader {
  std::function<FileText(const std::string& path)> text = read_text_file;
  std::function<FileContent(const std::string& path)> bytes = read_file_bytes;
  FileReader() = default;
  FileReader(FileText (*how)(const std::string&)) : text(how) {}
};
/// Where the lab's file inputs hold an unchanged file already, that one: undo need not read gigabytes again.
FileReader reader_keeping(const chapters::Lab& lab);
/// Fills a file input from `path` as its Spec asks: text or bytes. Returns an error sentence, and then changed nothing,
/// or "".
std::string load_file(const chapters::Field& field, const std::string& path, const FileReader& read = {});
/// Does `path` end in a suffix that the file input accepts, in either case of letters?
bool accepts(const chapters::Field& field, std::string_view path);

/// Never throws: bytes that are not UTF-8 (a path may hold any) become U+FFFD. `indent` below 0: one line.
std::string to_text(const Json& json, int indent = -1);

Json field_to_json(const chapters::Field& field);
Json fields_to_json(const chapters::Fields& fields);

/// Sets one field. On a wrong type, an unknown option or a value out of range returns one sentence that names the key,
/// the value and what is allowed, and changes nothing.
std::string field_from_json(const chapters::Field& field, const Json& value, const FileReader& read = {});

/// Sets one field from what follows `--set key=` or what a person typed: quantities with units, lists as [1,2,3],
/// options by id.
std::string set_field_from_text(const chapters::Field& field, std::string_view text, const FileReader& read = {});

/// What belongs to the person and not to a scenario: what is kept across sessions, and the clock ("clock.now_s").
bool is_personal(const chapters::Field& field);
/// The inputs that a scenario is made of: all but the personal ones.
Json scenario_inputs(const chapters::Lab& lab);
/// The scenario's inputs without what was measured: what undo goes through.
Json set_by_hand(const chapters::Lab& lab);
/// Every input back to its default, the personal and the measured ones as they were.
void reset_scenario(chapters::Lab& lab);

/// Sets several inputs, all or none. Returns an error sentence or "".
std::string apply_inputs(chapters::Lab& lab, const Json& inputs, const FileReader& read = {});
/// Sets what the View describes; unknown or bad entries are errors, as for inputs.
std::string apply_view(chapters::Lab& lab, const Json& view);

/// {"lab", "version", "inputs", "view"}: what is saved, shared and recorded in lessons.
Json scenario_to_json(const chapters::Lab& lab);
/// Checks a whole scenario document. On success `lab` names the lab; the caller opens it and applies inputs and view.
struct Scenario {
  std::string lab;
  std::string inputs_text, view_text;  ///< JSON objects
  std::string error;
};
Scenario parse_scenario(std::string_view text);

/// {"lab", "feasible", "reason", "inputs", "outputs"}; outputs are null while infeasible. The lab must be computed.
Json evaluation_to_json(const chapters::Lab& lab);

/// "ridgeline roofline/roofline --set chip=b200_sxm": only the inputs that differ from the defaults.
std::string command_line_of(const chapters::Lab& lab);
/// "roofline/roofline?chip=b200_sxm&batch=4": the same as a deep link.
std::string link_of(const chapters::Lab& lab);
/// Splits a deep link into lab id and key-value pairs ("%XX" decoded). The id is empty when it is not a link.
struct Link {
  std::string lab;
  std::vector<std::pair<std::string, std::string>> sets;
};
Link parse_link(std::string_view link);

/// "a, b and c" of every option, key and so on, shortened when long; used in error sentences.
std::string sentence_list(const std::vector<std::string>& items, std::size_t most = 12);
/// The nearest of `options` to a mistyped word, or "".
std::string nearest(std::string_view word, const std::vector<std::string>& options);
/// "'roofline/roofline' has no input 'chp': did you mean 'chip'? ..."
std::string unknown_key(std::string_view owner, std::string_view what, std::string_view key,
                        const chapters::Fields& fields);

}  // namespace app
