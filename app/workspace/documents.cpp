#include "app/workspace/documents.h"

namespace app {

void Documents::load(Messages& messages) {
  if (!folders) return messages.say(folders.error);
  messages.say_if_any(settings.load(folders->config / "settings.json"));
  messages.say_if_any(progress.load(folders->data / "progress.json"));
  messages.say_if_any(notes.load(folders->data / "notes.json"));
  messages.say_if_any(kept.load(folders->data / "kept.json"));
  messages.say_if_any(recent.load(folders->state / "recent.json"));
  messages.say_if_any(resume.load(folders->state / "resume.json"));
  messages.say_if_any(files.load(folders->state / "files.json"));
}

template <class T>
void Documents::save(Stored<T>& document, const std::filesystem::path UserPaths::*folder, std::string_view name,
                     Messages& messages) {
  if (folders) messages.say_if_any(document.save((*folders).*folder / name));
}

void Documents::save_settings(Messages& messages) { save(settings, &UserPaths::config, "settings.json", messages); }
void Documents::save_progress(Messages& messages) { save(progress, &UserPaths::data, "progress.json", messages); }
void Documents::save_notes(Messages& messages) { save(notes, &UserPaths::data, "notes.json", messages); }
void Documents::save_kept(Messages& messages) { save(kept, &UserPaths::data, "kept.json", messages); }
void Documents::save_resume(Messages& messages) { save(resume, &UserPaths::state, "resume.json", messages); }

void Documents::save_all_but_resume(Messages& messages) {
  save_settings(messages);
  save_progress(messages);
  save(recent, &UserPaths::state, "recent.json", messages);
  save(files, &UserPaths::state, "files.json", messages);
  save_notes(messages);
  if (kept.unsaved) save_kept(messages);
}

bool Documents::anything_unsaved() const {
  return settings.unsaved || progress.unsaved || recent.unsaved || files.unsaved || notes.unsaved || kept.unsaved ||
         resume.unsaved;
}

}  // namespace app
