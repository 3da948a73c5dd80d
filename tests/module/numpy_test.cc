// numpy's files: what is written is read, in every type and order; damage is refused.
#include "rewind/tensor/numpy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rewind/format/npy.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

class Numpy : public testing::Test {
 protected:
  // A file as numpy writes it.
  std::string file(const std::string& dict, const std::string& elements, char version = 1) {
    std::string bytes("\x93NUMPY", 6);
    bytes += version;
    bytes += '\0';
    bytes += char(dict.size() & 0xff);
    bytes += char(dict.size() >> 8);
    if (version > 1) bytes += std::string(2, '\0');
    test::write_bytes(folder / "x.npy", bytes + dict + elements);
    return folder / "x.npy";
  }
  static std::string dict(const std::string& descr, const std::string& shape,
                          const std::string& fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  }
  test::TemporaryFolder folder;
};

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.host_data(), b.host_data(), size_t(a.size()) * size_of(a.dtype())) == 0;
}

TEST_F(Numpy, EveryTypeBothWays) {
  const Tensor base = reshape(range(6), {2, 3});
  for (const DType dtype : {uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, bfloat16,
                            float32, float64, DType::kComplex64, DType::kComplex128, bool_}) {
    for (const Tensor& x : {cast(base, dtype), cast(constant(1), dtype), zeros({0, 2}, dtype)}) {
      numpy::save(folder / "x.npy", x);
      EXPECT_TRUE(same_bytes(numpy::load(folder / "x.npy"), x)) << name_of(dtype);
    }
  }
  const Tensor text = constant(std::vector<std::string>{"ab", "", "é"}, {3, 1});
  numpy::save(folder / "x.npy", text);
  const Tensor back = numpy::load(folder / "x.npy");
  EXPECT_EQ(back.to_vector<std::string>(), text.to_vector<std::string>());
  EXPECT_EQ(back.shape(), Shape({3, 1}));
}

TEST_F(Numpy, TheHeaderIsNumpysOwn) {
  numpy::save(folder / "x.npy", constant({1.f, 2.f, 3.f}));
  const std::string bytes = test::read_bytes(folder / "x.npy");
  EXPECT_EQ(bytes.size(), 128u + 12u);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0v\0", 10));
  EXPECT_EQ(bytes.substr(10, 58), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } ");
  EXPECT_EQ(bytes[127], '\n');
}

TEST_F(Numpy, OtherOrdersAndForms) {
  const std::string big("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  EXPECT_EQ(numpy::load(file(dict(">i2", "(2, 3)"), big)).to_vector<int16_t>(),
            (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(numpy::load(file(dict(">i2", "(2, 3)", "True"), big)).to_vector<int16_t>(),
            (std::vector<int16_t>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(numpy::load(file(dict("|u1", "(1, 2L, 3)", "True"), "abcdef", 2)).to_vector<uint8_t>(),
            (std::vector<uint8_t>{'a', 'c', 'e', 'b', 'd', 'f'}));
  EXPECT_EQ(numpy::load(file("{\"shape\": (), \"descr\": \"|b1\", \"fortran_order\": False}", "\1", 3))
                .item<bool>(),
            true);
  const std::string text("a\0\0\0\xe9\0\0\0\0\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(numpy::load(file(dict("<U2", "(2,)"), text)).to_vector<std::string>(),
            (std::vector<std::string>{"aé", ""}));
}

TEST_F(Numpy, DamageIsRefused) {
  const auto refused = [&](const std::string& path, const std::string& part) {
    expect_error<DataLossError>([&] { numpy::load(path); }, part);
  };
  refused(file(dict("<f4", "(2, 3)"), "short"), "takes 24 bytes, 5 follow the header");
  refused(file(dict("<f4", "(99999999999999999999,)"), ""), "a size beyond int64");
  refused(file(dict("<f4", "(4611686018427387904, 4611686018427387904)"), ""), "has too many elements");
  refused(file(dict("|S0", "(1000000000,)"), ""), "more strings than the file has bytes");
  refused(file("{'descr': '<f4', }", ""), "descr, fortran_order and shape are needed");
  refused(file("{'descr': '<f4', 'other': 1}", ""), "unexpected key 'other'");
  refused(file(dict("<f4", "(1,)") + "x", "abcd"), "something follows the dict");
  refused(file(dict("<U1", "(1,)"), "\xff\xff\xff\xff"), "a character beyond Unicode");
  test::write_bytes(folder / "x.npy", "PK");
  refused(folder / "x.npy", "x.npy: damaged at byte");
  expect_error<UnimplementedError>([&] { numpy::load(file(dict("|O", "(1,)"), "")); },
                                   "pickled objects run code");
  expect_error<UnimplementedError>([&] { numpy::load(file("{'descr': [('a', '<i4')], ", "")); },
                                   "structures");
  expect_error<NotFoundError>([&] { numpy::load(folder / "none.npy"); }, "none.npy");
}

TEST_F(Numpy, Archives) {
  const std::map<std::string, Tensor> arrays{{"x", zeros({100, 100})}, {"a/b", constant({1, 2, 3})}};
  numpy::savez(folder / "x.npz", arrays);
  numpy::savez_compressed(folder / "y.npz", arrays);
  for (const char* name : {"x.npz", "y.npz"}) {
    const auto back = numpy::load_npz(folder / name);
    ASSERT_EQ(back.size(), 2u);
    for (const auto& [key, value] : arrays) EXPECT_TRUE(same_bytes(back.at(key), value)) << key;
  }
  EXPECT_LT(test::read_bytes(folder / "y.npz").size(), 2000u);
  expect_error<DataLossError>([&] { numpy::load_npz(folder / "y.npz", {.always = 1000, .ratio = 10}); },
                              "its files would become");
  expect_error<InvalidArgumentError>([&] { numpy::save(folder / "z.npy", constant(std::string("a\0", 2))); },
                                     "cannot end with a zero byte");
}

TEST_F(Numpy, WeightsOfModules) {
  struct Net : Module {
    Variable w = Variable(constant({{1.f, 2.f}})), b = Variable(constant(3));
    RW_TRACK(w, b)
  };
  for (const char* name : {"w.npz", "w.h5", "w.safetensors"}) {
    const Net net;
    save_weights(net, folder / name);
    net.w.assign(constant({{0.f, 0.f}}));
    load_weights(net, folder / name);
    EXPECT_EQ(net.w.to_vector<float>(), (std::vector<float>{1, 2})) << name;
  }
  EXPECT_EQ(numpy::load_npz(folder / "w.npz").at("b").item<int>(), 3);
}

}  // namespace
}  // namespace rw
