#include "models/units.h"
