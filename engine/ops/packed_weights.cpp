// PackedWeights: lookup, packing, the product.
#include "engine/ops/packed_weights.h"

#include "engine/autograd/tensor.h"

namespace mote {

kernels::PackedWeight PackedWeights::of(const Array& weight) {
  const Index n = weight.shape()[0], k = weight.shape()[1], width = kernels::packed_width(n);
  for (std::size_t i = 0; i < packed_.size(); ++i) {
    const Packed& p = packed_[next_];
    if (++next_ == packed_.size()) next_ = 0;
    if (p.weight == weight.data() && p.panels.n == n && p.panels.k == k && p.panels.width == width) return p.panels;
  }
  // Of a weight that has changed nobody else holds the old array any more.
  std::erase_if(packed_, [](const Packed& p) { return p.source->owns_storage(); });
  next_ = 0;
  std::shared_ptr<const Array> source;
  for (const Packed& p : packed_)
    if (p.source->shares_storage(weight)) source = p.source;
  if (!source) source = std::make_shared<const Array>(weight);
  const Storage elements(static_cast<std::size_t>(kernels::packed_numel(n, k)) * sizeof(real));
  packed_.push_back({weight.data(), source, elements,
                     kernels::pack_weight(n, k, weight.data(), static_cast<real*>(elements.data()))});
  return packed_.back().panels;
}

Array detail::packed_linear(const Array& x, const Array& weight, const Array& bias) {
  PackedWeights* const packed = PackedWeights::open();
  if (!packed || !NoGrad::active() || !weight.is_contiguous()) return {};
  const Index n = weight.shape()[0], k = weight.shape()[1];
  if (x.numel() == 0 || n == 0 || x.numel() > PackedWeights::most_rows * k) return {};
  const Array rows = x.contiguous(), added = bias.defined() ? bias.contiguous() : bias;
  Array y = Array::empty(x.shape().with(-1, n));
  kernels::multiply_packed(x.numel() / k, rows.data(), packed->of(weight), added.defined() ? added.data() : nullptr,
                           y.mutate());
  return y;
}

}  // namespace mote
