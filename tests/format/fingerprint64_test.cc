#include "rewind/format/fingerprint64.h"

#include <gtest/gtest.h>

#include <string>

namespace rw::format {
namespace {

// tf.fingerprint of the first n letters of "ahovcjqxelszgnubipwdkryfmta..." (steps of seven).
TEST(Fingerprint64, IsTensorFlows) {
  std::string letters;
  for (int i = 0; i < 300; ++i) letters += char('a' + i * 7 % 26);
  const struct {
    size_t length;
    uint64_t hash;
  } cases[] = {
      {0, 11160318154034397263U},   {1, 12917804110809363939U},  {3, 3268219959478574187U},
      {4, 8899178591127745170U},    {7, 17088493756539222794U},  {8, 10643460534063147040U},
      {16, 17624453864830929246U},  {17, 2237273621417572890U},  {32, 10824083725960157628U},
      {33, 8045080651094301868U},   {64, 16149515108185634462U}, {65, 2768067016444695309U},
      {128, 10481128642166395277U}, {129, 1060550032972533880U}, {200, 15075557378531049012U},
      {299, 11542044457728992175U},
  };
  for (const auto& c : cases)
    EXPECT_EQ(fingerprint64(std::string_view(letters).substr(0, c.length)), c.hash) << c.length;
}

}  // namespace
}  // namespace rw::format
