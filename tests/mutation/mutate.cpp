#include "tests/mutation/mutate.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm::testing {

namespace {

constexpr const char* kAwkwardNumbers[] = {"0",    "-1",   "1e300",     "-1e300", "nan",
                                           "inf",  "1e19", "999999999", "0.5",    "9223372036854775807",
                                           "1e-9", "",     "''",        "[]",     "99999999999999999999999"};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  size_t below(size_t limit) { return static_cast<size_t>(random_() % std::max<size_t>(limit, 1)); }
  template <class T, size_t N>
  T one_of(const T (&list)[N]) {
    return list[below(N)];
  }

 private:
  std::mt19937_64 random_;
};

void damage_bytes(std::string& text, Dice& dice) {
  static constexpr uint64_t kAwkward[] = {
      0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 1 << 16, 200};
  const size_t at = dice.below(2) == 0 ? dice.below(text.size()) : dice.below(std::min<size_t>(text.size(), 512));
  const size_t length = std::min<size_t>(1 + dice.below(64), text.size() - at);
  switch (dice.below(9)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text.replace(at, length, text.substr(dice.below(text.size()), length));
      break;
    case 3:
      if (dice.below(4) == 0) text.resize(at);
      break;
    case 4:
      text.insert(at, length, static_cast<char>(dice.below(256)));
      break;
    case 5:
    case 6: {
      const auto value = dice.one_of(kAwkward);
      std::memcpy(text.data() + at, &value, std::min<size_t>(size_t{1} << dice.below(4), text.size() - at));
      break;
    }
    default:
      text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
  }
}

/// Every value of the document but the document itself, and the object or list it is in.
struct Place {
  json* parent;
  std::string key;  ///< of an object
  size_t index;     ///< of a list
};

void collect(json& value, std::vector<Place>& places) {
  if (value.is_object())
    for (auto& [key, entry] : value.items()) {
      places.push_back({&value, key, 0});
      collect(entry, places);
    }
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i) {
      places.push_back({&value, "", i});
      collect(value[i], places);
    }
}

json awkward_value(Dice& dice) {
  json deep = 1;
  for (int i = 0; i < 28; ++i) deep = json::array({deep});
  const json list[] = {nullptr,
                       true,
                       "",
                       "x",
                       -1,
                       0,
                       1e300,
                       -1e300,
                       INT64_MAX,
                       INT64_MIN,
                       UINT64_MAX,
                       1e9,
                       int64_t{1} << 40,
                       0.5,
                       1e-300,
                       json::object(),
                       json::array(),
                       deep,
                       std::string(5000, 'x'),
                       json::array({1, 2, 3}),
                       {{"type", "fno"}}};
  return list[dice.below(std::size(list))];
}

void damage_json(json& document, Dice& dice) {
  std::vector<Place> places;
  collect(document, places);
  if (places.empty()) return;
  const auto& place = places[dice.below(places.size())];
  auto& value =
      place.key.empty() && place.parent->is_array() ? (*place.parent)[place.index] : (*place.parent)[place.key];
  switch (dice.below(4)) {
    case 0:
      if (place.parent->is_object())
        place.parent->erase(place.key);
      else
        place.parent->erase(place.index);
      break;
    case 1: {
      const auto& other = places[dice.below(places.size())];
      const json copy = other.parent->is_array() ? (*other.parent)[other.index] : (*other.parent)[other.key];
      value = copy;
      break;
    }
    default:
      value = awkward_value(dice);
  }
}

void replace_number(std::string& text, Dice& dice) {
  const auto at = text.find_first_of("0123456789", dice.below(text.size()));
  if (at == std::string::npos) return;
  const auto end = std::min(text.find_first_not_of("0123456789.e+-", at), text.size());
  text.replace(at, end - at, dice.one_of(kAwkwardNumbers));
}

void damage_lines(std::string& text, Dice& dice) {
  const size_t begin = std::min(text.find('\n', dice.below(text.size())), text.size() - 1) + 1;
  const size_t end = std::min(text.find('\n', begin), text.size());
  const auto line = text.substr(begin, std::min(end + 1, text.size()) - begin);
  switch (dice.below(6)) {
    case 0:
      text.erase(begin, line.size());
      break;
    case 1:
      text.insert(begin, line);
      break;
    case 2:
      text.insert(dice.below(text.size()), line);
      break;
    case 3:
      text.insert(dice.below(text.size()), 1, "[]{}=.,\"'#$\n\t \\"[dice.below(15)]);
      break;
    default:
      replace_number(text, dice);
  }
}

}  // namespace

std::string mutate_bytes(std::string text, uint64_t seed) {
  Dice dice(seed);
  for (size_t count = 1 + dice.below(4); count > 0 && !text.empty(); --count) damage_bytes(text, dice);
  return text;
}

std::string mutate_json(const std::string& text, uint64_t seed) {
  Dice dice(seed);
  json document = json::parse(text);
  for (size_t count = 1 + dice.below(3); count > 0; --count) damage_json(document, dice);
  return document.dump(1) + "\n";
}

std::string mutate_lines(std::string text, uint64_t seed) {
  Dice dice(seed);
  for (size_t count = 1 + dice.below(3); count > 0 && !text.empty(); --count) damage_lines(text, dice);
  return text;
}

}  // namespace piddm::testing
