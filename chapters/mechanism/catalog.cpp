#include "chapters/mechanism/catalog.h"

#include <algorithm>
#include <atomic>

namespace chapters {
namespace {

template <class List>
auto* find_id(const List& list, std::string_view id) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.id == id; });
  return at == list.end() ? nullptr : &*at;
}

std::string why_refused(const models::Chip& chip) {
  return chip.name + " is " + std::to_string(*chip.chip_count) +
         " chips together, and this computes one: choose a single chip.";
}

/// What is added to the name of a chip whose figures are not all sure.
std::string_view doubt_about(const models::Chip& chip) {
  if (chip.confidence == "low") return "; its sources are weak";
  return chip.confidence == "medium" ? "; some of its figures are derived or have one source" : "";
}

/// The catalog is process-wide like the files it comes from. Workers read it while a newer one is put in force.
struct Holder {
  std::vector<std::shared_ptr<const Catalog>> kept;
  std::atomic<const Catalog*> current{nullptr};
};

Holder& holder() {
  static Holder h;
  return h;
}

/// What a person reads in a list of choices. A machine that was measured says already whose it is.
std::string label_of(const Catalog& c, OwnEntry::Kind kind, std::string_view id, const std::string& name) {
  const bool measured =
      kind == OwnEntry::Kind::chip && (id == "this_machine" || id == "this_gpu" || id == "this_gpu_opengl");
  return c.own_entry(kind, id) && !measured ? name + ", yours" : name;
}

std::string none_of(std::string_view what, std::string_view id) {
  return "There is no " + std::string(what) + " \"" + std::string(id.substr(0, 80)) + "\": choose one of the list.";
}

}  // namespace

const models::Chip* Catalog::chip(std::string_view id) const { return find_id(chips, id); }
const models::LanguageModel* Catalog::model(std::string_view id) const { return find_id(models, id); }
const models::Network* Catalog::network(std::string_view id) const { return find_id(networks, id); }
const models::parallel::PublishedCollective* Catalog::collective(std::string_view id) const {
  return find_id(collectives, id);
}

const OwnEntry* Catalog::own_entry(OwnEntry::Kind kind, std::string_view id) const {
  const auto at = std::find_if(own.begin(), own.end(), [&](const OwnEntry& e) { return e.kind == kind && e.id == id; });
  return at == own.end() ? nullptr : &*at;
}

std::span<const Published> Catalog::published_of(std::string_view lab) const {
  const auto of_lab = [&](const Published& p) { return p.lab == lab; };
  const auto first = std::find_if(published.begin(), published.end(), of_lab);
  return {first, std::find_if_not(first, published.end(), of_lab)};
}

models::Result<const models::Chip*> find_chip(std::string_view id) {
  using Found = models::Result<const models::Chip*>;
  const models::Chip* chip = catalog().chip(id);
  if (chip && chip->is_several()) return Found::fail(why_refused(*chip));
  if (chip) return Found::ok(chip);
  return Found::fail(none_of("chip", id));
}
models::Result<const models::LanguageModel*> find_model(std::string_view id) {
  using Found = models::Result<const models::LanguageModel*>;
  const models::LanguageModel* model = catalog().model(id);
  return model ? Found::ok(model) : Found::fail(none_of("model", id));
}
models::Result<const models::Network*> find_network(std::string_view id) {
  using Found = models::Result<const models::Network*>;
  const models::Network* network = catalog().network(id);
  return network ? Found::ok(network) : Found::fail(none_of("network", id));
}
models::Result<OnCluster> find_cluster(std::string_view model, std::string_view chip, std::string_view network) {
  using Found = models::Result<OnCluster>;
  const auto of = find_model(model);
  if (!of) return Found::fail(of.error);
  const auto on = find_chip(chip);
  if (!on) return Found::fail(on.error);
  const auto over = find_network(network);
  if (!over) return Found::fail(over.error);
  return Found::ok({*of, *on, *over});
}

void index_catalog(Catalog& c) {
  c.tables = std::make_shared<PublishedTables>();
  c.chip_choices.clear();
  c.refused_chips.clear();
  c.model_choices.clear();
  c.network_choices.clear();
  c.collective_choices.clear();
  c.drill_topics.assign(1, {"weak", "all, weak ones first", ""});
  c.drill_choices.resize(2);  // those that are no template
  c.drill_choices[1].help = "One a day, from chapters that were opened before it; then chosen for you.";
  std::stable_sort(c.published.begin(), c.published.end(),
                   [](const Published& a, const Published& b) { return a.lab < b.lab; });
  for (const Drill& drill : c.drills) {
    c.drill_choices.push_back({drill.id, drill.title, drill.lab});
    if (!find_id(c.drill_topics, drill.topic)) c.drill_topics.push_back({drill.topic, drill.topic_label, ""});
  }
  for (const auto& chip : c.chips) {
    const std::string label = chip.short_name.empty() ? chip.name : chip.short_name;
    if (chip.is_several())
      c.refused_chips.push_back({chip.id, label, why_refused(chip)});
    else
      c.chip_choices.push_back(
          {chip.id, label_of(c, OwnEntry::Kind::chip, chip.id, label), chip.name + std::string(doubt_about(chip))});
  }
  for (const auto& model : c.models)
    c.model_choices.push_back({model.id, label_of(c, OwnEntry::Kind::model, model.id, model.name), model.source});
  for (const auto& network : c.networks)
    c.network_choices.push_back(
        {network.id, label_of(c, OwnEntry::Kind::network, network.id, network.name), network.source});
  for (const auto& run : c.collectives)
    c.collective_choices.push_back({run.id, run.name, run.source + ", " + run.date + "."});
  c.collective_choices.push_back(
      {"log", "Your own log", "What nccl-tests or rccl-tests printed, pasted under the plot."});
}

const Catalog& catalog() {
  static const Catalog none;
  const Catalog* c = holder().current.load();
  return c ? *c : none;
}

void set_catalog(std::shared_ptr<const Catalog> c) {
  holder().current = c.get();
  holder().kept.push_back(std::move(c));
}

}  // namespace chapters
