#pragma once
// Rows of tables by the names they have in the paper.

#include "piddm/tables/options.h"

namespace piddm {

/// Generation:
///   teacher, eci, diffusionpde, cocogen, dflow, pcfm      with the experiment's teacher
///   pidm              a teacher of its own, trained with PIDM's residual, weight lambda of the experiment's
///                     distillation
///   distill           a plain student without the physics term
///   piddm-plain       a plain student with it: the paper's PIDDM: no heads, squared distance
///   piddm-1           the experiment's student
///   piddm-ref         the same with 80 steps of latent refinement
///   piddm-decoded     the same, its solution solved again for its own coefficients
Entry generation(const TableOptions& options, const Experiment& experiment, const std::string& method);

/// A task: piddm (the student), pidm, or any method of the teacher.
Entry task_entry(const TableOptions& options, const Experiment& experiment, const std::string& task,
                 const std::string& method);

/// The same with a label "setting".
Entry with_setting(Entry entry, const std::string& setting);

/// The names asked for that the table has, or all of the table's own where none are asked for. A UsageError for one it
/// does not have.
std::vector<std::string> chosen(const std::string& what, const std::vector<std::string>& asked,
                                const std::vector<std::string>& own);

/// Generation on each of the PDEs by each of the methods, or by those of them that are asked for.
std::vector<Entry> generations(const TableOptions& options, const std::vector<std::string>& pdes,
                               const std::vector<std::string>& methods);

/// Settings of a distillation variant on top of an experiment: regression, reflow, reflow2, dmd, dmd2, consistency,
/// each also with "-no-physics" behind it; vp, sub-vp: another process; no-hard: tasks without hard replacement. What
/// the options ask of the objective's own section (distill.dmd2, say) wins.
json variant_settings(const TableOptions& options, const std::string& pde, const std::string& variant);

}  // namespace piddm
