#include "rewind/keras/plot_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "rewind/base/error.h"

namespace rw::keras {
namespace {

History run_of(int epochs) {
  History history;
  Logs none;
  history.on_train_begin(none);
  for (int i = 0; i < epochs; ++i) {
    Logs logs{
        {"accuracy", 0.5 + 0.01 * i}, {"loss", 1.0 / (i + 1)}, {"val_loss", i == 2 ? NAN : 2.0 / (i + 1)}};
    history.on_epoch_end(i, logs);
  }
  return history;
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(PlotHistory, DrawsOnePanelAMetricWithBothCurves) {
  const std::string svg = plot_history_svg(run_of(5), {.title = "a < b"});
  EXPECT_EQ(svg.find("<svg"), 0u);
  EXPECT_LT(svg.find(">loss<"), svg.find(">accuracy<"));
  EXPECT_EQ(svg.find(">val_loss<"), std::string::npos);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  // Two curves for training; the one for validation is cut where it is not a number. And two in the legend.
  EXPECT_EQ(count(svg, "class=\"t\""), 3u);
  EXPECT_EQ(count(svg, "class=\"v\""), 3u);
  EXPECT_EQ(count(svg, "nan"), 0u);
}

TEST(PlotHistory, FollowsTheViewersColours) {
  EXPECT_EQ(count(plot_history_svg(run_of(2)), "prefers-color-scheme:dark"), 1u);
  EXPECT_EQ(count(plot_history_svg(run_of(2), {.theme = "dark"}), "prefers-color-scheme"), 0u);
  EXPECT_THROW(plot_history_svg(run_of(2), {.theme = "blue"}), InvalidArgumentError);
}

TEST(PlotHistory, RefusesAnEmptyHistoryAndAPathThatIsNone) {
  EXPECT_THROW(plot_history_svg(History()), InvalidArgumentError);
  EXPECT_THROW(plot_history(run_of(1), "/no/such/folder/run.svg"), InvalidArgumentError);
  const auto path = std::filesystem::temp_directory_path() / "rewind_plot_history.svg";
  plot_history(run_of(1), path.string());
  EXPECT_GT(std::filesystem::file_size(path), 500u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rw::keras
