#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>

/// Reading one member of a JSON object that may be anything. A member that is not there leaves `out` as it was and is
/// no fault.
namespace app::store {

/// Collects the first fault, by name, while the good members are still taken.
class Reader {
 public:
  /// `where` is how faults name the object: "labs.roofline/roofline". An `object` that is none is a fault, and empty
  /// from here on.
  Reader(const nlohmann::json& object, std::string where, std::string& fault);
  void text(const char* key, std::string& out);
  void number(const char* key, double& out);  ///< finite
  void integer(const char* key, std::int64_t& out);
  void flag(const char* key, bool& out);
  void texts(const char* key, std::set<std::string>& out);  ///< adds to it
  /// The member if it is an object or an array, as asked; an empty one otherwise.
  const nlohmann::json& object(const char* key);
  const nlohmann::json& array(const char* key);

 private:
  const nlohmann::json* find(const char* key) const;
  void blame(const char* key, const char* expected);
  const nlohmann::json& object_;
  std::string where_;
  std::string& fault_;
};

/// Reads an object of a list with `take(Reader&)`. False where anything of it is bad; `fault` then names it, unless it
/// names another already.
template <class Take>
bool take_item(const nlohmann::json& item, std::string where, std::string& fault, const Take& take) {
  std::string found;
  Reader reader(item, std::move(where), found);
  take(reader);
  if (found.empty()) return true;
  if (fault.empty()) fault = std::move(found);
  return false;
}

}  // namespace app::store
