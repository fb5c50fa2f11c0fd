#pragma once
#include "chapters/mechanism/field.h"
#include "widgets/number/number.h"

namespace app {

/// How a field's number is shortened wherever it is written: KiB and MiB where people count in powers of two, counts in
/// full, k and M elsewhere.
inline widgets::Prefix prefix_of(const chapters::Field& f) {
  if (f.spec.binary) return widgets::Prefix::binary;
  return f.kind == chapters::Kind::integer && f.spec.unit != "B" ? widgets::Prefix::none : widgets::Prefix::si;
}

}  // namespace app
