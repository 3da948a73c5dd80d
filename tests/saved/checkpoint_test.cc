// Checkpoints of variables, modules, lists, generators and iterators: keys, what restore() matches, the
// status.
#include "rewind/saved/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "rewind/format/message.h"
#include "rewind/format/object_graph.h"
#include "rewind/rewind.h"
#include "rewind/saved/snapshot.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using train::Checkpoint;

struct Block : Module {
  Variable w, b;
  explicit Block(float value) : w(fill({2, 3}, value)), b(fill({3}, value), {.name = "bias"}) {}
  RW_TRACK(w, b)
};

struct Net : Module {
  Variable scale{2.0F};
  std::vector<Block> layers;
  std::map<std::string, Variable> named;
  std::vector<std::vector<Variable>> nested;
  std::unique_ptr<Block> pointer;
  Variable later;  // undefined at first
  Block shared{5};
  Block* again = &shared;
  explicit Net(float value) : pointer(std::make_unique<Block>(value + 2)) {
    layers.emplace_back(value);
    layers.emplace_back(value + 1);
    named["a/b"] = Variable(value);
    named["x.y"] = Variable(value);
    nested.push_back({Variable(value), Variable(value)});
  }
  RW_TRACK(scale, layers, named, nested, pointer, later, shared, again)
};

class Checkpoints : public testing::Test {
 protected:
  std::vector<std::string> keys(const std::string& path) const {
    std::vector<std::string> list;
    for (const auto& [key, shape] : train::list_variables(path)) list.push_back(key);
    return list;
  }
  static std::string value(const std::string& path) { return path + "/.ATTRIBUTES/VARIABLE_VALUE"; }
  test::TemporaryFolder folder;
};

TEST_F(Checkpoints, SaveCountsAndNotesIt) {
  const Variable v(1.0F);
  const Checkpoint ckpt({{"v", v}});
  EXPECT_EQ(ckpt.save(folder / "run/ckpt"), folder / "run/ckpt-1");
  v.assign(2.0F);
  const std::string path = ckpt.save(folder / "run/ckpt");
  EXPECT_EQ(path, folder / "run/ckpt-2");
  EXPECT_EQ(train::latest_checkpoint(folder / "run"), path);
  EXPECT_EQ(keys(path),
            (std::vector<std::string>{"_CHECKPOINTABLE_OBJECT_GRAPH", value("save_counter"), value("v")}));
  EXPECT_EQ(test::read_bytes(folder / "run/checkpoint"),
            "model_checkpoint_path: \"ckpt-2\"\nall_model_checkpoint_paths: \"ckpt-2\"\n");
  v.assign(9.0F);
  ckpt.restore(folder / "run/ckpt-1").assert_consumed();
  EXPECT_EQ(v.item<float>(), 1);
  EXPECT_EQ(ckpt.save_counter().item<int64_t>(), 1);

  const Variable other(0.0F);
  const Checkpoint fresh({{"v", other}});
  fresh.restore(train::latest_checkpoint(folder / "run")).assert_consumed();
  EXPECT_EQ(other.item<float>(), 2);
  EXPECT_EQ(fresh.save(folder / "run/ckpt"), folder / "run/ckpt-3");
}

TEST_F(Checkpoints, NamesAreThoseOfTensorFlow) {
  Net net(1);
  EXPECT_EQ(Checkpoint(net).write(folder / "net"), folder / "net");
  EXPECT_EQ(keys(folder / "net"),
            (std::vector<std::string>{"_CHECKPOINTABLE_OBJECT_GRAPH", value("layers/0/b"),
                                      value("layers/0/w"), value("layers/1/b"), value("layers/1/w"),
                                      value("named/a.Sb"), value("named/x..y"), value("nested/0/0"),
                                      value("nested/0/1"), value("pointer/b"), value("pointer/w"),
                                      value("scale"), value("shared/b"), value("shared/w")}));
  const train::CheckpointReader reader(folder / "net");
  const auto graph = format::decode<format::TrackableObjectGraph>(
      reader.get_tensor(saved::kObjectGraphKey).item<std::string>());
  std::vector<std::string> edges;
  for (const auto& child : graph.nodes[0].children)
    edges.push_back(child.local_name + " " + std::to_string(child.node_id));
  EXPECT_EQ(edges, (std::vector<std::string>{"scale 1", "layers 2", "named 3", "nested 4", "pointer 5",
                                             "shared 6", "again 6", "root 0"}));
  EXPECT_EQ(graph.nodes[1].attributes[0].full_name, "Variable");
  Net read(7);
  Checkpoint(read).read(folder / "net").assert_consumed();
  EXPECT_EQ(read.layers[1].w.to_vector<float>(), std::vector<float>(6, 2));
  EXPECT_EQ(read.named.at("a/b").item<float>(), 1);
  EXPECT_EQ(read.scale.item<float>(), 2);
}

TEST_F(Checkpoints, RootsMayHaveFurtherEdges) {
  Block block(1);
  const Variable extra(3.0F);
  const Checkpoint ckpt(block, {{"extra", extra}});
  const std::string path = ckpt.save(folder / "c");
  EXPECT_EQ(keys(path), (std::vector<std::string>{"_CHECKPOINTABLE_OBJECT_GRAPH", value("b"), value("extra"),
                                                  value("save_counter"), value("w")}));
  extra.assign(0.0F);
  ckpt.restore(path).assert_consumed();
  EXPECT_EQ(extra.item<float>(), 3);
  expect_error<InvalidArgumentError>([&] { Checkpoint(block, {{"w", extra}}); },
                                     "[Checkpoint] the root has an object named \"w\" already");
}

TEST_F(Checkpoints, EveryTypeComesBack) {
  std::vector<Variable> list;
  std::vector<uint8_t> bytes(6 * sizeof(double) * 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i % 2);  // a bool is 0 or 1
  for (const DType dtype :
       {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64, DType::kInt8, DType::kInt16,
        DType::kInt32, DType::kInt64, DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64,
        DType::kBool, DType::kComplex64, DType::kComplex128})
    list.emplace_back(tensor_from_bytes(bytes.data(), dtype, {2, 3}));
  list.emplace_back(
      constant(std::vector<std::string>{"a", "", std::string("\0x", 2), std::string(70000, 'y')}));
  list.emplace_back(zeros({0, 3}));
  std::vector<Tensor> before;
  for (const Variable& v : list) before.push_back(v.value());
  const Checkpoint ckpt({{"list", list}});
  ckpt.write(folder / "types");
  const std::vector<uint8_t> none(bytes.size());
  for (const Variable& v : list)
    v.assign(v.dtype() == DType::kString ? constant(std::vector<std::string>(4))
                                         : tensor_from_bytes(none.data(), v.dtype(), v.shape()));
  ckpt.read(folder / "types").assert_consumed();
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].dtype() == DType::kString) {
      EXPECT_EQ(list[i].to_vector<std::string>(), before[i].to_vector<std::string>());
    } else {
      const size_t bytes = size_t(before[i].size()) * size_of(before[i].dtype());
      EXPECT_EQ(std::memcmp(list[i].value().host_data(), before[i].host_data(), bytes), 0) << i;
    }
  }
}

TEST_F(Checkpoints, TheStatusSaysWhatIsMissing) {
  const Variable a(1.0F), b(2.0F), c(3.0F);
  Checkpoint({{"a", a}, {"b", b}}).write(folder / "ab");
  const Checkpoint more({{"a", a}, {"b", b}, {"c", c}});
  const auto status = more.read(folder / "ab");
  status.assert_nontrivial_match();
  expect_error<FailedPreconditionError>([&] { status.assert_consumed(); },
                                        "[assert_consumed] every object must have its values from " +
                                            (folder / "ab") +
                                            ": 1 have not: c (variable Variable, float32 ())");
  expect_error<FailedPreconditionError>([&] { status.assert_existing_objects_matched(); }, "have not: c (");
  const Checkpoint less({{"a", a}});
  const auto partial = less.read(folder / "ab");
  partial.assert_existing_objects_matched();
  expect_error<FailedPreconditionError>(
      [&] { partial.assert_consumed(); },
      "every value of " + (folder / "ab") + " must have gone to an object: 1 have not: b;");
  const Checkpoint none({{"z", a}});
  expect_error<FailedPreconditionError>([&] { none.read(folder / "ab").assert_nontrivial_match(); },
                                        "nothing was; it was made of objects with other names");
  expect_error<FailedPreconditionError>([&] { Checkpoint().read(folder / "ab").assert_nontrivial_match(); },
                                        "has no objects yet");
  expect_error<FailedPreconditionError>([&] { less.restore("").expect_partial().assert_consumed(); },
                                        "no checkpoint was given");
  expect_error<NotFoundError>([&] { less.restore(folder / "gone"); }, "ends with its number");
}

TEST_F(Checkpoints, WhatWasNotRestoredIsSaidOnce) {
  const Variable a(1.0F), b(2.0F);
  Checkpoint({{"a", a}, {"b", b}}).write(folder / "ab");
  testing::internal::CaptureStderr();
  { Checkpoint({{"a", a}}).read(folder / "ab"); }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text, "rewind: not restored from " + (folder / "ab") +
                      ": b; expect_partial() says that this is meant\n");
  testing::internal::CaptureStderr();
  { Checkpoint({{"a", a}}).read(folder / "ab").expect_partial(); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Checkpoints, NothingIsAssignedIfAnythingDoesNotFit) {
  const Variable a(fill({2}, 1.0F)), b(2.0F);
  Checkpoint({{"a", a}, {"b", b}}).write(folder / "ab");
  const Variable a2(fill({2}, 7.0F)), b2(fill({2, 2}, 7.0F)), b3(7);
  for (const Variable& other : {b2, b3})
    expect_error<InvalidArgumentError>([&] { Checkpoint({{"a", a2}, {"b", other}}).read(folder / "ab"); },
                                       value("b") + " is () float32, the variable Variable");
  EXPECT_EQ(a2.to_vector<float>(), (std::vector<float>{7, 7}));
}

TEST_F(Checkpoints, WhatIsMadeLaterIsRestoredThen) {
  const Variable kernel(fill({2}, 3.0F)), bias(4.0F);
  const Checkpoint layer({{"kernel", kernel}, {"bias", bias}});
  Checkpoint({{"net", layer}}).save(folder / "c");

  const Variable first(0.0F), later(zeros({2}));
  const Checkpoint inner({{"bias", first}});
  {
    const Checkpoint outer({{"net", inner}});
    outer.restore(folder / "c-1").expect_partial();  // whoever restored may be gone
  }
  EXPECT_EQ(first.item<float>(), 4);
  inner.track("kernel", later);
  EXPECT_EQ(later.to_vector<float>(), (std::vector<float>{3, 3}));
}

TEST_F(Checkpoints, MembersOfModulesAreSeenByTheNextAssert) {
  Net net(1);
  net.later = Variable(8.0F);
  Checkpoint({{"net", net}}).write(folder / "net");
  Net read(2);
  const Checkpoint ckpt({{"net", read}});
  const auto status = ckpt.read(folder / "net");
  status.assert_existing_objects_matched();
  expect_error<FailedPreconditionError>([&] { status.assert_consumed(); }, "net/later");
  read.later = Variable(0.0F);
  read.layers.emplace_back(3.0F);
  EXPECT_EQ(read.later.item<float>(), 0);
  expect_error<FailedPreconditionError>([&] { status.assert_existing_objects_matched(); }, "net/layers/2/w");
  EXPECT_EQ(read.later.item<float>(), 8);
  read.layers.pop_back();
  status.assert_consumed();
}

TEST_F(Checkpoints, GeneratorsGoOn) {
  const auto g = random::Generator::from_seed(3);
  (void)g.normal({5});
  const Checkpoint ckpt({{"g", g}});
  ckpt.write(folder / "g");
  EXPECT_EQ(keys(folder / "g")[1], value("g/_state_var"));
  const std::vector<float> next = g.normal({4}).to_vector<float>();
  EXPECT_NE(g.normal({4}).to_vector<float>(), next);
  ckpt.read(folder / "g").assert_consumed();
  EXPECT_EQ(g.normal({4}).to_vector<float>(), next);
}

TEST_F(Checkpoints, IteratorsGoOn) {
  const auto ds = data::Dataset::range(20).shuffle(7, {.seed = 3}).batch(2);
  auto it = ds.iterator();
  (void)it.next();
  const Checkpoint ckpt({{"it", it}});
  const std::string path = ckpt.save(folder / "it");
  std::vector<std::vector<int64_t>> rest;
  while (const auto x = it.next()) rest.push_back(x->to_vector<int64_t>());
  auto other = ds.iterator();
  Checkpoint({{"it", other}}).restore(path).assert_consumed();
  std::vector<std::vector<int64_t>> again;
  while (const auto x = other.next()) again.push_back(x->to_vector<int64_t>());
  EXPECT_EQ(again, rest);
  EXPECT_EQ(rest.size(), 9u);
}

// Behind every element of two epochs, with what prefetch has taken already and what waits to be shuffled.
TEST_F(Checkpoints, IteratorsGoOnFromAnywhere) {
  random::set_seed(11);
  const auto ds = data::Dataset::range(23)
                      .shuffle(7, {.seed = 3})
                      .map([](const Tensor& x) { return x * 2; })
                      .repeat(2)
                      .batch(4)
                      .prefetch(2);
  auto it = ds.iterator();
  const Variable seen(0);
  const Checkpoint ckpt({{"it", it}, {"seen", seen}});
  std::vector<std::string> paths{ckpt.save(folder / "it")};
  std::vector<std::vector<int64_t>> whole;
  while (const auto x = it.next()) {
    whole.push_back(x->to_vector<int64_t>());
    seen.assign_add(1);
    paths.push_back(ckpt.save(folder / "it"));
  }
  EXPECT_EQ(whole.size(), 12U);
  for (const std::string& path : paths) {
    auto other = ds.iterator();
    (void)other.next();  // one that has begun already
    const Variable count(0);
    Checkpoint({{"it", other}, {"seen", count}}).restore(path).assert_consumed();
    std::vector<std::vector<int64_t>> rest;
    while (const auto x = other.next()) rest.push_back(x->to_vector<int64_t>());
    EXPECT_EQ(rest, std::vector(whole.begin() + count.item<int32_t>(), whole.end())) << path;
  }
  // Another pipeline does not take the position.
  auto other = data::Dataset::range(23).batch(4).iterator();
  expect_error<InvalidArgumentError>([&] { Checkpoint({{"it", other}}).restore(paths[3]); }, "position");
}

TEST_F(Checkpoints, SavingDoesNotWaitForTheFiles) {
  const Variable v(fill({1000}, 1.0F));
  const Checkpoint ckpt({{"v", v}});
  const std::string path = ckpt.save(folder / "c", {.asynchronous = true});
  v.assign(fill({1000}, 2.0F));  // the snapshot stays
  ckpt.sync();
  EXPECT_EQ(train::latest_checkpoint(folder / ""), path);
  ckpt.restore(path).assert_consumed();
  EXPECT_EQ(v.to_vector<float>(), std::vector<float>(1000, 1));
  (void)ckpt.save("/proc/none/c", {.asynchronous = true});
  expect_error<Error>([&] { ckpt.sync(); }, "/proc/none");
  ckpt.sync();
}

TEST_F(Checkpoints, TrainingGoesOnWhileFilesAreWritten) {
  const std::string dir = folder / "";
  const Variable v(zeros({1 << 18}));
  const Checkpoint ckpt({{"v", v}});
  // Each save holds the values of its moment, though the next ones begin and values change meanwhile.
  std::vector<std::string> paths;
  for (int i = 1; i <= 5; ++i) {
    v.assign_add(ones({1 << 18}));
    paths.push_back(ckpt.save(dir + "c", {.asynchronous = true}));
  }
  v.assign_add(ones({1 << 18}));
  ckpt.sync();
  EXPECT_EQ(train::latest_checkpoint(dir), paths.back());
  for (int i = 1; i <= 5; ++i) {
    const Tensor saved = train::load_variable(paths[size_t(i) - 1], "v/.ATTRIBUTES/VARIABLE_VALUE");
    EXPECT_EQ(reduce_min(saved).item<float>(), float(i));
    EXPECT_EQ(reduce_max(saved).item<float>(), float(i));
  }
  // The last handle waits for its thread; a failure that nobody asks for is said.
  const std::string late = folder / "late";
  { Checkpoint({{"v", v}}).write(late, {.asynchronous = true}); }
  EXPECT_EQ(train::load_variable(late, "v/.ATTRIBUTES/VARIABLE_VALUE")[0].item<float>(), 6.0F);
  testing::internal::CaptureStderr();
  { Checkpoint({{"v", v}}).write("/proc/none/c", {.asynchronous = true}); }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a checkpoint was not saved"), std::string::npos);
  // An error comes at the next call, which then has nothing of its own done.
  ckpt.write("/proc/none/c", {.asynchronous = true});
  expect_error<Error>([&] { ckpt.write(folder / "next"); }, "/proc/none");
  EXPECT_FALSE(std::filesystem::exists(folder / "next.index"));
  ckpt.write(folder / "next");
  EXPECT_TRUE(std::filesystem::exists(folder / "next.index"));
}

TEST_F(Checkpoints, FailedSavesDoNotCount) {
  const Variable v(1.0F);
  const Checkpoint ckpt({{"v", v}});
  expect_error<Error>([&] { (void)ckpt.save("/proc/none/c"); }, "[Checkpoint.save] /proc/none/c-1");
  EXPECT_EQ(ckpt.save_counter().item<int64_t>(), 0);
}

TEST_F(Checkpoints, ShardsOfAGivenSize) {
  std::vector<Variable> list;
  for (int i = 0; i < 5; ++i) list.emplace_back(fill({100}, float(i)));
  const Checkpoint ckpt({{"list", list}});
  ckpt.write(folder / "c", {.max_shard_bytes = 700});
  EXPECT_EQ(format::bundle_shards(folder / "c", "test"), 3);
  for (const Variable& v : list) v.assign(zeros({100}));
  ckpt.read(folder / "c").assert_consumed();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(list[size_t(i)].to_vector<float>(), std::vector<float>(100, float(i)));
}

TEST_F(Checkpoints, OnlyWhatHasStateIsTaken) {
  expect_error<InvalidArgumentError>([&] { Checkpoint({{"v", Variable()}}); },
                                     "[Checkpoint] expected a variable");
}

}  // namespace
}  // namespace rw
