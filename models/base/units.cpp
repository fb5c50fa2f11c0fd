#include "models/base/units.h"
