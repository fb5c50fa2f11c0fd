#include "app/store/notes.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
using Texts = std::map<std::string, std::string, std::less<>>;
constexpr int notes_version = 1;

models::Status take(const json& content, Texts& texts) {
  std::string fault;
  Reader top(content, "", fault);
  const json& labs = top.object("labs");
  Reader reader(labs, "labs", fault);
  for (const auto& item : labs.items()) {
    std::string text;
    reader.text(item.key().c_str(), text);
    if (!text.empty()) texts[item.key()] = std::move(text);
  }
  return {std::move(fault)};
}

}  // namespace

const std::string& Notes::of(std::string_view lab) const {
  const auto found = texts_.find(lab);
  return found == texts_.end() ? none_ : found->second;
}

void Notes::set(std::string_view lab, std::string markdown) {
  if (of(lab) == markdown) return;
  changed_.emplace(lab);
  ++edits_;
  if (markdown.empty())
    texts_.erase(texts_.find(lab));
  else
    texts_.insert_or_assign(std::string(lab), std::move(markdown));
}

LoadReport Notes::load(const std::filesystem::path& path) {
  Texts found;
  LoadReport report = load_json(path, notes_version, [&](const json& content) { return take(content, found); });
  for (const std::string& lab : changed_) {
    found.erase(lab);
    if (const auto ours = texts_.find(lab); ours != texts_.end()) found.insert(*ours);
  }
  if (report.found != Found::nothing && report.may_save()) texts_ = std::move(found);
  return report;
}

SaveReport Notes::save(const std::filesystem::path& path) {
  Texts merged;
  bool whole = false;
  SaveReport report = save_merged(
      path, notes_version,
      [&](const json& content) {
        auto taken = take(content, merged);
        whole = static_cast<bool>(taken);
        return taken;
      },
      [&](json& content) {
        // A file that is gone or was bad must not take with it what this instance still knows of other labs.
        if (!whole) merged.insert(texts_.begin(), texts_.end());
        for (const std::string& lab : changed_) {
          merged.erase(lab);
          if (const auto ours = texts_.find(lab); ours != texts_.end()) merged.insert(*ours);
        }
        content["labs"] = merged;
      });
  if (report.saved) {
    texts_ = std::move(merged);
    changed_.clear();
  }
  return report;
}

}  // namespace app::store
