#pragma once
// Every method at equal evaluations and at equal seconds, ours.
//
// A row is a method told to take at most N network evaluations per sample or case, N of a ladder (the card's
// MethodCard::within). At equal evaluations rows of one N are compared. At equal seconds, T of each of PIDDM's rows is
// given to the others: of a method the best row counts that took at most T per sample. What is given by
// --set by_method.NAME (the choice of `piddm tune`) holds for all rows of the method.

#include "piddm/tables/tables.h"

namespace piddm {

TableRecipe table_budgets();

/// The comparison at equal seconds as Markdown, a line per PDE, task and number of seconds.
std::string at_equal_seconds(const Report& report);

}  // namespace piddm
