#pragma once
// How one channel of a data set is made from an array of someone else's file, as channel_map.h says.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "piddm/data/formats/array_file.h"
#include "piddm/data/formats/channel_map.h"

namespace piddm {

/// Arrays of several files that together hold the same samples; the names are all different.
class ArraySet {
 public:
  void add(ArrayFilePtr file);
  bool has(const std::string& name) const { return owners_.count(name) > 0; }
  bool overlaps(const ArrayFile& file) const;
  std::vector<std::string> names() const;
  std::string listed_names() const;                      ///< the first few, for messages
  const ArrayInfo& info(const std::string& name) const;  ///< a DataError with the nearest name
  Tensor read(const std::string& name, const std::vector<Slice>& slices = {}) const;
  json attributes(const std::string& object) const;  ///< an empty object where there are none
  const std::vector<ArrayFilePtr>& files() const { return files_; }

  /// Whether a part of every array costs less than all of it.
  bool reads_parts() const;

  /// The files' names, for messages.
  std::string origin() const;

 private:
  std::vector<ArrayFilePtr> files_;
  std::map<std::string, ArrayFilePtr> owners_;
  Attributes attributes_;
};

/// Sizes all channels of a data set share. 0: no array has that axis.
struct Extent {
  int64_t n = 0, m = 0, h = 0, w = 0;
  char w_axis = 'y';
  int64_t samples() const { return std::max<int64_t>(n, 1) * std::max<int64_t>(m, 1); }
};

/// A DataError names the array that does not fit its axes or the others' sizes.
Extent measure(const ArraySet& arrays, std::vector<ChannelRule>& rules);

/// The channel for samples first..first+count-1 with every stride-th point: [count, H, W] float64.
Tensor evaluate(const ChannelRule& rule, const ArraySet& arrays, const Extent& extent, int64_t first, int64_t count,
                int64_t stride_h, int64_t stride_w);

}  // namespace piddm
