#pragma once
// A row over several seeds: means and deviations, whether they come from one run or from several reports.

#include "piddm/tables/report.h"

namespace piddm {

/// Result and deviation of a row from `by_seed`, which is not empty: means over seeds and their deviations, or the only
/// seed's values and intervals; of a seed that failed or was refused only why.
void combine_seeds(Row& row);

/// A row with the seeds of both rows, those they share from `later`; `later` itself where that has them all or one of
/// them does not say its seeds.
Row joined_seeds(const Row& earlier, const Row& later);

}  // namespace piddm
