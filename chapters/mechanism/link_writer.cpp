#include "chapters/mechanism/link_writer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "chapters/mechanism/list_text.h"
#include "chapters/mechanism/registry.h"
#include "widgets/base/parts.h"

namespace chapters {

std::string in_link(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char ch : text) {
    const auto c = static_cast<unsigned char>(ch);
    if (std::isalnum(c) || std::string_view("-_./,:[]").find(ch) != std::string_view::npos)
      out += ch;
    else
      out += {'%', hex[c >> 4], hex[c & 15]};
  }
  return out;
}

LinkWriter::LinkWriter(std::string_view lab) : lab_(make_lab_by_id(lab)), text_(lab) {}

void LinkWriter::number(std::string_view key, double value) {
  const Field* f = find(key);
  if (!f || !f->is_number() || !std::isfinite(value)) return;
  const double inside = std::clamp(value, f->spec.range.lo, f->spec.range.hi);
  put(key, widgets::exact(f->kind == Kind::integer ? std::round(inside) : inside));
}

void LinkWriter::exactly(std::string_view key, double value) {
  const Field* f = find(key);
  if (!f || !std::isfinite(value) || value < f->spec.range.lo || value > f->spec.range.hi) {
    if (missed_.empty()) missed_ = f ? std::string(f->spec.label) : std::string(key);
  } else
    number(key, value);
}

void LinkWriter::numbers(std::string_view key, std::span<const double> values) {
  const Field* f = find(key);
  if (!f || f->kind != Kind::reals) return;
  std::vector<double> inside;
  for (const double value : values) inside.push_back(std::clamp(value, f->spec.range.lo, f->spec.range.hi));
  put(key, list_text(inside));
}

void LinkWriter::choice(std::string_view key, std::string_view id) {
  const Field* f = find(key);
  if (!f || f->kind != Kind::choice || !f->options) return;
  if (std::any_of(f->options->begin(), f->options->end(), [&](const Choice& c) { return c.id == id; })) put(key, id);
}

void LinkWriter::toggle(std::string_view key, bool on) {
  if (const Field* f = find(key); f && f->kind == Kind::toggle) put(key, on ? "true" : "false");
}

void LinkWriter::words(std::string_view key, std::string_view text) {
  if (const Field* f = find(key); f && f->kind == Kind::text) put(key, in_link(text));
}

void LinkWriter::rows(std::string_view key, std::string_view json) {
  if (const Field* f = find(key); f && f->kind == Kind::table) put(key, in_link(json));
}

models::Result<std::string> LinkWriter::link() const {
  using Link = models::Result<std::string>;
  if (!missed_.empty()) return Link::fail("\"" + missed_ + "\" of this plan is beyond what that lab takes.");
  return Link::ok(text());
}

const Field* LinkWriter::find(std::string_view key) const { return lab_ ? lab_->inputs().find(key) : nullptr; }

void LinkWriter::put(std::string_view key, std::string_view value) {
  text_ += text_.find('?') == std::string::npos ? '?' : '&';
  text_ += std::string(key) + '=' + std::string(value);
}

}  // namespace chapters
