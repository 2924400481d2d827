#include "piddm/pde/darcy.h"
#include "piddm/pde/pde.h"

namespace piddm {
namespace {

constexpr int64_t kSmallestGrid = 16, kLargestGrid = 1024;

template <class T>
PdePtr make(const PdeOptions& options) {
  return std::make_shared<T>(options);
}

}  // namespace

const Registry<PdePtr(const PdeOptions&)>& pde_registry() {
  static const Registry<PdePtr(const PdeOptions&)> registry(
      "PDE", {
                 {"darcy", "flow through a two-valued medium, -div(a grad u) = 1, u = 0 on the walls of a square",
                  make<Darcy>},
             });
  return registry;
}

PdePtr make_pde(const PdeOptions& options) {
  const auto& factory = pde_registry().at(options.name);
  require<UsageError>(options.grid >= kSmallestGrid && options.grid <= kLargestGrid,
                      "[{}] grid = {}: must be between {} and {}", options.name, options.grid, kSmallestGrid,
                      kLargestGrid);
  const auto pde = factory(options);
  pde->check_parameters();
  return pde;
}

}  // namespace piddm
