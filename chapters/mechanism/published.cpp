#include "chapters/mechanism/published.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace chapters {

const PublishedInput* Published::input(std::string_view key) const {
  const auto at = std::find_if(inputs.begin(), inputs.end(), [&](const PublishedInput& i) { return i.key == key; });
  return at == inputs.end() ? nullptr : &*at;
}

bool Published::sets(std::string_view key, std::string_view value) const {
  const PublishedInput* found = input(key);
  return found && found->text == value;
}

double Published::number(std::string_view key, double otherwise) const {
  const PublishedInput* found = input(key);
  return found && std::isfinite(found->number) ? found->number : otherwise;
}

double published_residual(ModelRole role, double measured, double model) {
  if (role == ModelRole::estimate) return (measured - model) / std::abs(model);
  return published_share(role, measured, model) - 1;  // NaN for what is no bound
}

double published_share(ModelRole role, double measured, double model) {
  if (role == ModelRole::ceiling) return measured / model;
  if (role == ModelRole::floor) return model / measured;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string_view model_role_id(ModelRole role) {
  static constexpr std::array<std::string_view, 4> ids{"ceiling", "floor", "estimate", "beside"};
  return ids[std::min(static_cast<std::size_t>(role), ids.size() - 1)];
}

}  // namespace chapters
