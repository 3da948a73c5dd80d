// Datasets: pipelines of elements with tf.data's names and meanings.
//
//   auto ds = rw::data::Dataset::from_tensor_slices(std::tuple{images, labels})
//                 .shuffle(60000, {.seed = 1})
//                 .batch(100)
//                 .prefetch(2);
//   for (auto [x, y] : ds) step(x, y);
//
// A dataset does not change; each loop over it is a new pass. An element is a tensor or a structure of
// tensors (tuple, pair, array, vector, map, plain struct); functions that take the elements of a tuple are
// called with them. Functions run eagerly, on the thread that asks for the element or on threads of the
// pipeline, and no tape hears them. Passes are used by one thread at a time, datasets by any number.
#pragma once

#include "rewind/data/columns.h"
#include "rewind/data/element_type.h"
#include "rewind/data/iterator_ops.h"
#include "rewind/data/nodes.h"
#include "rewind/module/trackable.h"
#include "rewind/tensor/random_seed.h"

namespace rw::data {

template <class T>
class DatasetOf;
template <class T>
class Iterator;

struct BatchOptions {
  bool drop_remainder = false;
};
struct PaddedBatchOptions {
  std::vector<Shape> padded_shapes = {};    // one per tensor; unknown sizes: the longest of the batch
  std::vector<Tensor> padding_values = {};  // one per tensor, scalars; 0 and "" without
  bool drop_remainder = false;
};
struct ShuffleOptions {
  std::optional<int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct MapOptions {
  int64_t num_parallel_calls = 0;  // threads; 0: the one that asks, kAutotune: one per core
  bool deterministic = true;       // false: elements come as they get ready
};
struct InterleaveOptions {
  int64_t cycle_length = kAutotune;  // datasets that are open at once; kAutotune: one per core
  int64_t block_length = 1;
  int64_t num_parallel_calls = 0;  // not 0: open datasets are read ahead by threads of their own
};
struct WindowOptions {
  int64_t shift = 0;  // 0: the size
  int64_t stride = 1;
  bool drop_remainder = false;
};

// What a dataset's elements are, whatever their C++ type: one spec a tensor.
class Dataset {
 public:
  Dataset() = default;
  explicit Dataset(Made made) : made_(std::move(made)) {}

  // The number of elements, or kInfiniteCardinality, kUnknownCardinality.
  int64_t cardinality() const { return node().cardinality(); }
  // One spec per tensor of an element, in order, as TensorFlow's rules tell them.
  std::vector<TensorSpec> element_spec() const;
  // For readers: tensors as they come, without their structure.
  const Node& node() const;
  const Made& made() const { return made_; }

  // Slices along the first axis of each tensor. A vector of numbers or strings is a tensor, and so are
  // braces: from_tensor_slices(std::vector{8, 3, 0}), from_tensor_slices({{1, 2}, {3, 4}}).
  template <class S>
  static DatasetOf<ElementOf<S>> from_tensor_slices(const S& tensors);
  static DatasetOf<Tensor> from_tensor_slices(std::initializer_list<Literal> list);
  // One element.
  template <class S>
  static DatasetOf<ElementOf<S>> from_tensors(const S& tensors);
  static DatasetOf<Tensor> from_tensors(std::initializer_list<Literal> list);
  static DatasetOf<Tensor> range(int64_t stop, DType output_type = DType::kInt64);
  static DatasetOf<Tensor> range(int64_t start, int64_t stop, int64_t step = 1,
                                 DType output_type = DType::kInt64);
  // `next` returns an optional of an element and is called until that is empty. Each pass begins with a copy
  // of it. With a signature (one spec per tensor) nothing is called to learn the types; numbers are cast to
  // its dtypes, and an element of other shapes or of another number of tensors is an InvalidArgumentError.
  template <class G>
  static auto from_generator(G next, const std::optional<std::vector<TensorSpec>>& output_signature = {});
  // Elements of several datasets side by side, until one ends.
  template <class... D>
  static DatasetOf<std::tuple<typename D::value_type...>> zip(const D&... datasets);

 protected:
  Made made_;
};

std::optional<Specs> specs_of(const std::optional<std::vector<TensorSpec>>& signature);
int64_t cores_if_autotune(int64_t n);

// ---- a pass

// Where a pass stands. Bytes that may be kept and read by another process that makes the same dataset.
using Position = std::string;

template <class T>
class Iterator {
 public:
  Iterator(Tensor handle, Ref<Node> node, std::shared_ptr<Form<T>> form)
      : handle_(std::move(handle)), node_(std::move(node)), form_(std::move(form)) {}

  // The next element, or nothing at the end. Outside of functions.
  std::optional<T> next() {
    require_eager("next");
    Element element;
    if (!pass().next(&element)) return {};
    return form_->read(element, *node_);
  }
  // The same; OutOfRangeError at the end. In a function it becomes an op of the graph.
  T get_next() const { return form_->read(iterator_get_next(handle_, node_->specs()), *node_); }

  Position position() const { return pass().position(); }
  // Throws InvalidArgumentError when the position is of another pipeline.
  void set_position(const Position& position) const { pass().set_position(position); }

  const Tensor& handle() const { return handle_; }
  const Node& node() const { return *node_; }
  const std::shared_ptr<Form<T>>& form() const { return form_; }

 private:
  Pass& pass() const { return *pass_of(handle_); }
  Tensor handle_;
  Ref<Node> node_;
  std::shared_ptr<Form<T>> form_;
};

// Where a pass stands, as checkpoints keep it.
TrackablePtr trackable_of_pass(const Tensor& handle);
template <class T>
TrackablePtr trackable_of(const Iterator<T>& iterator) {
  return trackable_of_pass(iterator.handle());
}

// What `for (auto [x, y] : dataset)` walks with.
template <class T>
class LoopIterator {
 public:
  using value_type = T;
  using difference_type = int64_t;
  struct End {};
  explicit LoopIterator(Iterator<T> pass) : pass_(std::move(pass)), now_(pass_.next()) {}
  T& operator*() { return *now_; }
  LoopIterator& operator++() {
    now_ = pass_.next();
    return *this;
  }
  bool operator==(End) const { return !now_.has_value(); }

 private:
  Iterator<T> pass_;
  std::optional<T> now_;
};

// ---- transformations

namespace detail {
// The types that window gives: a dataset for every component of a tuple; for other elements one dataset.
template <class T>
struct WindowOf {
  using type = DatasetOf<T>;
  static constexpr bool kWhole = true;
};
template <>
struct WindowOf<Tensor> {
  using type = DatasetOf<Tensor>;
  static constexpr bool kWhole = false;
};
template <class... E>
  requires(std::is_same_v<E, Tensor> && ...)
struct WindowOf<std::tuple<E...>> {
  using type = std::tuple<DatasetOf<E>...>;
  static constexpr bool kWhole = false;
};
template <class F, class T>
using ResultOf = staged::Type<staged::CallResult<F, T>>;
}  // namespace detail

template <class T>
class DatasetOf : public Dataset {
 public:
  using value_type = T;
  DatasetOf() : form_(std::make_shared<Form<T>>()) {}
  DatasetOf(Made made, std::shared_ptr<Form<T>> form) : Dataset(std::move(made)), form_(std::move(form)) {}

  Iterator<T> iterator() const {
    require_eager("iterator");
    return {handle_of(Ref<Pass>::adopt(new Pass(made_.node))), made_.node, form_};
  }
  // A pass that goes on where another one stood, with the very same elements.
  Iterator<T> iterator_at(const Position& position) const {
    Iterator<T> it = iterator();
    it.set_position(position);
    return it;
  }
  LoopIterator<T> begin() const {
    require_eager("Dataset");
    return LoopIterator<T>(iterator());
  }
  typename LoopIterator<T>::End end() const { return {}; }

  DatasetOf take(int64_t count) const {
    return same([=](const Ref<Node>& in) { return make_take(in, count); });
  }
  DatasetOf skip(int64_t count) const {
    return same([=](const Ref<Node>& in) { return make_skip(in, count); });
  }
  DatasetOf repeat(int64_t count = -1) const {
    return same([=](const Ref<Node>& in) { return make_repeat(in, count); });
  }
  DatasetOf shard(int64_t num_shards, int64_t index) const {
    return same([=](const Ref<Node>& in) { return make_shard(in, num_shards, index); });
  }
  // The order of a seed is TensorFlow's.
  DatasetOf shuffle(int64_t buffer_size, const ShuffleOptions& options = {}) const {
    const OpSeeds seeds = next_op_seeds(options.seed);
    return same([=](const Ref<Node>& in) {
      return make_shuffle(in, buffer_size, seeds.seed, seeds.seed2, options.reshuffle_each_iteration);
    });
  }
  DatasetOf concatenate(const DatasetOf& other) const {
    return {
        make_dataset({made_, other.made_}, {}, [](auto in, auto) { return make_concatenate(in[0], in[1]); }),
        form_};
  }
  DatasetOf batch(int64_t batch_size, const BatchOptions& options = {}) const {
    return same([=](const Ref<Node>& in) { return make_batch(in, batch_size, options.drop_remainder); });
  }
  DatasetOf padded_batch(int64_t batch_size, const PaddedBatchOptions& options = {}) const {
    return same([=](const Ref<Node>& in) {
      return make_padded_batch(in, batch_size, options.padded_shapes, options.padding_values,
                               options.drop_remainder);
    });
  }
  DatasetOf unbatch() const {
    return same([](const Ref<Node>& in) { return make_unbatch(in); });
  }
  // Without a name in memory. The first whole pass fills it.
  DatasetOf cache(const std::string& filename = {}) const {
    return same([=](const Ref<Node>& in) { return make_cache(in, filename); });
  }
  // A thread that makes elements ahead of who asks for them.
  DatasetOf prefetch(int64_t buffer_size = kAutotune) const {
    return same([=](const Ref<Node>& in) { return make_prefetch(in, buffer_size); });
  }
  DatasetOf<std::tuple<Tensor, T>> enumerate(int64_t start = 0) const {
    return other<std::tuple<Tensor, T>>([=](const Ref<Node>& in) { return make_enumerate(in, start); },
                                        paired_form());
  }
  // Datasets of `size` elements each.
  DatasetOf<typename detail::WindowOf<T>::type> window(int64_t size,
                                                       const WindowOptions& options = {}) const {
    using W = typename detail::WindowOf<T>::type;
    auto form = std::make_shared<Form<W>>();
    if constexpr (detail::WindowOf<T>::kWhole) form = std::make_shared<Form<W>>(W({}, form_));
    return other<W>(
        [=](const Ref<Node>& in) {
          return make_window(in, size, options.shift == 0 ? size : options.shift, options.stride,
                             options.drop_remainder, detail::WindowOf<T>::kWhole);
        },
        form);
  }

  // f(element) for every element. With threads f is called by several at once.
  template <class F>
  DatasetOf<detail::ResultOf<F, T>> map(F f, const MapOptions& options = {}) const {
    using U = detail::ResultOf<F, T>;
    auto form = std::make_shared<Form<U>>();
    const int64_t threads = cores_if_autotune(options.num_parallel_calls);
    return other<U>([fn = element_fn<U>(std::move(f), form), options, threads](
                        const Ref<Node>& in) { return make_map(in, fn(in), threads, options.deterministic); },
                    form);
  }
  // The elements for which predicate(element) is true.
  template <class F>
  DatasetOf filter(F predicate) const {
    return same([fn = element_fn<Tensor>(std::move(predicate), std::make_shared<Form<Tensor>>())](
                    Ref<Node> in) { return make_filter(in, fn(in)); });
  }
  // f gives a dataset for every element; theirs are joined.
  template <class F>
  auto flat_map(F f) const {
    return joined(std::move(f), 1, 1, false, "flat_map");
  }
  // The same with several datasets open at once, block_length elements from each in turn.
  template <class F>
  auto interleave(F f, const InterleaveOptions& options = {}) const {
    return joined(std::move(f), cores_if_autotune(options.cycle_length), options.block_length,
                  options.num_parallel_calls != 0, "interleave");
  }
  template <class F>
  auto apply(F f) const {
    return f(*this);
  }

  // f(state, element) over all elements; in a function one While. See for_each.h.
  template <class S, class F>
  staged::Type<S> reduce(const S& initial_state, F&& f) const;

  const std::shared_ptr<Form<T>>& form() const { return form_; }

 private:
  template <class F>
  DatasetOf same(F make) const {
    return other<T>(std::move(make), form_);
  }
  template <class U, class F>
  DatasetOf<U> other(F make, std::shared_ptr<Form<U>> form) const {
    node();
    return {make_dataset({made_}, {}, [make = std::move(make)](auto in, auto) { return make(in[0]); }),
            std::move(form)};
  }
  std::shared_ptr<Form<std::tuple<Tensor, T>>> paired_form() const {
    using P = std::tuple<Tensor, T>;
    if constexpr (FixedForm<T>::kFixed) return std::make_shared<Form<P>>();
    else return std::make_shared<Form<P>>(P{Tensor(0), form_->example(node())});
  }
  // f on flat elements of a node.
  template <class U, class F>
  auto element_fn(F f, const std::shared_ptr<Form<U>>& to) const {
    return [f = std::make_shared<F>(std::move(f)), from = form_, to](const Ref<Node>& in) -> ElementFn {
      // The node keeps the function and the input: a plain pointer makes no circle.
      return [f, from, to, node = in.get()](const Element& element, Element* out) {
        const T value = from->read(element, *node);
        to->see(staged::fit<U>(staged::call(*f, value)), out);
      };
    };
  }
  template <class F>
  auto joined(F f, int64_t cycle, int64_t block, bool parallel, const char* name) const {
    using D = std::remove_cvref_t<staged::CallResult<F, T>>;
    using U = typename D::value_type;
    auto form = std::make_shared<Form<U>>();
    auto fn = [f = std::make_shared<F>(std::move(f)), from = form_, form](const Ref<Node>& in) -> ElementFn {
      return [f, from, form, node = in.get()](const Element& element, Element* out) {
        const T value = from->read(element, *node);
        const D inner = staged::call(*f, value);
        form->copy(*inner.form(), inner.node());
        out->clear();
        out->push_back(inner.made().handle);
      };
    };
    return other<U>(
        [=](const Ref<Node>& in) { return make_interleave(in, fn(in), cycle, block, parallel, name); }, form);
  }

  std::shared_ptr<Form<T>> form_;
};

template <class T>
struct FixedForm<DatasetOf<T>> {
  static constexpr bool kFixed = FixedForm<T>::kFixed;
  static DatasetOf<T> make() { return DatasetOf<T>({Tensor(0), {}}, std::make_shared<Form<T>>()); }
};

// ---- sources

template <class S>
DatasetOf<ElementOf<S>> Dataset::from_tensor_slices(const S& tensors) {
  auto form = std::make_shared<Form<ElementOf<S>>>();
  Element list;
  form->see(element_of(tensors), &list);
  return {make_dataset({}, {list.begin(), list.end()},
                       [](auto, auto in) { return make_slices({in.begin(), in.end()}); }),
          form};
}
template <class S>
DatasetOf<ElementOf<S>> Dataset::from_tensors(const S& tensors) {
  auto form = std::make_shared<Form<ElementOf<S>>>();
  Element list;
  form->see(element_of(tensors), &list);
  return {make_dataset({}, {list.begin(), list.end()},
                       [](auto, auto in) { return make_single({in.begin(), in.end()}); }),
          form};
}
inline DatasetOf<Tensor> Dataset::from_tensor_slices(std::initializer_list<Literal> list) {
  return from_tensor_slices(constant(list));
}
inline DatasetOf<Tensor> Dataset::from_tensors(std::initializer_list<Literal> list) {
  return from_tensors(constant(list));
}
inline DatasetOf<Tensor> Dataset::range(int64_t start, int64_t stop, int64_t step, DType output_type) {
  return {make_dataset({}, {}, [=](auto, auto) { return make_range(start, stop, step, output_type); }),
          std::make_shared<Form<Tensor>>()};
}
inline DatasetOf<Tensor> Dataset::range(int64_t stop, DType output_type) {
  return range(0, stop, 1, output_type);
}
template <class G>
auto Dataset::from_generator(G next, const std::optional<std::vector<TensorSpec>>& output_signature) {
  using T = ElementOf<typename std::invoke_result_t<G&>::value_type>;
  auto form = std::make_shared<Form<T>>();
  auto start = [next, form]() -> NextFn {
    return [step = std::make_shared<G>(next), form](Element* out) {
      auto made = (*step)();
      if (!made) return false;
      form->see(element_of(*made), out);
      return true;
    };
  };
  return DatasetOf<T>(make_dataset({}, {},
                                   [=, specs = specs_of(output_signature)](auto, auto) {
                                     return make_generator(start, specs);
                                   }),
                      form);
}
template <class... D>
DatasetOf<std::tuple<typename D::value_type...>> Dataset::zip(const D&... datasets) {
  using T = std::tuple<typename D::value_type...>;
  std::shared_ptr<Form<T>> form;
  if constexpr (FixedForm<T>::kFixed) form = std::make_shared<Form<T>>();
  else form = std::make_shared<Form<T>>(T{datasets.form()->example(datasets.node())...});
  return {
      make_dataset({datasets.made()...}, {}, [](auto in, auto) { return make_zip({in.begin(), in.end()}); }),
      form};
}

}  // namespace rw::data

// A dataset as an argument of a function, a loop variable or an element: what is traced depends on its specs.
template <class T>
struct rw::Nest<rw::data::DatasetOf<T>> {
  static void write(const data::DatasetOf<T>& d, NestWriter& w) {
    w.key.add(TraceKey::kList, 1);
    if (d.made().node)
      for (const data::LeafSpec& s : d.node().specs())
        w.key.add_text(std::string(name_of(s.dtype)) + s.exact.to_string());
    Nest<Tensor>::write(d.made().handle, w);
  }
  static data::DatasetOf<T> read(const data::DatasetOf<T>& like, NestReader& r) {
    return {data::made_from(*r.next++, like.made().node), like.form()};
  }
};
