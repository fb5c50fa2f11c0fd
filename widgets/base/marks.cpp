#include "widgets/base/marks.h"

#include <imgui.h>

#include <algorithm>

namespace widgets {
namespace {

const Rect* veil_of_body = nullptr;
std::vector<std::string_view>* drawn_by_body = nullptr;
bool body_gave = false, giving = false;
std::size_t tables_before = 0;  // of the record, which keeps what is painted as given and none of its data

}  // namespace

bool veiled() { return veil_of_body != nullptr; }
bool given_now() { return giving; }

GivenMarks::GivenMarks() : shown_(veil_of_body && !giving) {
  if (!shown_) return;
  giving = body_gave = true;
  kept_.emplace();
  if (const Record* record = Painter::window().record()) tables_before = record->tables.size();
  ImGui::PushClipRect(veil_of_body->min, veil_of_body->max, false);
}

GivenMarks::~GivenMarks() {
  if (!shown_) return;
  if (Record* record = Painter::window().record())
    record->tables.resize(std::min(record->tables.size(), tables_before));
  ImGui::PopClipRect();
  giving = false;
}

void drew(std::string_view mark) {
  if (drawn_by_body && std::find(drawn_by_body->begin(), drawn_by_body->end(), mark) == drawn_by_body->end())
    drawn_by_body->push_back(mark);
}

BodyMarks::BodyMarks(const Rect* veil, std::vector<std::string_view>* drawn) {
  veil_of_body = veil;
  drawn_by_body = drawn;
  body_gave = giving = false;
}

BodyMarks::~BodyMarks() {
  veil_of_body = nullptr;
  drawn_by_body = nullptr;
}

bool BodyMarks::gave() const { return body_gave; }

}  // namespace widgets
