// How coefficients are drawn, and what their values can be.

#include <limits>

#include "tests/language/files.h"

namespace piddm {
namespace {

using testing::read_law;
using testing::read_plane;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Laws, OfNumbersAreRead) {
  const auto uniform = read_law("uniform(0.5, 2)");
  EXPECT_TRUE(uniform.scalar);
  EXPECT_EQ(uniform.law.kind, LawText::Kind::uniform);
  EXPECT_EQ(uniform.valid, std::make_pair(0.5, 2.0));
  EXPECT_EQ(read_law("uniform(-2*pi, 2^3)").law.high, 8);
  const auto log = read_law("loguniform(1e-3, 1)");
  EXPECT_EQ(log.law.kind, LawText::Kind::loguniform);
  EXPECT_EQ(log.law.low, 1e-3);
  const auto normal = read_law("normal(1, 0.1)");
  EXPECT_EQ(normal.law.kind, LawText::Kind::normal);
  EXPECT_EQ(normal.law.high, 0.1);
  EXPECT_FALSE(normal.valid);
}

TEST(Laws, OfFieldsAreRead) {
  const auto plain = read_law("field: gauss(alpha=2.5, tau=4, scale=3)");
  EXPECT_FALSE(plain.scalar);
  EXPECT_EQ(plain.law.kind, LawText::Kind::field);
  EXPECT_EQ(plain.law.family, LawText::Family::cosine);
  EXPECT_EQ(plain.law.alpha, 2.5);
  EXPECT_EQ(plain.law.tau, 4);
  EXPECT_EQ(plain.law.scale, 3);
  EXPECT_TRUE(equal(*plain.law.map, *field_named("g")));
  EXPECT_FALSE(plain.valid);
  EXPECT_EQ(read_law("field: sine()").law.family, LawText::Family::sine);
  EXPECT_EQ(read_law("field: gauss").law.alpha, 2);
  const auto two = read_law("field: gauss() -> where(g >= 0, 12, 3)");
  EXPECT_EQ(two.two_valued, std::make_pair(3.0, 12.0));
  EXPECT_FALSE(read_law("field: gauss() -> where(g >= 0, 12, exp(g))").two_valued);
  const auto ring =
      read_law("field: periodic(tau=5) -> f*exp(g)",
               {{"grid", "{ x = [0, 1, 16, 'periodic'], y = [0, 1, 16, 'periodic'] }"}, {"boundary", ""}});
  EXPECT_EQ(ring.law.family, LawText::Family::periodic);
}

TEST(Laws, OfDataAreRead) {
  EXPECT_FALSE(read_law("data: field").scalar);
  EXPECT_TRUE(read_law("data: scalar").scalar);
  EXPECT_EQ(read_law("data: scalar").law.kind, LawText::Kind::data);
}

TEST(Laws, ImplyWhatIsValid) {
  const auto valid = [](const std::string& map) { return read_law("field: gauss() -> " + map).valid; };
  EXPECT_EQ(valid("exp(g)"), std::make_pair(1e-4, kInfinity));
  EXPECT_EQ(valid("2 + exp(g)"), std::make_pair(0.02, kInfinity));
  EXPECT_EQ(valid("where(g > 0, 12, 3)"), std::make_pair(0.03, kInfinity));
  EXPECT_EQ(valid("0.5 + 0.5*tanh(g)"), std::make_pair(0.5e-4, kInfinity));
  EXPECT_FALSE(valid("g"));
  EXPECT_FALSE(valid("tanh(g)"));
  EXPECT_FALSE(valid("g^2"));
  const auto stated = read_plane({{"valid", "{ a = [0.1, 20] }"}}).coefficient("a")->valid;
  EXPECT_EQ(stated, std::make_pair(0.1, 20.0));
  EXPECT_REFUSED(read_plane({{"valid", "{ b = [0, 1] }"}}), ": valid: unknown coefficient 'b'");
  EXPECT_REFUSED(read_plane({{"valid", "{ a = [1, 0] }"}}), ": valid.a: the low end 1 is not below the high end 0");
  EXPECT_REFUSED(read_plane({{"valid", "{ a = 3 }"}}), ": valid.a: expected [low, high], got 3");
}

TEST(Laws, WrongOnesAreRefusedWithTheirPlace) {
  const auto refused = [](const std::string& law, const std::string& message) {
    SCOPED_TRACE(law);
    EXPECT_REFUSED(read_law(law), ": coefficients.a, line 1, column " + message);
  };
  refused("unifrom(0, 1)", "1: unknown law 'unifrom'; did you mean 'uniform'?");
  refused("weibull(0, 1)", "1: unknown law 'weibull'; there are uniform(low, high), loguniform(low, high)");
  refused("gauss(alpha=2)", "1: a Gaussian field is written field: gauss(..)");
  refused("uniform(1)", "1: expected uniform(low, high)");
  refused("uniform(low=0, high=1)", "1: expected uniform(low, high)");
  refused("uniform(2, 1)", "9: the low end 2 is not below the high end 1");
  refused("uniform(u, 1)", "9: unknown name 'u'");
  refused("loguniform(0, 1)", "12: loguniform begins above 0, got 0");
  refused("normal(0, -1)", "11: the deviation must be above 0, got -1");
  refused("uniform(0, 1) -> g", "18: '->' belongs to field: laws only");
  refused("feld: gauss()", "1: unknown kind of law 'feld'; did you mean 'field'?");
  refused("field: gaus()", "8: unknown family of Gaussian fields 'gaus'; did you mean 'gauss'?");
  refused("field: gauss(2)", "14: expected a name: gauss(alpha=2, tau=3, scale=1)");
  refused("field: gauss(alpah=2)", "14: unknown number of a field 'alpah'; did you mean 'alpha'?");
  refused("field: gauss(tau=1, tau=2)", "21: tau is given twice");
  refused("field: gauss(tau=0)", "14: tau must be above 0, got 0");
  refused("field: gauss(alpha=1)", "1: alpha must be above 1, half the number of space axes");
  refused("field: gauss() -> 3", "19: the map holds no g");
  refused("field: gauss() -> u", "19: unknown name 'u'");
  refused("field: gauss() -> dx(g)", "19: the map of a field takes no derivatives");
  refused("field: gauss() ->", "18: expected a number, a name");
  refused("field: periodic()", "8: a periodic field needs periodic axes, and x is not");
  refused("data: number", "7: unknown kind of data 'number'; known: field, scalar");
  refused("data: field(3)", "7: data: takes no numbers");
  refused("uniform(0, 1) 3", "15: expected an operator or the end, got '3'");
  refused("", "1: expected a law such as uniform(0, 1), got the end");
  EXPECT_REFUSED(read_plane({{"coefficients", "{ a = 3 }"}}), ": coefficients.a: expected a law in quotes");
}

}  // namespace
}  // namespace piddm
