#pragma once
// The figures of the paper, and one of ours, as tables (tables.h).

#include "piddm/tables/tables.h"

namespace piddm {

/// Students of pairs from fewer and more steps of the teacher, which are Euler's at uniform times as in the paper; with
/// less and more physics, all of its terms scaled together, 0: none; and tasks with less and more of it.
TableRecipe figure_ablation();

TableRecipe figure_forward();
TableRecipe figure_pareto();

}  // namespace piddm
