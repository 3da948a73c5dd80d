// The memory page: well formed, complete, on its own; and a browser shows it.
#include "rewind/report/memory_page.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rewind/rewind.h"

namespace rw {
namespace {

namespace fs = std::filesystem;

MemoryReport planned(int64_t percent) {
  static const Tensor x = random::stateless_normal({256, 128}, constant(std::vector<int64_t>{1, 2}));
  static std::vector<Variable> weights;
  while (weights.size() < 6)
    weights.emplace_back(
        random::stateless_normal({128, 128}, constant(std::vector<int64_t>{3, int64_t(weights.size())})) *
        0.1f);
  const auto train = [](Tensor t) {
    GradientTape tape;
    Tensor y = t;
    for (const Variable& w : weights) y = nn::gelu(matmul(y, w), true);
    const Tensor loss = reduce_mean(math::square(y));
    const std::vector<Gradient> grads = tape.gradient(loss, weights);
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(grads[i].tensor() * 0.01f);
    return loss;
  };
  const MemoryReport free_plan = function(train).memory_plan(x);
  const int64_t most = free_plan.curve.front().budget, least = free_plan.curve.back().budget;
  const auto step = function(train, {.memory_budget = least + (most - least) * percent / 100 + (64 << 10)});
  step(x);
  return step.memory_plan(x);
}

// Every element that begins ends, in order. Gives the names of all elements.
std::vector<std::string> elements(const std::string& html) {
  std::vector<std::string> open, all;
  for (size_t i = html.find('<'); i != std::string::npos; i = html.find('<', i + 1)) {
    const size_t end = html.find('>', i);
    EXPECT_NE(end, std::string::npos);
    if (end == std::string::npos) break;
    const std::string tag = html.substr(i + 1, end - i - 1);
    if (tag.starts_with("!") || tag.ends_with("/") || tag.starts_with("meta")) continue;
    const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" \n") - (tag[0] == '/'));
    if (tag[0] != '/') {
      open.push_back(name);
      all.push_back(name);
    } else if (open.empty() || open.back() != name) {
      ADD_FAILURE() << "</" << name << "> does not close " << (open.empty() ? "anything" : open.back());
      return all;
    } else {
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty()) << "open at the end: " << open.back();
  return all;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

std::string text_of(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

TEST(MemoryPage, HasAllPartsAndNothingFromOutside) {
  const MemoryReport plan = planned(30);
  ASSERT_GT(plan.second_runs, 0);
  const std::string html = memory::report_page(plan);
  const std::vector<std::string> all = elements(html);
  EXPECT_EQ(std::count(all.begin(), all.end(), "svg"), 3);
  for (const char* part : {"id=\"timeline\"", "id=\"lives\"", "id=\"tensors\"", "id=\"curve\"",
                           "class=\"budget\"", "prefers-color-scheme: dark"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  for (const char* part : {"http:", "https:", "<script", "src=", "href=", "@import", "url("})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  // One point a plan; one row a tensor; second runs have bars of their own.
  EXPECT_EQ(count(html, "<circle class=\"point\""), plan.curve.size());
  EXPECT_EQ(count(html, "<circle class=\"own\""), 1u);
  EXPECT_EQ(html.find("_Fused"), std::string::npos) << "groups are named by their ops";
  EXPECT_EQ(count(html, "<tr><td"), std::min<size_t>(40, plan.tensors.size()));
  EXPECT_GT(count(html, "<rect class=\"again\""), 0u);
  EXPECT_NE(html.find("made again 1 x"), std::string::npos);
  EXPECT_GT(count(html, "memory_page_test.cc:"), 5u);  // the user's lines
}

TEST(MemoryPage, NamesAreText) {
  MemoryReport plan;
  plan.name = "f<float> & \"g\"";
  plan.tensors.push_back({"A<B>", "float32(1)", 64, 0, "/x/<y>.cc:3"});
  const std::string html = memory::report_page(plan);
  elements(html);
  EXPECT_NE(html.find("f&lt;float&gt; &amp; &quot;g&quot;"), std::string::npos);
  EXPECT_EQ(html.find("A<B>"), std::string::npos);
}

TEST(MemoryPage, OnePlanHasOneLabel) {
  MemoryReport plan;
  plan.curve.push_back({int64_t(100) << 20, 0});
  const std::string html = memory::report_page(plan);
  EXPECT_EQ(count(html, ">100.0 MiB</text>"), 1u) << html;
}

TEST(MemoryPage, LivesAddUpToThePlan) {
  const MemoryReport plan = planned(30);
  int64_t most = 0;
  for (int step = 0; step < plan.num_steps; ++step) {
    int64_t bytes = 0;
    for (const MemoryReport::Life& l : plan.lives)
      if (l.first <= step && step <= l.last) bytes += l.bytes;
    most = std::max(most, bytes);
  }
  EXPECT_GT(most, plan.largest_live / 2);
  EXPECT_LE(most, plan.largest_live);
}

// In a process of its own under ctest; there is always a last plan here.
TEST(MemoryPage, ABrowserShowsIt) {
  const fs::path folder = fs::temp_directory_path() / ("rewind_page_" + std::to_string(getpid()));
  fs::create_directories(folder);
  planned(30);
  const fs::path page = folder / "report.html";
  memory::write_report(page.string());
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) {
    fs::remove_all(folder);
    GTEST_SKIP() << "no chromium: the page is checked as text alone (apt install chromium)";
  }
  for (const char* scheme : {"light", "dark"}) {
    const fs::path picture = folder / (std::string(scheme) + ".png");
    const std::string command =
        "timeout 100 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=" +
        (folder / "profile").string() + " --window-size=1100,1500 " +
        "--blink-settings=preferredColorScheme=" + (std::string(scheme) == "dark" ? "0 " : "1 ") +
        "--screenshot=" + picture.string() + " --dump-dom file://" + page.string() + " > " +
        (folder / "dom.html").string() + " 2> /dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_GT(fs::file_size(picture), 20'000u);
  }
  EXPECT_NE(text_of(folder / "light.png"), text_of(folder / "dark.png"));
  const std::string dom = text_of(folder / "dom.html");
  EXPECT_EQ(count(dom, "<svg"), 3u);
  if (const char* keep = std::getenv("REWIND_KEEP_PAGE"))
    fs::copy(folder, keep, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rw
