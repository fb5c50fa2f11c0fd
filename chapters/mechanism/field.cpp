#include "chapters/mechanism/field.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace chapters {

bool FileInput::operator==(const FileInput& o) const {
  if (path != o.path || text != o.text || (bytes == nullptr) != (o.bytes == nullptr)) return false;
  return bytes == o.bytes || (bytes->size_bytes == o.bytes->size_bytes && bytes->modified_ns == o.bytes->modified_ns);
}

namespace {

int index_of(const Choices& options, std::string_view id) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const Choice& c) { return c.id == id; });
  return at == options.end() ? -1 : static_cast<int>(at - options.begin());
}

}  // namespace

double Field::number() const {
  switch (kind) {
    case Kind::real:
      return real();
    case Kind::integer:
      return static_cast<double>(integer());
    case Kind::toggle:
      return toggle() ? 1 : 0;
    case Kind::choice:
      return enum_ ? enum_->get(slot_) : index_of(*options, choice_id());
    default:
      assert(false);
      return 0;
  }
}

void Field::set_number(double v) const {
  switch (kind) {
    case Kind::real:
      real() = v;
      return;
    case Kind::integer:
      integer() = std::llround(v);
      return;
    case Kind::toggle:
      toggle() = v != 0;
      return;
    case Kind::choice: {
      const auto i = static_cast<std::size_t>(v);
      if (v >= 0 && i < options->size()) set_choice_id((*options)[i].id);
      return;
    }
    default:
      assert(false);
  }
}

double& Field::real() const {
  assert(kind == Kind::real);
  return *static_cast<double*>(slot_);
}
std::int64_t& Field::integer() const {
  assert(kind == Kind::integer);
  return *static_cast<std::int64_t*>(slot_);
}
bool& Field::toggle() const {
  assert(kind == Kind::toggle);
  return *static_cast<bool*>(slot_);
}
std::string& Field::text() const {
  assert(kind == Kind::text);
  return *static_cast<std::string*>(slot_);
}
FileInput& Field::file() const {
  assert(kind == Kind::file);
  return *static_cast<FileInput*>(slot_);
}
std::vector<double>& Field::reals() const {
  assert(kind == Kind::reals);
  return *static_cast<std::vector<double>*>(slot_);
}
std::vector<std::string>& Field::chosen() const {
  assert(kind == Kind::choices);
  return *static_cast<std::vector<std::string>*>(slot_);
}

std::string_view Field::choice_id() const {
  assert(kind == Kind::choice);
  if (!enum_) return *static_cast<std::string*>(slot_);
  const auto i = static_cast<std::size_t>(enum_->get(slot_));
  return i < options->size() ? std::string_view((*options)[i].id) : std::string_view();
}

bool Field::set_choice_id(std::string_view id) const {
  assert(kind == Kind::choice);
  const int i = index_of(*options, id);
  if (i < 0) return false;
  if (enum_)
    enum_->set(slot_, i);
  else
    *static_cast<std::string*>(slot_) = id;
  return true;
}

std::size_t Field::table_size() const {
  assert(kind == Kind::table);
  return table_->size(slot_);
}
void Field::table_resize(std::size_t rows) const {
  assert(kind == Kind::table);
  table_->resize(slot_, rows);
}
void Field::table_row(std::size_t row, Fields& out) const {
  assert(kind == Kind::table && row < table_size());
  out.clear();
  table_->row(slot_, row, out);
}
void Field::table_columns(Fields& out) const {
  assert(kind == Kind::table);
  out.clear();
  table_->columns(out);
}

const Field* Fields::find(std::string_view key) const {
  const auto at = std::find_if(fields_.begin(), fields_.end(), [&](const Field& f) { return f.key == key; });
  return at == fields_.end() ? nullptr : &*at;
}

Field& Fields::add(std::string_view key, Kind kind, void* slot, Label label, std::string_view help,
                   const Details& details) {
  Field f;
  f.key = key;
  f.kind = kind;
  f.spec = {details, label.text, label.unit, help};
  f.spec.may_be_missing |= !details.absent.empty();
  if (f.spec.when.empty()) f.spec.when = f.spec.mode;
  f.slot_ = slot;
  f.group = group_;
  fields_.push_back(f);
  return fields_.back();
}

bool holds(const When& when, const Fields& inputs) {
  const Field* f = when.empty() ? nullptr : inputs.find(when.key);
  if (!f) return true;
  // What an input says counts only where that input itself counts.
  if (f->spec.when.key != when.key && !holds(f->spec.when, inputs)) return false;
  if (f->kind == Kind::toggle) return f->toggle() == (when.value == "true");
  if (f->kind == Kind::file) return f->file().path.empty() == when.value.empty();
  if (f->kind == Kind::text) return f->text().empty() == when.value.empty();
  if (f->kind != Kind::choice) return true;
  for (std::string_view rest = when.value; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('|'));
    if (one == f->choice_id()) return true;
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return false;
}

}  // namespace chapters
