#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/platform/file_bytes.h"
#include "app/scenario/file_sniff.h"
#include "app/scenario/sentences.h"
#include "app/workspace/file_look.h"
#include "chapters/mechanism/registry.h"

/// A file named where a lab is, or behind one.
namespace app::cli {
namespace {

using chapters::Field;
using chapters::FileKind;
using chapters::Kind;
using Found = models::Result<FileArgument>;

std::vector<const Field*> file_inputs(const chapters::Lab& lab) {
  std::vector<const Field*> out;
  for (const Field& f : lab.inputs())
    if (f.kind == Kind::file) out.push_back(&f);
  return out;
}

/// The choice of a lab that a model, a chip or a network in this file is one for; null where it holds none, or the lab
/// has no such choice.
const Field* own_choice(const chapters::Lab& lab, const std::string& path) {
  const auto bytes = read_file_bytes(path);
  const FileKind kind = bytes ? sniff_file(**bytes).kind : FileKind::unknown;
  if (kind != FileKind::model_config && kind != FileKind::chips) return nullptr;
  for (const OwnKind wanted : {OwnKind::model, OwnKind::chip, OwnKind::network}) {
    if ((wanted == OwnKind::model) != (kind == FileKind::model_config) || !read_own_file(wanted, path)) continue;
    for (const Field& f : lab.inputs())
      if (f.spec.shared == kind_name(wanted)) return &f;
  }
  return nullptr;
}

std::string name_in_quotes(const std::string& path) { return "\"" + file_name(path) + "\""; }

}  // namespace

bool names_file(const std::string& word) {
  std::error_code ignored;
  return !chapters::has_lab(word) && std::filesystem::is_regular_file(word, ignored);
}

Found input_of_file(const chapters::Lab& lab, const std::string& path) {
  const std::string id(lab.info().id);
  const auto inputs = file_inputs(lab);
  if (const Field* choice = own_choice(lab, path)) return Found::ok({id, std::string(choice->key)});
  if (inputs.empty()) return Found::fail(id + " takes no file: leave out " + name_in_quotes(path) + ".");
  const auto bytes = read_file_bytes(path);
  if (!bytes) return Found::fail(bytes.error);
  const SniffedFile sniffed = sniff_file(**bytes);
  const auto at =
      std::find_if(inputs.begin(), inputs.end(), [&](const Field* f) { return f->file_spec.reads.has(sniffed.holds); });
  if (at != inputs.end()) return Found::ok({id, std::string((*at)->key)});
  if (sniffed.kind == FileKind::unknown && sniffed.is_text)  // the lab says what is wrong with it
    return Found::ok({id, std::string(inputs.front()->key)});
  const auto readers = readers_of(every_lab(), sniffed.holds);
  return Found::fail(name_in_quotes(path) + " looks like " + sniffed.looks_like + ", which " +
                     std::string(lab.info().title) + " does not read" +
                     (readers.empty() ? "." : ": " + sentence_list(readers) + " does."));
}

Found reader_of_file(const std::string& path, const std::string& call) {
  chapters::Progress nobody_waits;
  const FoundFile found = look_at_file(path, every_lab(), nobody_waits, false);
  if (const auto* input = std::get_if<FoundInput>(&found)) return Found::ok({input->lab, input->key});
  if (const auto* refused = std::get_if<RefusedFile>(&found)) return Found::fail(refused->why);
  if (const auto* several = std::get_if<FoundReaders>(&found)) {
    std::vector<std::string> titles;
    for (const FoundInput& reader : several->readers) titles.push_back(reader.title);
    return Found::fail(name_in_quotes(path) + " looks like " + several->looks_like + ", which " +
                       sentence_list(titles) + " read: say which, as in `" + call + " " + several->readers.front().lab +
                       " " + excerpt(path, 200) + "`.");
  }
  if (const auto* own = std::get_if<FoundOwn>(&found); own && own->is_model)
    for (const FileTaker& taker : every_lab()) {
      const auto inputs = file_inputs(*taker.copy);
      const Field* choice = own_choice(*taker.copy, path);
      if (choice && std::any_of(inputs.begin(), inputs.end(),
                                [](const Field* f) { return f->file_spec.reads.has(FileKind::model_config); }))
        return Found::ok({taker.lab, std::string(choice->key)});
    }
  if (std::holds_alternative<FoundScenario>(found))
    return Found::fail(name_in_quotes(path) + " is a scenario: name it behind --scenario.");
  return Found::fail(name_in_quotes(path) + " is " +
                     (std::holds_alternative<FoundLesson>(found) ? "a lesson" : "a list of chips or networks") +
                     ": the window opens it, `ridgeline " + excerpt(path, 200) + "`.");
}

models::Status check_opens(const std::string& path) {
  const auto bytes = read_file_bytes(path);
  if (!bytes) return models::Status::fail(bytes.error);
  const SniffedFile sniffed = sniff_file(**bytes);
  const bool own =
      sniffed.kind == FileKind::scenario || sniffed.kind == FileKind::lesson || sniffed.kind == FileKind::chips;
  if (own || sniffed.is_text || !readers_of(every_lab(), sniffed.holds).empty()) return models::Status::ok();
  const auto why = reader_of_file(path, "ridgeline");
  return models::Status::fail(why.error);
}

}  // namespace app::cli
