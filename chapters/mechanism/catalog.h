#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/drill_template.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/published.h"
#include "chapters/mechanism/published_tables.h"
#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/parallel/collectives/collective_published.h"
#include "models/transformer/language_model.h"

namespace chapters {

struct RecallDeck;

/// A language model, a chip or a network that the program did not bring along: of the learner's folders, of a file that
/// was opened or named, of a scenario or a link.
struct OwnEntry {
  enum class Kind : std::uint8_t { model, chip, network };
  Kind kind = Kind::model;
  std::string id;
  std::string file;  ///< path of the file that it was read from; empty: it came inside a scenario or a link
  std::string text;  ///< JSON of this entry alone, which the parser of its kind reads: what is handed on
};

struct ScenarioDeck;  // chapters/mechanism/scenario_deck.h

/// Chips, networks and language models that labs can choose, with their choices, and the figures that people published.
/// Immutable once set.
struct Catalog {
  std::vector<models::Chip> chips;
  std::vector<models::Network> networks;
  std::vector<models::LanguageModel> models;
  std::vector<Drill> drills;
  std::shared_ptr<const RecallDeck> recall;                        ///< open questions; null: none. See recall_deck.h
  std::shared_ptr<const ScenarioDeck> scenarios;                   ///< null until some are read
  std::vector<Published> published;                                ///< measured figures, those of a lab in one row
  std::vector<models::parallel::PublishedCollective> collectives;  ///< measured runs of collectives
  /// What the labs' models say of `published`, as far as somebody has asked.
  std::shared_ptr<PublishedTables> tables = std::make_shared<PublishedTables>();
  std::vector<OwnEntry> own;         ///< what of chips, networks and models is none of the program's own, each id once
  std::vector<std::string> notices;  ///< one sentence for each file or entry that could not be used
  /// Filled by `index_catalog`, in the order of the lists. Chips are those that are one chip.
  Choices chip_choices, model_choices, network_choices, collective_choices;
  Choices refused_chips;  ///< racks: `help` says in a sentence why a lab that computes one chip does not take them
  Choices drill_topics{{"weak", "weak ones first", ""}};  ///< and every topic of the drills, in order
  Choices drill_choices{{"any", "chosen for you", ""},
                        {"today", "question of the day",
                         "One a day, the same for everybody; then chosen for you."}};  ///< and every drill

  const models::Chip* chip(std::string_view id) const;            ///< null when there is none
  const models::LanguageModel* model(std::string_view id) const;  ///< null when there is none
  const models::Network* network(std::string_view id) const;
  const models::parallel::PublishedCollective* collective(std::string_view id) const;
  const OwnEntry* own_entry(OwnEntry::Kind kind, std::string_view id) const;  ///< null where it is the program's own
  /// The published figures that belong to a lab; empty where there are none.
  std::span<const Published> published_of(std::string_view lab) const;
};

/// The chip, the language model or the network of the catalog in force with that id, or a sentence that says that there
/// is none, or that it is several chips, and what to do.
models::Result<const models::Chip*> find_chip(std::string_view id);
models::Result<const models::LanguageModel*> find_model(std::string_view id);
models::Result<const models::Network*> find_network(std::string_view id);

/// A language model on the chips of a network.
struct OnCluster {
  const models::LanguageModel* model = nullptr;
  const models::Chip* chip = nullptr;
  const models::Network* network = nullptr;
};
/// The three with those ids, or the sentence of the first that there is none of.
models::Result<OnCluster> find_cluster(std::string_view model, std::string_view chip, std::string_view network);

/// Fills the choices from the lists; those of the learner's own are labelled "acme-13b, yours".
void index_catalog(Catalog& catalog);

/// The catalog in force; empty until one is set.
const Catalog& catalog();
/// Puts a new catalog in force. Older ones stay alive, since choices of running labs point into them; refresh those
/// labs.
void set_catalog(std::shared_ptr<const Catalog> catalog);

}  // namespace chapters
