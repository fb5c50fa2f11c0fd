#include "models/base/json_text.h"
#include "models/machine/hardware.h"
#include "models/machine/hardware_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <new>
#include <set>

namespace models {
namespace {

using nlohmann::json;

constexpr std::size_t max_label_bytes = 400;

std::string value_text(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 48) text = text.substr(0, 45) + "...";
  return text;
}

Result<json> parse_text(std::string_view text, const std::string& origin) {
  if (const Status worth = check_json_text(text, origin); !worth) return Result<json>::fail(worth.error);
  JsonFailure failure;
  json parsed = parse_json(text, &failure);
  switch (failure.kind) {
    case JsonFailure::Kind::none:
    case JsonFailure::Kind::repeated_key:
      return Result<json>::ok(std::move(parsed));
    case JsonFailure::Kind::syntax:
      return Result<json>::fail(origin + " is not valid JSON in UTF-8 at " + place_in_text(text, failure.byte) +
                                "; mend the text there.");
    case JsonFailure::Kind::number:
      return Result<json>::fail(origin + " holds a number beyond 1.8e308; give figures in SI units.");
    case JsonFailure::Kind::other:
      break;
  }
  return Result<json>::fail(origin + " could not be read as JSON; check that it is a complete text file.");
}

/// Reads members of one object and keeps the first thing that is wrong.
class Reader {
 public:
  Reader(std::string where, const json& object) : where_(std::move(where)), object_(object) {}

  const std::string& error() const { return error_; }
  void rename(std::string where) { where_ = std::move(where); }
  /// `what` is a sentence without its full stop.
  void complain(const std::string& what) {
    if (error_.empty()) error_ = where_ + ": " + what + ".";
  }
  void reject(const std::string& key, const json& value, const std::string& allowed) {
    complain(key + " is " + value_text(value) + ", but must be " + allowed);
  }
  const json* find(const std::string& key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  void allow_only(const json& object, const std::string& prefix, std::initializer_list<std::string_view> texts,
                  bool with_figures) {
    for (const auto& item : object.items()) {
      const std::string key = prefix + item.key();
      const auto is_figure = [&](const Figure& figure) { return figure.key == key; };
      if (std::find(texts.begin(), texts.end(), std::string_view(item.key())) != texts.end()) continue;
      if (with_figures && std::any_of(figures().begin(), figures().end(), is_figure)) continue;
      std::string allowed;
      for (const std::string_view text : texts) allowed.append(allowed.empty() ? "" : ", ").append(text);
      for (const Figure& figure : figures()) {
        if (!with_figures || figure.key.substr(0, prefix.size()) != prefix) continue;
        const std::string_view rest = figure.key.substr(prefix.size());
        if (rest.find('.') == std::string_view::npos) allowed.append(allowed.empty() ? "" : ", ").append(rest);
      }
      return complain("unknown key " + value_text(json(key)) + "; allowed are " + allowed);
    }
  }
  void text(const json& object, const std::string& key, const std::string& label, std::string& out, bool required) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) {
      if (required) complain(label + " is missing; it must be a text");
      return;
    }
    const bool good = it->is_string() && !it->get_ref<const std::string&>().empty() &&
                      it->get_ref<const std::string&>().size() <= max_label_bytes;
    if (!good) return reject(label, *it, "a text of 1 to " + std::to_string(max_label_bytes) + " bytes");
    out = it->get<std::string>();
    if (std::any_of(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
      reject(label, *it, "a text on one line without control characters");
  }
  bool number(const json& value, const Figure& figure, const std::string& label, double& out) {
    const bool in_range =
        value.is_number() && value.get<double>() >= figure.minimum && value.get<double>() <= figure.maximum;
    if (!in_range || (figure.integer && value.get<double>() != std::floor(value.get<double>()))) {
      reject(label, value,
             std::string(figure.integer ? "a whole number" : "a number") + " from " + short_number(figure.minimum) +
                 " to " + short_number(figure.maximum) + (figure.unit.empty() ? "" : " " + std::string(figure.unit)));
      return false;
    }
    out = value.get<double>();
    return true;
  }

 private:
  std::string where_, error_;
  const json& object_;
};

const json* member(const json& object, std::string_view dotted) {
  const json* at = &object;
  while (true) {
    const std::size_t dot = dotted.find('.');
    const auto it = at->find(std::string(dotted.substr(0, dot)));
    if (it == at->end() || it->is_null()) return nullptr;
    if (dot == std::string_view::npos) return &*it;
    if (!it->is_object()) return nullptr;  // reported where groups are checked
    at = &*it;
    dotted.remove_prefix(dot + 1);
  }
}

/// How closely a pattern of "sources" fits a figure: 3 the key itself, 2 "measured.*", 1 "*", 0 not at all.
int fit(std::string_view pattern, std::string_view key) {
  if (pattern == key) return 3;
  if (pattern == "*") return 1;
  const bool group = pattern.size() > 2 && pattern.substr(pattern.size() - 2) == ".*";
  return group && key.substr(0, pattern.size() - 1) == pattern.substr(0, pattern.size() - 1) ? 2 : 0;
}

std::map<std::string, std::string> read_sources(Reader& reader, const json& object, const json& references) {
  std::map<std::string, std::string> out;
  for (const auto& item : object.items()) {
    const std::string label = "sources." + item.key();
    const bool known =
        std::any_of(figures().begin(), figures().end(), [&](const Figure& f) { return fit(item.key(), f.key) > 0; });
    if (!known) reader.complain("unknown key " + value_text(json(label)) + "; allowed are figure keys, group.* and *");
    const json list = item.value().is_array() ? item.value() : json::array({item.value()});
    std::string text;
    for (const json& one : list) {
      if (!one.is_string() || one.get_ref<const std::string&>().empty()) {
        reader.reject(label, one, "the name of a reference or a text that says where the figure is from");
        break;
      }
      const std::string& name = one.get_ref<const std::string&>();
      const auto found = references.find(name);
      const bool listed = found != references.end() && found->is_string();
      text.append(text.empty() ? "" : "; ").append(listed ? found->get_ref<const std::string&>() : name);
    }
    out[item.key()] = text;
  }
  return out;
}

void expand_sources(Chip& chip, const std::map<std::string, std::string>& patterns) {
  for (const Figure& figure : figures()) {
    if (!figure_value(chip, figure.key)) continue;
    int best = 0;
    for (const auto& [pattern, text] : patterns) {
      const int quality = fit(pattern, figure.key);
      if (quality <= best) continue;
      best = quality;
      chip.sources[std::string(figure.key)] = text;
    }
  }
}

bool is_hardware_id(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Id, name and the other texts of a chip; and that each group of figures is an object.
void read_identity(Reader& reader, const json& object, const std::string& origin, Chip& chip) {
  reader.text(object, "id", "id", chip.id, true);
  if (reader.error().empty() && !is_hardware_id(chip.id))
    reader.reject("id", object["id"], "1 to 64 of a-z, 0-9 and _");
  if (reader.error().empty()) reader.rename(origin + ": chip \"" + chip.id + "\"");
  reader.allow_only(object, "",
                    {"id", "name", "short_name", "vendor", "architecture", "form_factor", "memory_type", "confidence",
                     "notes", "peak_flops_per_s", "interconnect", "measured", "price", "announced", "sources"},
                    true);
  reader.text(object, "name", "name", chip.name, true);
  chip.short_name = chip.name;
  chip.confidence = "user";
  reader.text(object, "short_name", "short_name", chip.short_name, false);
  reader.text(object, "vendor", "vendor", chip.vendor, false);
  reader.text(object, "architecture", "architecture", chip.architecture, false);
  reader.text(object, "form_factor", "form_factor", chip.form_factor, false);
  reader.text(object, "memory_type", "memory_type", chip.memory_type, false);
  reader.text(object, "confidence", "confidence", chip.confidence, false);
  for (const char* group : {"peak_flops_per_s", "interconnect", "measured", "price", "announced", "sources"})
    if (const json* value = reader.find(group); value && !value->is_object()) reader.reject(group, *value, "an object");
}

/// The keys of the groups of figures, and the texts among them.
void read_groups(Reader& reader, Chip& chip) {
  if (const json* value = reader.find("peak_flops_per_s")) reader.allow_only(*value, "peak_flops_per_s.", {}, true);
  if (const json* value = reader.find("interconnect")) reader.allow_only(*value, "interconnect.", {"name"}, true);
  if (const json* value = reader.find("measured")) reader.allow_only(*value, "measured.", {"note"}, true);
  if (const json* value = reader.find("price")) reader.allow_only(*value, "price.", {}, true);
  if (const json* value = reader.find("interconnect"))
    reader.text(*value, "name", "interconnect.name", chip.interconnect.name, false);
  if (const json* value = reader.find("measured"))
    reader.text(*value, "note", "measured.note", chip.measured.note, false);
}

void read_figures(Reader& reader, const json& object, Chip& chip) {
  bool any_peak = false;
  for (const Figure& figure : figures()) {
    const json* value = member(object, figure.key);
    double number = 0;
    if (value && reader.number(*value, figure, std::string(figure.key), number)) {
      set_figure(chip, figure.key, number);
      any_peak = any_peak || figure.key.substr(0, 17) == "peak_flops_per_s.";
    }
  }
  for (const char* key : {"memory_bytes", "memory_bandwidth_bytes_per_s"})
    if (!reader.find(key)) reader.complain(std::string(key) + " is missing; it must be a number above 0");
  if (!any_peak)
    reader.complain(
        "peak_flops_per_s is missing; it must hold at least one of fp64, fp64_matrix, fp32, tf32, fp16, bf16, fp8, "
        "fp6, fp4, int8");
}

void read_notes(Reader& reader, const json& notes, Chip& chip) {
  const json list = notes.is_array() ? notes : json::array({notes});
  for (const json& note : list) {
    std::string text;
    reader.text(json{{"notes", note}}, "notes", "notes", text, true);
    chip.notes.push_back(text);
  }
}

void read_announced(Reader& reader, const json& announced, Chip& chip) {
  for (const auto& item : announced.items()) {
    const auto figure =
        std::find_if(figures().begin(), figures().end(), [&](const Figure& f) { return f.key == item.key(); });
    double number = 0;
    if (figure == figures().end())
      reader.complain("unknown key " + value_text(json("announced." + item.key())) +
                      "; allowed are figure keys such as memory_bytes");
    else if (reader.number(item.value(), *figure, "announced." + item.key(), number))
      chip.announced[item.key()] = number;
  }
}

Result<Chip> read_chip(const json& object, const json& references, const std::string& origin, std::size_t position) {
  const std::string where = origin + ": chip " + std::to_string(position + 1);
  if (!object.is_object())
    return Result<Chip>::fail(where + " is " + value_text(object) +
                              ", but must be an object with id, name and figures.");
  Chip chip;
  Reader reader(where, object);
  read_identity(reader, object, origin, chip);
  if (!reader.error().empty()) return Result<Chip>::fail(reader.error());
  read_groups(reader, chip);
  read_figures(reader, object, chip);
  if (const json* notes = reader.find("notes")) read_notes(reader, *notes, chip);
  if (const json* announced = reader.find("announced")) read_announced(reader, *announced, chip);
  if (const json* sources = reader.find("sources")) expand_sources(chip, read_sources(reader, *sources, references));
  return reader.error().empty() ? Result<Chip>::ok(std::move(chip)) : Result<Chip>::fail(reader.error());
}

/// The top object of a hardware file, checked.
Result<json> parse_file(std::string_view text, const std::string& origin) {
  Result<json> file = parse_text(text, origin);
  if (!file) return file;
  if (!file->is_object())
    return Result<json>::fail(origin + " holds " + value_text(*file) +
                              ", but must hold a chip object or {\"chips\": [...]}.");
  if (file->contains("id")) {
    const char* list = file->contains("bytes_per_s_per_direction") ? "networks" : "chips";
    file = Result<json>::ok(json{{list, json::array({*file})}});
  }
  for (const auto& item : file->items()) {
    if (item.key() != "references" && item.key() != "chips" && item.key() != "networks")
      return Result<json>::fail(
          origin + ": unknown key " + value_text(json(item.key())) +
          "; allowed are references, chips and networks, or the keys of one chip or network with its id.");
    const bool object = item.key() == "references";
    if (object ? !item.value().is_object() : !item.value().is_array())
      return Result<json>::fail(origin + ": " + item.key() + " is " + value_text(item.value()) + ", but must be " +
                                (object ? "an object." : "a list."));
  }
  if (!file->contains("chips") && !file->contains("networks"))
    return Result<json>::fail(origin +
                              " holds neither chips nor networks; it must hold a chip object or {\"chips\": [...]}.");
  return file;
}

Result<Network> read_network(const json& object, const json& references, const std::string& origin,
                             std::size_t position) {
  const std::string where = origin + ": network " + std::to_string(position + 1);
  if (!object.is_object())
    return Result<Network>::fail(where + " is " + value_text(object) +
                                 ", but must be an object with id, name, kind and bytes_per_s_per_direction.");
  Network network;
  Reader reader(where, object);
  reader.allow_only(object, "", {"id", "name", "kind", "bytes_per_s_per_direction", "source"}, false);
  reader.text(object, "id", "id", network.id, true);
  reader.text(object, "name", "name", network.name, true);
  reader.text(object, "kind", "kind", network.kind, true);
  reader.text(object, "source", "source", network.source, true);
  if (reader.error().empty() && !is_hardware_id(network.id))
    reader.reject("id", object["id"], "1 to 64 of a-z, 0-9 and _");
  if (network.kind != "infiniband" && network.kind != "ethernet" && network.kind != "pcie")
    reader.reject("kind", object.value("kind", json()), "infiniband, ethernet or pcie");
  const json rate = object.value("bytes_per_s_per_direction", json());
  reader.number(rate, {"bytes_per_s_per_direction", "B/s", 1, 1e18, false}, "bytes_per_s_per_direction",
                network.bytes_per_s_per_direction);
  if (!reader.error().empty()) return Result<Network>::fail(reader.error());
  if (const auto found = references.find(network.source); found != references.end() && found->is_string())
    network.source = found->get<std::string>();
  return Result<Network>::ok(std::move(network));
}

template <class T, class Read>
Result<std::vector<T>> read_list(std::string_view text, std::string_view origin_view, const char* list, Read read) {
  const std::string origin(origin_view);
  const Result<json> file = parse_file(text, origin);
  if (!file) return Result<std::vector<T>>::fail(file.error);
  std::vector<T> out;
  const json references = file->value("references", json::object());
  const json items = file->value(list, json::array());
  std::set<std::string> ids;
  for (const json& item : items) {
    Result<T> one = read(item, references, origin, out.size());
    if (!one) return Result<std::vector<T>>::fail(one.error);
    if (!ids.insert(one->id).second)
      return Result<std::vector<T>>::fail(origin + ": id \"" + one->id + "\" appears twice in " + list +
                                          "; ids must differ.");
    out.push_back(std::move(*one));
  }
  return Result<std::vector<T>>::ok(std::move(out));
}

}  // namespace

Result<std::vector<Chip>> parse_chips(std::string_view json_text, std::string_view origin) {
  try {
    return read_list<Chip>(json_text, origin, "chips", read_chip);
  } catch (const std::bad_alloc&) {
    return Result<std::vector<Chip>>::fail(std::string(origin) + " does not fit into the memory that is free.");
  } catch (const std::exception&) {
    return Result<std::vector<Chip>>::fail(std::string(origin) +
                                           " could not be read; check that it is a complete hardware file.");
  }
}

Result<std::vector<Network>> parse_networks(std::string_view json_text, std::string_view origin) {
  try {
    return read_list<Network>(json_text, origin, "networks", read_network);
  } catch (const std::bad_alloc&) {
    return Result<std::vector<Network>>::fail(std::string(origin) + " does not fit into the memory that is free.");
  } catch (const std::exception&) {
    return Result<std::vector<Network>>::fail(std::string(origin) +
                                              " could not be read; check that it is a complete hardware file.");
  }
}

}  // namespace models
