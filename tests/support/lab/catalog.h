#pragma once
#include "app/content/content.h"

namespace support {

/// Puts the chips, language models and drills of assets/ in force, once a process.
void use_bundled_catalog();

/// Puts them in force again, whatever was put in their place since.
void put_back_bundled_catalog();

/// What is said about the bundled labs, read once a process however many labs a test walks through.
const app::Content& bundled_content();

}  // namespace support
