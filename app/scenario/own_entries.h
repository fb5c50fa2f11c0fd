#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/transformer/language_model.h"

/// Models, chips and networks of somebody's own: read from files and documents, and taken into a catalog.
namespace app {

using chapters::OwnEntry;
using OwnKind = OwnEntry::Kind;

/// A model, a chip or a network with what is kept of where it comes from.
template <class T>
struct Own {
  T thing;
  OwnEntry entry;
};

/// What one file or document holds.
struct OwnSet {
  std::vector<Own<models::LanguageModel>> models;
  std::vector<Own<models::Chip>> chips;
  std::vector<Own<models::Network>> networks;
  std::size_t size() const { return models.size() + chips.size() + networks.size(); }
};

/// Reads a bare config.json, which gets the name `name`, one model or a list of models (models::parse_language_models).
/// `path` is where the text comes from, whole; empty for a document. Fails with one sentence that names `origin`.
models::Result<OwnSet> read_own_models(std::string_view text, const std::string& origin, const std::string& path,
                                       const std::string& name);
/// Reads chips and networks, one or lists of them (models::parse_chips, models::parse_networks).
models::Result<OwnSet> read_own_hardware(std::string_view text, const std::string& origin, const std::string& path);
/// Reads the file of a model, chip or network that a person has named; in place of a folder the config.json in it.
models::Result<OwnSet> read_own_file(OwnKind kind, const std::string& path);

/// What the model of a config.json at `path` is called: as its file, unless that has the name that all such files have;
/// then as the config calls itself, else as its folder, or the repository in a cache of Hugging Face.
std::string model_name(std::string_view text, const std::filesystem::path& path);

/// "model", "chip" or "network", as shared choices call them.
std::string_view kind_name(OwnKind kind);

/// What has become of an entry that was taken into a catalog.
struct TakenEntry {
  OwnKind kind = OwnKind::model;
  std::string id, name;  ///< as they are there
  std::string was;       ///< the id that it came with
  bool is_new = false;   ///< and not the same thing as one that was there
  std::string kept;      ///< path of the learner's file that it was written to; empty: none
};

/// Takes what somebody opened, named or sent into a catalog. Nothing that is there is replaced: what is the same stays,
/// and what has the id of something else gets the next that is free, "acme-13b-2". The caller indexes the catalog.
std::vector<TakenEntry> take_own(chapters::Catalog& to, OwnSet set);

/// "The model acme-13b", with the name that it has there, and why where that is another than it came with.
std::string taken_words(const TakenEntry& taken);

/// Takes what lies in the learner's folders: an entry with the id of a bundled one takes its place, of two of the
/// learner's own the first stays, and a sentence in `errors` says so.
void load_own(chapters::Catalog& to, OwnSet set, std::vector<std::string>& errors);

/// The model, chip or network that a person has chosen on the command line: the id of one, or the path of a file, which
/// is taken into the catalog in force. Gives its id, or `value` itself where that is neither. Fails where the file
/// cannot be read. Labs that were made before must be refreshed.
models::Result<std::string> choose_own(OwnKind kind, const std::string& value);

}  // namespace app
