#include "app/store/resume.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
constexpr int resume_version = 1;

models::Status take(const json& content, Resume& resume) {
  std::string fault;
  Reader top(content, "", fault);
  top.text("lesson", resume.lesson);
  top.text("drawer", resume.drawer);
  for (const auto& [id, step] : top.object("lesson_steps").items()) {
    if (step.is_number_integer() && step.get<std::int64_t>() >= 0)
      resume.lesson_steps[id] = step.get<std::int64_t>();
    else if (fault.empty())
      fault = "lesson_steps." + id + " is not a step";
  }
  for (const auto& [id, entry] : top.object("labs").items()) {
    LabResume lab;
    const bool whole = take_item(entry, "labs." + id, fault, [&](Reader& reader) {
      reader.text("inputs", lab.inputs);
      reader.text("view", lab.view);
      reader.integer("time_unix_s", lab.time_unix_s);
    });
    if (!whole) continue;
    LabResume& ours = resume.labs[id];
    if (lab.time_unix_s >= ours.time_unix_s) ours = std::move(lab);
  }
  return {std::move(fault)};
}

}  // namespace

LoadReport load(const std::filesystem::path& path, Resume& resume) {
  return load_json(path, resume_version, [&](const json& content) { return take(content, resume); });
}

SaveReport save(const std::filesystem::path& path, Resume& resume) {
  return save_merged(
      path, resume_version,
      [&](const json& content) {
        Resume theirs;
        const models::Status taken = take(content, theirs);
        for (auto& [id, lab] : theirs.labs) {
          LabResume& ours = resume.labs[id];
          if (lab.time_unix_s > ours.time_unix_s) ours = std::move(lab);
        }
        for (const auto& [id, step] : theirs.lesson_steps) resume.lesson_steps.try_emplace(id, step);
        return taken;
      },
      [&](json& content) {
        json labs = json::object();
        for (const auto& [id, lab] : resume.labs)
          labs[id] = {{"inputs", lab.inputs}, {"view", lab.view}, {"time_unix_s", lab.time_unix_s}};
        content = {{"labs", std::move(labs)},
                   {"lesson_steps", resume.lesson_steps},
                   {"lesson", resume.lesson},
                   {"drawer", resume.drawer}};
      });
}

}  // namespace app::store
