#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "chapters/serving/prefix_cache/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Few requests: each a column over its place in the tree, to which a thread leads.
namespace chapters::serving::prefix_cache {
namespace {

using widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Type;

constexpr double play_s = 7;  ///< what all requests take to come

/// The parts under each other, in screen pixels.
struct Parts {
  Rect key;
  ColumnPlace columns;
  Rect track, threads;
  ColumnPlace tree;
};
Parts parts_of(Rect area, const Picture& picture) {
  const auto& t = theme();
  const float key = area.height() > t.px(170) ? t.type(Type::small) + t.px(8) : 0,
              track = area.height() > t.px(150) ? t.px(14) : t.px(4), left = area.min.x + side_width(area.width());
  const float rest = std::max(1.0f, area.height() - key - track), n = rest * 0.40f, threads = rest * 0.18f;
  Parts out;
  out.key = {{left, area.min.y}, {area.max.x, area.min.y + key}};
  out.columns = {{{left, area.min.y + key}, {area.max.x, area.min.y + key + n}}, picture.columns.size()};
  const float base = out.columns.area.max.y;
  out.track = {{left, base}, {area.max.x, base + track}};
  out.threads = {{left, base + track}, {area.max.x, base + track + threads}};
  out.tree = {{{left, out.threads.max.y}, {area.max.x, area.max.y - t.px(2)}}, picture.columns.size()};
  return out;
}

std::size_t come(const Picture& picture, const View& view) {
  return static_cast<std::size_t>(std::clamp(view.after, 1.0, static_cast<double>(picture.columns.size())));
}

/// From a column down to its place in the tree.
void paint_thread(const Painter& p, const Parts& parts, const Picture& picture, std::size_t place, ImU32 colour,
                  float width) {
  std::array<ImVec2, 17> points;
  const float x0 = parts.columns.centre(place), x1 = parts.tree.centre(static_cast<std::size_t>(picture.thread[place]));
  for (std::size_t k = 0; k < points.size(); ++k) {
    const float s = static_cast<float>(k) / static_cast<float>(points.size() - 1), ease = s * s * (3 - 2 * s);
    points[k] = {x0 + (x1 - x0) * ease, parts.threads.min.y + parts.threads.height() * s};
  }
  p.polyline(points, colour, width);
}

void paint_threads(const Painter& p, const Parts& parts, const Picture& picture, std::size_t after, bool plain) {
  const auto& t = theme();
  for (std::size_t i = 0; i < picture.columns.size(); ++i) {
    const Column& c = picture.columns[i];
    const ImU32 hue = plain ? t.muted : c.recomputed > 0 ? t.bad : c.hit > 0 ? t.of(Meaning::kv_cache) : t.muted;
    paint_thread(p, parts, picture, i, widgets::with_alpha(hue, i < after ? 0.8f : 0.2f), t.px(1.2f));
  }
}

Rect place_of(const Parts& parts, const Picture& picture, const TreeBox& box) {
  const auto& t = theme();
  const ColumnPlace& tree = parts.tree;
  const float scale = tree.area.height() / static_cast<float>(picture.most_depth), half = tree.half();
  const float y0 = tree.area.min.y + scale * static_cast<float>(box.top),
              y1 = tree.area.min.y + scale * static_cast<float>(box.top + box.blocks);
  return {{tree.centre(static_cast<std::size_t>(box.from)) - half, y0},
          {tree.centre(static_cast<std::size_t>(std::max(box.to, box.from))) + half,
           std::min(tree.area.max.y, std::max(y0 + t.px(2), y1 - (y1 - y0 > t.px(4) ? 1.0f : 0)))}};
}

void paint_dashed_frame(const Painter& p, Rect r, ImU32 colour) {
  const std::array<ImVec2, 5> corners{r.min, ImVec2{r.max.x, r.min.y}, r.max, ImVec2{r.min.x, r.max.y}, r.min};
  p.dashed_polyline(corners, colour, 1, theme().px(4));
}

/// A node: what is in the cache is filled, what was there is dashed, what has not come yet is pale.
void paint_box(const Painter& p, Rect r, const TreeBox& box, std::int32_t kept, bool from_below, std::size_t after) {
  const auto& t = theme();
  if (static_cast<std::size_t>(box.first_place) >= after) return p.frame(r.min, r.max, t.grid);
  const float share = static_cast<float>(kept / std::max(1.0, box.blocks)), split = r.height() * share;
  Rect warm = r;
  if (from_below)
    warm.min.y = r.max.y - split;
  else
    warm.max.y = r.min.y + split;
  if (share < 1) paint_dashed_frame(p, r, t.muted);
  if (share > 0) p.rect(warm.min, warm.max, t.of(Meaning::kv_cache));
  Line words;
  words.add_integer(static_cast<std::int64_t>(box.blocks));
  const ImVec2 size = widgets::text_size(words.view(), Type::small, Font::mono);
  if (r.width() < size.x + t.px(6) || r.height() < size.y + t.px(4)) return;
  const float middle = (r.min.y + r.max.y) / 2;
  // Not over the edge between what is there and what is gone.
  const float edge = from_below ? warm.min.y : warm.max.y;
  const bool on_warm = share > 0 && middle >= warm.min.y && middle <= warm.max.y;
  if (share > 0 && share < 1 && std::abs(edge - middle) < size.y) return;
  p.text({(r.min.x + r.max.x) / 2, middle - size.y / 2}, words.view(),
         on_warm ? widgets::text_on(t.of(Meaning::kv_cache), t) : t.muted, Type::small, Font::mono, Align::center);
}

void paint_tree(const Painter& p, const Parts& parts, const Inputs& in, const Picture& picture, std::size_t after) {
  const auto& contents = picture.run->contents;
  if (after == 0 || after > contents.size()) return;
  const bool from_below = in.eviction == models::PrefixEviction::lru_root_first;
  for (const TreeBox& box : picture.boxes)
    paint_box(p, place_of(parts, picture, box), box, contents[after - 1][static_cast<std::size_t>(box.node)],
              from_below, after);
  widgets::drew("tree");
}

/// The request under the pointer, with its thread and its way through the tree.
void paint_followed(const Painter& p, const Parts& parts, const Picture& picture, std::size_t place) {
  const auto& t = theme();
  const float half = parts.columns.half(), x = parts.columns.centre(place);
  const float top =
      parts.columns.area.max.y -
      parts.columns.area.height() * static_cast<float>(picture.columns[place].blocks() / picture.most_blocks);
  p.frame({x - half - 1, top - 1}, {x + half + 1, parts.columns.area.max.y + 1}, t.text, t.px(1.5f), t.px(2));
  paint_thread(p, parts, picture, place, t.text, t.px(2));
  const std::int32_t along = picture.thread[place];
  for (std::int32_t node = picture.run->laid->tree.ends[static_cast<std::size_t>(picture.run->pass->order[place])];
       node >= 0; node = picture.run->laid->tree.nodes[static_cast<std::size_t>(node)].parent) {
    const TreeBox& box = picture.boxes[static_cast<std::size_t>(node)];
    if (box.from <= along && along <= box.to) {
      const Rect r = place_of(parts, picture, box);
      p.frame(r.min, r.max, t.text, t.px(1.5f));
    }
  }
}

/// By place the request, counted as they came, in the order that is set now.
std::vector<std::size_t> order_now(const Inputs& in, const Run& run) {
  const auto& base = run.laid->as_came.order;
  std::vector<std::size_t> out(base.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  const auto wanted = [&](std::size_t i) { return i < in.places.size() ? in.places[i] : static_cast<double>(i + 1); };
  if (in.order == Order::own)
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return wanted(a) < wanted(b); });
  if (in.order == Order::along_tree)
    std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      const auto& places = run.laid->tree_place;
      return places[static_cast<std::size_t>(base[a])] < places[static_cast<std::size_t>(base[b])];
    });
  return out;
}

/// Takes the request at one place out and puts it in at another.
void move_request(Inputs& in, const Run& run, std::size_t from, std::size_t to) {
  std::vector<std::size_t> order = order_now(in, run);
  if (from >= order.size() || to >= order.size()) return;
  const std::size_t moved = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), moved);
  in.places.resize(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) in.places[order[place]] = static_cast<double>(place + 1);
  in.order = Order::own;
}

/// The columns are dragged; returns the one under the pointer, or none.
std::optional<std::size_t> take_columns(Inputs& in, const Parts& parts, const Picture& picture, View& view) {
  ImGui::SetCursorScreenPos(parts.columns.area.min);
  widgets::press_area("requests", {parts.columns.area.width(), parts.columns.area.height()});
  const std::size_t under = parts.columns.at(ImGui::GetMousePos().x);
  if (ImGui::IsItemActivated() && ImGui::IsMouseDown(ImGuiMouseButton_Left))
    view.dragged = static_cast<std::int64_t>(under);
  if (!ImGui::IsItemActive()) view.dragged = -1;
  if (view.dragged >= 0 && static_cast<std::size_t>(view.dragged) != under) {
    move_request(in, *picture.run, static_cast<std::size_t>(view.dragged), under);
    view.dragged = static_cast<std::int64_t>(under);
  }
  if (!ImGui::IsItemHovered() && view.dragged < 0) return std::nullopt;
  if (view.dragged < 0) show_column_tip(picture, under);
  return under;
}

/// Says which node of the tree is under the pointer.
void take_tree(const Parts& parts, const Picture& picture, std::size_t after) {
  ImGui::SetCursorScreenPos(parts.tree.area.min);
  widgets::press_area("tree", {parts.tree.area.width(), parts.tree.area.height()});
  const auto& contents = picture.run->contents;
  if (!ImGui::IsItemHovered() || after > contents.size()) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const TreeBox& box : picture.boxes) {
    const Rect r = place_of(parts, picture, box);
    if (!r.contains(mouse)) continue;
    Line name, value, info;
    name.add("blocks ").add_integer(static_cast<std::int64_t>(box.top) + 1).add(" to ");
    name.add_integer(static_cast<std::int64_t>(box.top + box.blocks));
    value.add_integer(box.to - box.from + 1).add(box.to > box.from ? " requests go through" : " request goes through");
    info.add_integer(contents[after - 1][static_cast<std::size_t>(box.node)]).add(" in the cache now");
    widgets::tip(name.view(), value.view(), info.view());
    return;
  }
}

/// The dot on the line under the columns: how many requests have come.
void take_track(const Parts& parts, const Picture& picture, View& view) {
  const auto& t = theme();
  const auto n = static_cast<double>(picture.columns.size());
  ImGui::SetCursorScreenPos(parts.track.min);
  widgets::press_area("requests that have come", {parts.track.width(), parts.track.height()});
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    view.playback.playing = false;
    view.after = static_cast<double>(parts.columns.at(ImGui::GetMousePos().x)) + 1;
  }
  const auto keys = widgets::play_keys();
  if (keys.steps != 0) view.after = std::clamp(std::min(view.after, n) + keys.steps, 1.0, n);
  if (keys.play) {
    view.playback.time_s = std::min(view.after, n) / n * play_s;
    widgets::start_or_stop(view.playback, play_s);
  }
  if (ImGui::IsItemHovered())
    widgets::tip("requests that have come", {}, "drag: the tree shows the cache after that request; Space plays");
  const float y = (parts.track.min.y + parts.track.max.y) / 2, x = parts.columns.centre(come(picture, view) - 1);
  const Painter p = Painter::window();
  p.line({parts.track.min.x, y}, {parts.track.max.x, y}, t.line);
  p.circle({x, y}, t.px(5), t.accent);
  p.ring({x, y}, t.px(5), IM_COL32_WHITE, t.px(1.5f));
}

void add_requests_table(const Painter& p, const Picture& picture) {
  widgets::Record* record = p.record();
  if (!record) return;
  widgets::DataTable table{"requests", {"place", "blocks", "found", "recomputed", "computed first"}, {}};
  for (const Column& c : picture.columns)
    table.rows.push_back({std::to_string(c.first + 1), widgets::exact(c.blocks()), widgets::exact(c.hit),
                          widgets::exact(c.recomputed), widgets::exact(c.computed)});
  record->tables.push_back(std::move(table));
}

/// What a question gives: the prompts and what they share, without what is found.
void paint_given(const Parts& parts, const Picture& picture, Rect area) {
  const widgets::GivenMarks given;
  const Painter p = Painter::window();  // one made before it records nothing
  paint_column_outlines(p, parts.columns, picture);
  paint_threads(p, parts, picture, picture.columns.size(), true);
  for (const TreeBox& box : picture.boxes) {
    const Rect r = place_of(parts, picture, box);
    p.frame(r.min, r.max, theme().muted);
  }
  paint_side_words(p, {area.min.x, parts.columns.area.min.y}, side_width(area.width()) - theme().px(10),
                   picture.order_name, picture.given_words, "blocks asked for");
}

}  // namespace

void draw_requests(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Rect area = widgets::reserve(size, {16, 16});
  const Parts parts = parts_of(area, picture);
  if (widgets::veiled()) return paint_given(parts, picture, area);
  if (view.playback.playing) {
    widgets::advance(view.playback, play_s, static_cast<double>(ImGui::GetIO().DeltaTime));
    view.after = std::max(1.0, std::ceil(view.playback.time_s / play_s * static_cast<double>(picture.columns.size())));
  }
  const auto followed = take_columns(in, parts, picture, view);
  const std::size_t after = come(picture, view);
  const Painter p = Painter::window();
  if (parts.key.height() > 0) paint_key(p, parts.key.min, parts.key.width(), "drag a request to another place");
  paint_columns(p, parts.columns, picture, after);
  widgets::drew("requests");
  paint_threads(p, parts, picture, after, false);
  paint_tree(p, parts, in, picture, after);
  take_track(parts, picture, view);
  take_tree(parts, picture, after);
  if (followed && *followed < picture.thread.size()) paint_followed(p, parts, picture, *followed);
  const float room = side_width(size.x) - t.px(10);
  paint_side_words(p, {area.min.x, parts.columns.area.min.y}, room, picture.order_name, picture.computed,
                   "blocks computed");
  paint_side_words(p, {area.min.x, parts.tree.area.min.y}, room, "The tree", picture.tree_words, "distinct blocks");
  add_requests_table(p, picture);
}

}  // namespace chapters::serving::prefix_cache
