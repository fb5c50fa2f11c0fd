#pragma once
#include "models/machine/hardware.h"

#include <map>
#include <string>

/// Every chip of assets/hardware by id; a file that does not parse fails the test that asks.
const std::map<std::string, models::Chip>& bundled_chips();
inline const models::Chip& bundled_chip(const std::string& id) { return bundled_chips().at(id); }
