#include "piddm/pde/burgers.h"
#include "piddm/pde/darcy.h"
#include "piddm/pde/heat.h"
#include "piddm/pde/helmholtz.h"
#include "piddm/pde/navier_stokes.h"
#include "piddm/pde/pde.h"
#include "piddm/pde/pme.h"
#include "piddm/pde/poisson.h"
#include "piddm/pde/stefan.h"
#include "piddm/pde/stokes.h"
#include "piddm/pde/text/text_pde.h"

namespace piddm {

Registry<PdePtr(const PdeOptions&)>& pde_registry() {
  static Registry<PdePtr(const PdeOptions&)> registry(
      "PDE",
      {
          {"darcy", "flow through a two-valued medium, -div(a grad u) = 1, u = 0 on the walls",
           make_registered_pde<Darcy>},
          {"poisson", "a membrane under a random load, Laplace u = a, u = 0 on the walls",
           make_registered_pde<Poisson>},
          {"helmholtz", "standing waves under a random load, Laplace u + k^2 u = a, u = 0 on the walls",
           make_registered_pde<Helmholtz>},
          {"burgers", "steepening waves on a ring, u_t + (u^2/2)_x = nu u_xx, u(x,0) = a(x)",
           make_registered_pde<Burgers>},
          {"stokes", "flow over an oscillating wall, u_t = omega/(2 k^2) u_xx, u(0,t) = A cos(omega t)",
           make_registered_pde<Stokes>},
          {"heat", "diffusion on a ring, u_t = alpha u_xx, u(x,0) = sin(x + phi)", make_registered_pde<Heat>},
          {"navier-stokes", "stirred flow on a torus, w_t + v.grad w = nu Laplace w + f(phi), from w0 to w(1)",
           make_registered_pde<NavierStokes>},
          {"pme", "a front in a porous medium, u_t = (u^m u_x)_x, u(0,t) = (m t)^(1/m)", make_registered_pde<Pme>},
          {"stefan", "a melting front, u_t = (k(u) u_x)_x, k = 1 where u >= u_star, else 0, u(0,t) = 1",
           make_registered_pde<Stefan>},
      });
  return registry;
}

PdePtr make_pde(const PdeOptions& options) {
  const bool by_text = !options.definition.absent();
  if (!by_text) pde_registry().at(options.name);  // for its error
  check_bounds(options, "pde");
  const auto pde = by_text ? std::make_shared<TextPde>(options) : pde_registry().at(options.name)(options);
  pde->check_parameters();
  pde->check_equations();
  return pde;
}

}  // namespace piddm
