#pragma once
// The low-rank Gaussian of the paper's appendix, both theorems in numbers.
//
//   x_0 ~ N(0, diag(lambda_1..lambda_{d-1}, 0)), the last coordinate is the constraint;
//   x_t = alpha x_0 + sigma e, alpha^2 + sigma^2 = 1
//
// 1. Score matching with s = diag(theta) x by gradient descent from theta = 1 with step eta (autograd on the empirical
//    loss), against the closed form, with l_j the mean of x_j^2 and theta_j* = -1 / (alpha^2 l_j + sigma^2):
//      theta_j^l - theta_j* = (1 - 2 eta (alpha^2 l_j + sigma^2))^l (1 - theta_j*)
// 2. The guided coefficient. The paper prints x0^ = (x - sigma s)/alpha, and so
//      theta_g = (1 + gamma sigma/alpha) theta - gamma/alpha;
//    with s the score it is x0^ = (x + sigma^2 s)/alpha, and
//      theta_g = theta - (gamma/alpha)(1 + sigma^2 theta),
//      theta_g - theta* = (1 - gamma sigma^2/alpha) (theta - theta*),
//    which leaves the optimum alone. Both are computed; `measured` applies the guided score to vectors.
// 3. Distillation: the w that minimises E|diag(w) e - x^(e)|^2 + lambda E(w_d e_d)^2 on simulated pairs (L-BFGS)
//    against w_j = E[e_j x^_j] / (1 + lambda [j=d]) from independent pairs, with 95 % bounds, and E(w_d e_d)^2 against
//    its bound E[x^_d^2] / (1 + lambda)^2. Two teachers: `learned`, the Euler flow of theta^l(t) under beta = 10, and
//    `mixture`, the exact score of N(+-1, 0.2^2) beside a point mass, stopped early so that noise remains in the
//    constraint.

#include "piddm/lab/lab.h"

namespace piddm {

LabRecipe theory();

}  // namespace piddm
