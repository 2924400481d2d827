#include "piddm/lab/mixture_network.h"

namespace piddm {

json MixtureNetwork::options_json() const {
  return {{"process", process_->name()}, {"components", law_.components()}, {"dimension", law_.dimension()}};
}

}  // namespace piddm
