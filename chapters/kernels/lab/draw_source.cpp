#include <algorithm>
#include <cstdio>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"

/// The source of a rung beside its figures, with the lines that changed; sources for a GPU can be edited, compiled and
/// run.
namespace chapters::kernels::lab {
namespace {

using widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

/// A note under the source; returns its height in px. `paint` off measures alone.
float paint_note(const Painter& p, ImVec2 at, std::string_view text, float width, ImU32 colour, bool paint = true) {
  const float size = theme().type(Type::small);
  return widgets::wrapped_text(p, at, text, std::max(width, size * 4), colour,
                               {.line_px = size * 1.35f, .paint = paint});
}

int grow(ImGuiInputTextCallbackData* data) {
  if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
  auto& text = *static_cast<std::string*>(data->UserData);
  text.resize(static_cast<std::size_t>(data->BufTextLen));
  data->Buf = text.data();
  return 0;
}

/// Lines with numbers; changed ones on green with a plus, those the compiler complains of on red with its words under
/// them.
void paint_lines(std::span<const SourceLine> lines, std::span<const Note> notes, ImVec2 size) {
  const auto& t = theme();
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0u);
  if (ImGui::BeginChild("source lines", size, ImGuiChildFlags_None, ImGuiWindowFlags_HorizontalScrollbar)) {
    const Painter p = Painter::window();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = t.type(Type::small) * 1.4f, gutter = t.px(36),
                right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
    const float top = ImGui::GetWindowPos().y - line, bottom = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
    const float left = ImGui::GetWindowPos().x;
    float y = at.y, widest = 0;
    // Where nearly everything is new a plus says it; a green page says nothing.
    const auto changed = std::count_if(lines.begin(), lines.end(), [](const SourceLine& l) { return l.changed; });
    const bool wash = 4 * static_cast<std::size_t>(changed) <= 3 * lines.size();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i) + 1;
      const auto about = [&](const Note& n) { return n.line == number; };
      const bool complained =
          std::any_of(notes.begin(), notes.end(), [&](const Note& n) { return about(n) && n.error; });
      const bool visible = y > top && y < bottom;
      if (visible) {
        if (complained || (wash && lines[i].changed))
          p.rect({left, y - 1}, {right, y + line - 1}, widgets::with_alpha(complained ? t.bad : t.good, 0.16f));
        char shown[16];
        std::snprintf(shown, sizeof shown, "%d", static_cast<int>(number));
        p.text({at.x + gutter - t.px(16), y}, shown, wash && lines[i].changed ? t.text : t.muted, Type::small,
               Font::mono, widgets::Align::right);
        if (complained || lines[i].changed)
          p.text({at.x + gutter - t.px(12), y}, complained ? "!" : "+",
                 complained ? t.bad
                 : wash     ? t.text
                            : t.good,
                 Type::small, Font::mono);
        if (!lines[i].text.empty()) p.text({at.x + gutter, y}, lines[i].text, t.text, Type::small, Font::mono);
      }
      if (!lines[i].text.empty()) widest = std::max(widest, static_cast<float>(lines[i].text.size()));
      y += line;
      for (const Note& n : notes) {
        if (!about(n)) continue;
        if (y > top && y < bottom && !n.text.empty())
          p.text({at.x + gutter + t.px(10), y}, n.text, n.error ? t.bad : t.warning, Type::small);
        y += line;
      }
    }
    for (const Note& n : notes) {  // of no line of this text
      if (n.line >= 1 && n.line <= static_cast<std::int64_t>(lines.size())) continue;
      if (!n.text.empty()) p.text({at.x + t.px(4), y}, n.text, n.error ? t.bad : t.warning, Type::small);
      y += line;
    }
    ImGui::Dummy({gutter + widest * widgets::text_size("0", Type::small, Font::mono).x, y - at.y + t.px(2)});
  }
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

/// What is edited belongs to this rung?
bool edits(const Run& run, const View& view) {
  const std::string_view ladder = run.ladder->id, rung = run.rung().id, both = view.edited_rung;
  return both.size() == ladder.size() + 1 + rung.size() && both.starts_with(ladder) && both.ends_with(rung);
}

constexpr std::string_view reads_files =
    "This text has an #include: compiling it reads that file of this machine, and what the compiler says may show "
    "lines of it. Read the text before you compile what somebody else wrote.";

/// The row of buttons of a source that can be edited.
void draw_editor_tools(const Inputs& in, const Outputs& out, const Run& run, View& view, bool mine) {
  const float gap = theme().px(6);
  const ::kernels::Rung& rung = run.rung();
  if (view.editing && mine) {
    if (tool("Compile and run", !view.requests.running, true)) {
      view.requests.work = run_request(in, out, run, false, &view);
      view.editing = false;
    }
    ImGui::SameLine(0, gap);
    if (tool("Done", true)) view.editing = false;
    return;
  }
  if (rung.entry.empty()) return;  // what the host does is a part of the program
  if (tool("Edit", true)) {
    if (!mine) {
      view.edited_rung = std::string(run.ladder->id) + "/" + std::string(rung.id);
      view.edited_source = rung.source;
    }
    view.editing = true;
  }
  if (!mine) return;
  ImGui::SameLine(0, gap);
  if (tool("Compile and run", !view.requests.running)) view.requests.work = run_request(in, out, run, false, &view);
  ImGui::SameLine(0, gap);
  if (tool("Original", true)) {
    view.edited_rung.clear();
    view.edited_source.clear();
    view.editing = false;
  }
}

/// The rung's name, and with `counted` how many of its lines are new.
void paint_title(const Painter& p, const Run& run, std::int64_t changed_lines, bool counted, ImVec2 at, float room) {
  const auto& t = theme();
  widgets::Line title;
  title.add("Rung ").add_integer(static_cast<std::int64_t>(run.selected) + 1).add(", ").add(run.rung().title);
  p.text_fit(at, title.view(), room, t.text, Type::small);
  const float taken = widgets::text_size(title.view(), Type::small).x + t.px(12);
  if (!counted || room - taken <= t.px(60)) return;
  widgets::Line words;
  if (run.selected == 0)
    words.add("where the ladder begins");
  else
    words.add_integer(changed_lines)
        .add(changed_lines == 1 ? " line is not in the rung before" : " lines are not in the rung before");
  p.text_fit({at.x + taken, at.y}, words.view(), room - taken, t.muted, Type::small);
}

}  // namespace

void draw_source(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const Run& run = *picture.run;
  const SourcePicture& source = picture.source;
  const float width = size.x, height = size.y;
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = t.px(12);
  p.rect(at, {at.x + width, at.y + height}, t.card, t.px(8));
  const ::kernels::Rung& rung = run.rung();
  const bool editable = ::kernels::is_gpu(run.ladder->device), mine = editable && edits(run, view);
  paint_title(p, run, out.rung.changed_lines, !mine, {at.x + pad, at.y + t.px(8)}, width - 2 * pad);
  float y = at.y + t.px(28);
  if (editable) {
    ImGui::SetCursorScreenPos({at.x + pad, y});
    draw_editor_tools(in, out, run, view, mine);
    y += ImGui::GetFrameHeight() + t.px(6);
  }
  // From the bottom up: why the next rung is faster, then what the compiler or the run said.
  const float inner = width - 2 * pad;
  const std::string_view report = mine                      ? std::string_view(source.edited_text)
                                  : !source.failure.empty() ? std::string_view(source.failure)
                                                            : std::string_view(source.report_text);
  const float next = paint_note(p, {}, source.next_text, inner, t.muted, false),
              said = report.empty() ? 0 : paint_note(p, {}, report, inner, t.text, false) + t.px(4);
  // GLSL has no way to read a file.
  const bool warned = mine && run.ladder->device == ::kernels::Device::cuda && asks_for_files(view.edited_source);
  const float warning = warned ? paint_note(p, {}, reads_files, inner, t.warning, false) + t.px(4) : 0;
  const float foot = at.y + height - t.px(8) - next, above = foot - said;
  p.line({at.x + pad, above - warning - t.px(6)}, {at.x + width - pad, above - warning - t.px(6)}, t.line);
  if (warned) paint_note(p, {at.x + pad, above - warning}, reads_files, inner, t.warning);
  paint_note(p, {at.x + pad, foot}, source.next_text, inner, t.muted);
  if (said > 0)
    paint_note(p, {at.x + pad, foot - said}, report, inner,
               !mine && !source.failure.empty() && !run.rungs[run.selected].checked ? t.bad : t.text);
  const ImVec2 room{width - pad - t.px(4), std::max(above - warning - t.px(10) - y, t.px(40))};
  ImGui::SetCursorScreenPos({at.x + t.px(4), y});
  if (mine && view.editing) {
    ImGui::PushFont(widgets::font_of(Font::mono), t.type(Type::small));
    ImGui::InputTextMultiline(
        "##editor", view.edited_source.data(), view.edited_source.capacity() + 1, {room.x + t.px(4), room.y},
        ImGuiInputTextFlags_AllowTabInput | ImGuiInputTextFlags_CallbackResize, grow, &view.edited_source);
    ImGui::PopFont();
  } else {
    if (mine) refresh_edited_lines(rung.source, view);
    const bool of_this_text = mine == source.edited_result;  // the compiler's lines are those of the text that it saw
    paint_lines(mine ? std::span<const SourceLine>(view.shown_lines) : std::span<const SourceLine>(source.lines),
                of_this_text ? std::span<const Note>(source.notes) : std::span<const Note>(), room);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
}

}  // namespace chapters::kernels::lab
