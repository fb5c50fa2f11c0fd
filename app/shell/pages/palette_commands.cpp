#include <algorithm>

#include "app/content/paper.h"
#include "app/scenario/scenario.h"
#include "app/shell/program_export.h"
#include "app/shell/shell.h"
#include "app/shell/stage_area.h"
#include "chapters/mechanism/registry.h"

/// What the palette offers.
namespace app {
namespace {

void add_labs(Shell& shell, std::vector<Command>& out) {
  for (const FileTaker& lab : shell.workspace.labs()) {
    if (lab.copy->info().hidden) continue;
    const std::string slug = lab.lab.substr(lab.lab.find('/') + 1);
    out.push_back({.label = lab.title + "  (" + lab.lab + ")",
                   .shortcut = "lab",
                   .run = [id = lab.lab](Shell& s) { s.workspace.open(id); },
                   .kind = FoundKind::lab,
                   .name = lab.title,
                   .known_as = {lab.lab, slug}});
  }
}

void add_presets(Shell& shell, std::vector<Command>& out) {
  for (const FileTaker& lab : shell.workspace.labs()) {
    if (lab.copy->info().hidden) continue;
    for (const Preset& preset : shell.workspace.content.of(lab.lab).presets)
      out.push_back({.label = lab.title + ": " + preset.name,
                     .shortcut = "preset",
                     .run =
                         [id = lab.lab, preset](Shell& s) {
                           s.workspace.open(id);
                           s.workspace.say_failure(s.workspace.apply_preset(preset));
                         },
                     .kind = FoundKind::preset,
                     .name = preset.name,
                     .known_as = {lab.title + ": " + preset.name}});
  }
}

/// " (The roofline)" for the lesson of a chapter.
std::string chapter_of_lesson(const Shell& shell, std::string_view id) {
  for (const CurriculumChapter& chapter : shell.workspace.content.curriculum)
    if (id == chapter.slug || (id.starts_with(chapter.slug) && id[chapter.slug.size()] == '-'))
      return " (" + chapter.title + ")";
  return {};
}

void add_tests(Shell& shell, std::vector<Command>& out) {
  for (const CurriculumChapter& chapter : shell.workspace.content.curriculum)
    if (has_test(chapter.slug))
      out.push_back({.label = "Chapter test: " + chapter.title,
                     .shortcut = "test",
                     .run = [slug = chapter.slug](Shell& s) { open_chapter_test(s, slug); },
                     .kind = FoundKind::lesson,
                     .known_as = {"test " + chapter.title, "exam " + chapter.title}});
}

void add_lessons(Shell& shell, std::vector<Command>& out) {
  const auto& lessons = shell.workspace.content.lessons;
  for (std::size_t i = 0; i < lessons.size(); ++i)
    out.push_back({.label = (lessons[i].own ? "Play your lesson: " : "Play lesson: ") + lessons[i].title +
                            chapter_of_lesson(shell, lessons[i].id),
                   .shortcut = lessons[i].own ? "your lesson" : "lesson",
                   .run = [i](Shell& s) { lesson_go(s, i, 0); },
                   .kind = FoundKind::lesson,
                   .name = lessons[i].title,
                   .known_as = {"lesson", "play lesson: " + lessons[i].title}});
}

/// Opens the drawer at one of its tabs.
Command tab_command(const char* label, Drawer tab, std::vector<std::string> known_as) {
  return {.label = label,
          .run =
              [tab](Shell& s) {
                if (s.page != Page::lab) s.workspace.open(s.workspace.lab().info().id);
                s.presentation = false;
                s.drawer = tab;
                s.drawer_open = true;
              },
          .known_as = std::move(known_as)};
}

void add_commands(Shell& shell, std::vector<Command>& out) {
  for (const Command& c : shortcut_commands())
    if (!c.can || c.can(shell)) out.push_back(c);
  const chapters::Lab& lab = shell.workspace.lab();
  const auto& questions = shell.workspace.content.of(lab.info().id).predictions;
  if (question_open(shell))
    out.push_back({.label = "Show the answer without a guess",
                   .run = show_without_guess,
                   .known_as = {"reveal", "answer", "unveil"}});
  else if (!questions.empty())
    out.push_back({.label = "Predict: ask me a question of this lab",
                   .run =
                       [](Shell& s) {
                         if (s.page != Page::lab) s.workspace.open(s.workspace.lab().info().id);
                         ask_question(s, first_unanswered(s));
                       },
                   .known_as = {"ask", "question", "quiz", "guess"}});
  out.push_back(tab_command("Predict: this lab's questions", Drawer::predict, {"questions"}));
  out.push_back(tab_command("Concept", Drawer::concept_, {"explain", "theory"}));
  out.push_back(tab_command("Claims that are checked", Drawer::claims, {"check"}));
  out.push_back(tab_command("Measured: published figures next to the model's", Drawer::measured, {"published"}));
  out.push_back(
      tab_command("Explore: sweep, sensitivity, solve, compare", Drawer::explore, {"sweep", "solve", "compare"}));
  out.push_back(tab_command("Notes", Drawer::notes, {"write"}));
  out.push_back(
      {.label = "Glossary", .shortcut = "page", .run = [](Shell& s) { open_glossary(s, ""); }, .known_as = {"terms"}});
  const auto add_export = [&](std::string label, ExportKind kind, const char* suffix,
                              std::vector<std::string> known_as) {
    out.push_back({.label = std::move(label),
                   .run = [kind, suffix](Shell& s) { ask_export(s, kind, suffix); },
                   .known_as = std::move(known_as)});
  };
  add_export("Export picture (SVG)", ExportKind::svg, ".svg", {"save picture", "drawing"});
  add_export("Export data (CSV)", ExportKind::csv, ".csv", {"save data", "table"});
  add_export("Export data, one row an observation (CSV)", ExportKind::long_csv, "-long.csv",
             {"long form", "tidy data"});
  if (is_drawn_beside(shell, ExportKind::picture_light)) {
    add_export("Export picture alone, twice the pixels, light (PNG)", ExportKind::picture_light, "-light.png",
               {"slide", "hero", "poster"});
    add_export("Export picture alone, twice the pixels, dark (PNG)", ExportKind::picture_dark, "-dark.png",
               {"slide", "hero", "poster"});
    out.push_back({.label = "Export handout of this chapter (HTML, for paper)",
                   .run = [](Shell& s) { ask_where(s, ExportKind::handout, open_chapter_slug(s) + "-handout.html"); },
                   .known_as = {"print", "worksheet", "paper"}});
  }
  add_export("Export scenario (JSON)", ExportKind::scenario, ".json", {"save", "save scenario", "share"});
  if (const auto document = lab.info().document; document == printed_document) {
    add_export("Export page for A4 (PDF)", ExportKind::document, "-page.pdf", {"print", "paper"});
    add_export("Export page for A4, a drawing a page (SVG)", ExportKind::document, "-page.svg", {"print", "paper"});
    add_export("Export page as text (Markdown)", ExportKind::document, "-page.md", {"notes", "save document"});
  } else if (!document.empty())
    add_export("Export " + std::string(document) + " (JSON)", ExportKind::document, "-data.json", {"save document"});
  out.push_back({.label = "My record: a page that prints",
                 .run = [](Shell& s) { ask_record(s); },
                 .known_as = {"record", "print", "certificate", "what I did"}});
  out.push_back(
      {.label = "Keep my scenario from lab to lab",
       .run = [](Shell& s) { s.workspace.settings.keep_my_scenario = !s.workspace.settings.keep_my_scenario; },
       .known_as = {"settings", "preferences"}});
}

/// Inputs and outputs by their labels. Choosing one opens its lab, where the inspector marks it.
void add_fields(Shell& shell, std::vector<Command>& out) {
  const auto add = [&](const FileTaker& lab, const chapters::Field& f, FoundKind kind) {
    out.push_back({.label = std::string(f.spec.label) + "  (" + lab.title + ")",
                   .shortcut = kind == FoundKind::output ? "output" : "input",
                   .run = [id = lab.lab, key = std::string(f.key)](Shell& s) { seek_field(s, id, key); },
                   .kind = kind,
                   .name = std::string(f.spec.label),
                   .known_as = {lab.title + " " + std::string(f.spec.label)}});
  };
  for (const FileTaker& lab : shell.workspace.labs()) {
    if (lab.copy->info().hidden) continue;
    for (const chapters::Field& f : lab.copy->outputs())
      if (f.kind != chapters::Kind::table && !f.spec.label.empty()) add(lab, f, FoundKind::output);
    for (const chapters::Field& f : lab.copy->inputs())
      if (!is_personal(f) && f.spec.origin != chapters::Origin::measured && !f.spec.label.empty())
        add(lab, f, FoundKind::input);
  }
}

}  // namespace

void ask_export(Shell& s, ExportKind kind, const char* extension, ImGuiID panel) {
  std::string name(s.workspace.lab().info().id);
  std::replace(name.begin(), name.end(), '/', '-');
  s.export_panel = panel;
  ask_where(s, kind, name + extension);
}

void seek_field(Shell& shell, std::string_view lab, std::string_view key) {
  shell.presentation = false;
  shell.workspace.open(lab);
  shell.sought = {std::string(lab), std::string(key), shell.workspace.current().edits(), true};
  if (shell.narrow) shell.slide_over = true;
}

std::vector<Command> all_commands(Shell& shell) {
  std::vector<Command> out;
  add_labs(shell, out);
  add_commands(shell, out);
  add_lessons(shell, out);
  add_tests(shell, out);
  add_presets(shell, out);
  for (const auto& past : shell.workspace.recent.all())
    out.push_back(
        {.label = past.title,
         .shortcut = "recent",
         .run = [scenario = past.scenario](Shell& s) { s.workspace.say_failure(s.workspace.open_scenario(scenario)); },
         .kind = FoundKind::recent});
  for (const Term& term : shell.workspace.content.glossary)
    out.push_back({.label = term.term + ": " + term.meaning,
                   .shortcut = "term",
                   .run = [name = term.term](Shell& s) { open_glossary(s, name); },
                   .kind = FoundKind::term,
                   .name = term.term,
                   .known_as = term.also});
  add_fields(shell, out);
  return out;
}

}  // namespace app
