#include "piddm/pde/constraint.h"

#include <algorithm>

namespace piddm {
namespace {

/// A tensor with the dtype and device of x.
Tensor like(const Tensor& t, const Tensor& x) { return t.to(x.device(), x.scalar_type()); }

/// Dimension of an axis in [...,H,W].
int64_t dim(Axis axis) { return axis == Axis::h ? -2 : -1; }
int64_t other_dim(Axis axis) { return axis == Axis::h ? -1 : -2; }

/// Constraint on one channel: derived classes see [B,H,W] only.
class ChannelConstraint : public Constraint {
 public:
  explicit ChannelConstraint(int64_t channel) : channel_(channel) {}

  Tensor adjust(const Tensor& x) const final {
    check(x);
    std::vector<Tensor> channels = x.unbind(1);
    auto& channel = channels[static_cast<size_t>(channel_)];
    channel = adjusted(channel);
    return torch::stack(channels, 1);
  }

  Tensor constrained(const Tensor& x) const final {
    check(x);
    const Tensor mask = torch::zeros(x.sizes().slice(1), x.options().dtype(torch::kBool));
    mark(mask[channel_]);
    return mask;
  }

 protected:
  virtual Tensor adjusted(const Tensor& u) const = 0;
  /// Sets the entries of [H,W] that `adjusted` can change.
  virtual void mark(const Tensor& mask) const = 0;
  /// Throws a DataError unless [B,C,H,W] fits; its size and channel have been checked.
  virtual void check_grid(const Tensor& x) const = 0;

 private:
  void check(const Tensor& x) const {
    require<DataError>(x.dim() == 4 && channel_ >= 0 && channel_ < x.size(1),
                       "[constraint] expected fields (B,C,H,W) with a channel {}, got {}", channel_, shape_string(x));
    check_grid(x);
  }

  int64_t channel_;
};

/// DataError unless `values` is one number or has `size` entries.
void check_count(const Tensor& values, int64_t size, const Tensor& x) {
  require<DataError>(values.dim() == 0 || (values.dim() == 1 && values.size(0) == size),
                     "[constraint] {} values do not fit a field {}, expected {}", values.numel(), shape_string(x),
                     size);
}

class Dirichlet final : public ChannelConstraint {
 public:
  Dirichlet(int64_t channel, Tensor values, Tensor mask)
      : ChannelConstraint(channel), values_(std::move(values)), mask_(std::move(mask)) {
    require<DataError>(mask_.dim() == 2 && mask_.sizes() == values_.sizes() && mask_.scalar_type() == torch::kBool,
                       "[constraint] expected a bool mask (H,W) and as many values, got {} and {}", shape_string(mask_),
                       shape_string(values_));
    require<DataError>(mask_.any().item<bool>(), "[constraint] the mask {} is empty", shape_string(mask_));
  }

 protected:
  Tensor adjusted(const Tensor& u) const override { return torch::where(mask_.to(u.device()), like(values_, u), u); }
  void mark(const Tensor& mask) const override { mask.copy_(mask_); }
  void check_grid(const Tensor& x) const override {
    require<DataError>(x.sizes().slice(2) == mask_.sizes(), "[constraint] a mask {} does not fit a field {}",
                       shape_string(mask_), shape_string(x));
  }

 private:
  Tensor values_, mask_;
};

class Slice final : public ChannelConstraint {
 public:
  Slice(int64_t channel, Axis axis, int64_t index, Tensor values)
      : ChannelConstraint(channel), axis_(axis), index_(index), values_(std::move(values)) {}

 protected:
  Tensor adjusted(const Tensor& u) const override {
    const Tensor result = u.clone();
    result.select(dim(axis_), index_).copy_(like(values_, u).expand({u.size(0), u.size(other_dim(axis_))}));
    return result;
  }
  void mark(const Tensor& mask) const override { mask.select(dim(axis_), index_).fill_(true); }
  void check_grid(const Tensor& x) const override {
    const int64_t n = x.size(dim(axis_));
    require<DataError>(index_ >= -n && index_ < n, "[constraint] no slice {} in a field {}", index_, shape_string(x));
    check_count(values_, x.size(other_dim(axis_)), x);
  }

 private:
  Axis axis_;
  int64_t index_;
  Tensor values_;
};

class Periodic final : public ChannelConstraint {
 public:
  Periodic(int64_t channel, Axis axis) : ChannelConstraint(channel), axis_(axis) {}

 protected:
  Tensor adjusted(const Tensor& u) const override {
    const Tensor result = u.clone();
    const Tensor average = (u.select(dim(axis_), 0) + u.select(dim(axis_), -1)) / 2;
    result.select(dim(axis_), 0).copy_(average);
    result.select(dim(axis_), -1).copy_(average);
    return result;
  }
  void mark(const Tensor& mask) const override {
    mask.select(dim(axis_), 0).fill_(true);
    mask.select(dim(axis_), -1).fill_(true);
  }
  void check_grid(const Tensor&) const override {}

 private:
  Axis axis_;
};

class Conservation final : public ChannelConstraint {
 public:
  Conservation(int64_t channel, std::vector<Axis> axes, Tensor value, double area)
      : ChannelConstraint(channel), value_(std::move(value)), area_(area) {
    require<UsageError>(area > 0, "[constraint] area = {}: must be positive", area);
    std::sort(axes.begin(), axes.end());
    require<UsageError>(!axes.empty() && std::adjacent_find(axes.begin(), axes.end()) == axes.end(),
                        "[constraint] conservation needs one axis or two different ones");
    for (const Axis axis : axes) dims_.push_back(dim(axis));
    if (axes.size() == 1) remaining_ = other_dim(axes[0]);
  }

 protected:
  Tensor adjusted(const Tensor& u) const override {
    Tensor target = like(value_, u) / area_;
    if (target.dim() == 1 && remaining_ == -2) target = target.unsqueeze(1);
    return u + (target - u.mean(dims_, true));
  }
  void mark(const Tensor& mask) const override { mask.fill_(true); }
  void check_grid(const Tensor& x) const override { check_count(value_, remaining_ ? x.size(remaining_) : 1, x); }

 private:
  std::vector<int64_t> dims_;
  int64_t remaining_ = 0;  // the axis not averaged over; 0: none
  Tensor value_;
  double area_;
};

class Chain final : public Constraint {
 public:
  explicit Chain(std::vector<ConstraintPtr> members) : members_(std::move(members)) {
    require<UsageError>(!members_.empty(), "[constraint] a chain needs at least one member");
  }

  Tensor adjust(const Tensor& x) const override {
    Tensor y = x;
    for (const auto& member : members_) y = member->adjust(y);
    return y;
  }
  Tensor constrained(const Tensor& x) const override {
    Tensor mask = members_.front()->constrained(x);
    for (const auto& member : members_) mask = mask.logical_or(member->constrained(x));
    return mask;
  }

 private:
  std::vector<ConstraintPtr> members_;
};

}  // namespace

Tensor Constraint::error(const Tensor& x) const {
  const Tensor mask = constrained(x);
  return ((adjust(x) - x).square() * mask).sum({1, 2, 3}) / mask.sum();
}

ConstraintPtr dirichlet_constraint(int64_t channel, Tensor values, Tensor mask) {
  return std::make_shared<Dirichlet>(channel, std::move(values), std::move(mask));
}

ConstraintPtr slice_constraint(int64_t channel, Axis axis, int64_t index, Tensor values) {
  return std::make_shared<Slice>(channel, axis, index, std::move(values));
}

ConstraintPtr periodic_constraint(int64_t channel, Axis axis) { return std::make_shared<Periodic>(channel, axis); }

ConstraintPtr conservation_constraint(int64_t channel, std::vector<Axis> axes, Tensor value, double area) {
  return std::make_shared<Conservation>(channel, std::move(axes), std::move(value), area);
}

ConstraintPtr chain_constraint(std::vector<ConstraintPtr> members) {
  return std::make_shared<Chain>(std::move(members));
}

}  // namespace piddm
