// Moved: include "Dialect/VersionSteps.h" instead.
#include "Dialect/VersionSteps.h"
#include "Slice.h"
