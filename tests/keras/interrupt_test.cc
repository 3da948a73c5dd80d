// SIGINT while fit runs: fit ends after the step, the program's own handler is called, and what was there
// before is back, however fit ends.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

volatile std::sig_atomic_t g_plain = 0, g_informed = 0;
void plain_handler(int) { g_plain = g_plain + 1; }
void other_handler(int) {}
void informed_handler(int signal, siginfo_t* info, void* context) {
  if (signal == SIGINT && info && context && info->si_pid == getpid()) g_informed = g_informed + 1;
}

struct InterruptAt : keras::Callback {
  explicit InterruptAt(int64_t when) : left(when) {}
  void on_train_batch_end(int64_t, keras::Logs&) override {
    if (--left == 0) raise(SIGINT);
  }
  int64_t left;
};

class Interrupt : public testing::Test {
 protected:
  void SetUp() override {
    g_plain = 0;
    g_informed = 0;
    sigaction(SIGINT, nullptr, &before_);
  }
  void TearDown() override { sigaction(SIGINT, &before_, nullptr); }
  static keras::Sequential compiled() {
    auto model = keras::Sequential({keras::Dense(1)});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    return model;
  }
  static struct sigaction current() {
    struct sigaction now = {};
    sigaction(SIGINT, nullptr, &now);
    return now;
  }
  static void set_plain(void (*handler)(int), int flags = 0) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGINT, &action, nullptr);
  }
  // Three epochs of four batches; gives the number of steps that were made.
  int64_t steps(const std::vector<keras::CallbackRef>& callbacks, bool stop = true) const {
    auto model = compiled();
    model.fit(
        x, y,
        {.batch_size = 2, .epochs = 3, .verbose = 0, .callbacks = callbacks, .stop_on_interrupt = stop});
    return model.optimizer().iterations().item<int64_t>();
  }
  const Tensor x = ones({8, 2}), y = ones({8, 1});

 private:
  struct sigaction before_ = {};
};

TEST_F(Interrupt, FitEndsAndThePlainHandlerIsCalled) {
  set_plain(plain_handler);
  EXPECT_EQ(steps({InterruptAt(5)}), 5);
  EXPECT_EQ(g_plain, 1);
  EXPECT_EQ(current().sa_handler, plain_handler);
  raise(SIGINT);
  EXPECT_EQ(g_plain, 2);
  EXPECT_EQ(steps({}), 12);  // an old signal does not end a new fit
}

TEST_F(Interrupt, AHandlerThatTakesMoreGetsIt) {
  struct sigaction action = {};
  action.sa_sigaction = informed_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGINT, &action, nullptr);
  EXPECT_EQ(steps({InterruptAt(2)}), 2);
  EXPECT_EQ(g_informed, 1);
  EXPECT_EQ(current().sa_sigaction, informed_handler);
  EXPECT_TRUE(current().sa_flags & SA_RESTART);
  const struct sigaction now = current();
  EXPECT_TRUE(sigismember(&now.sa_mask, SIGUSR1));
}

TEST_F(Interrupt, AHandlerForOneCallIsCalledOnce) {
  set_plain(plain_handler, SA_RESETHAND);
  EXPECT_EQ(steps({InterruptAt(1)}), 1);
  EXPECT_EQ(g_plain, 1);
  EXPECT_EQ(current().sa_handler, SIG_DFL);
}

TEST_F(Interrupt, AProgramThatIgnoresItIsLeftAlone) {
  set_plain(SIG_IGN);
  EXPECT_EQ(steps({InterruptAt(2)}), 12);
  EXPECT_EQ(current().sa_handler, SIG_IGN);
}

TEST_F(Interrupt, AnOptionLeavesSignalsAlone) {
  set_plain(plain_handler);
  struct Check : keras::Callback {
    void on_train_begin(keras::Logs&) override { EXPECT_EQ(Interrupt::current().sa_handler, plain_handler); }
  };
  EXPECT_EQ(steps({InterruptAt(2), Check()}, false), 12);
  EXPECT_EQ(g_plain, 1);
}

TEST_F(Interrupt, AHandlerIsBackAfterAnException) {
  set_plain(plain_handler);
  struct Throws : keras::Callback {
    void on_train_batch_end(int64_t, keras::Logs&) override { throw std::runtime_error("enough"); }
  };
  EXPECT_THROW(steps({Throws()}), std::runtime_error);
  EXPECT_EQ(current().sa_handler, plain_handler);
  EXPECT_FALSE(current().sa_flags & SA_SIGINFO);
  auto model = compiled();
  EXPECT_THROW(model.fit(x, ones({7, 1}), {.verbose = 0}), InvalidArgumentError);
  EXPECT_EQ(current().sa_handler, plain_handler);
}

TEST_F(Interrupt, AHandlerThatIsSetMeanwhileStays) {
  set_plain(plain_handler);
  struct Sets : keras::Callback {
    void on_train_begin(keras::Logs&) override { Interrupt::set_plain(other_handler); }
  };
  steps({Sets()});
  EXPECT_EQ(current().sa_handler, other_handler);
}

// A library of the user's that puts a handler in front of fit's, and calls what it found.
struct sigaction g_found = {};
void chaining_handler(int signal, siginfo_t* info, void* context) {
  g_plain = g_plain + 1;
  if (g_found.sa_flags & SA_SIGINFO) g_found.sa_sigaction(signal, info, context);
}
TEST_F(Interrupt, HandlersThatCallEachOther) {
  set_plain(other_handler);
  struct Chains : keras::Callback {
    void on_train_begin(keras::Logs&) override {
      struct sigaction action = {};
      action.sa_sigaction = chaining_handler;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGINT, &action, &g_found);
    }
  };
  EXPECT_EQ(steps({Chains(), InterruptAt(3)}), 3);
  EXPECT_EQ(steps({InterruptAt(4)}), 4);  // now fit's is in front, and is called by what it calls
  EXPECT_EQ(g_plain, 2);
  g_found = {};
}

TEST_F(Interrupt, FitsInsideOfFitsEndToo) {
  set_plain(plain_handler);
  struct Inner : keras::Callback {
    std::function<void()> train;
    explicit Inner(std::function<void()> f) : train(std::move(f)) {}
    void on_train_batch_end(int64_t step, keras::Logs&) override {
      if (step == 1) train();
    }
  };
  EXPECT_EQ(steps({Inner([&] { EXPECT_EQ(steps({InterruptAt(3)}), 3); })}), 2);
  EXPECT_EQ(g_plain, 1);
  EXPECT_EQ(current().sa_handler, plain_handler);
}

// The signal reaches all of them; a thread that does not train may take it.
TEST_F(Interrupt, FitsOfSeveralThreads) {
  set_plain(plain_handler);
  constexpr int kFits = 3;
  std::atomic<int> training{0};
  struct Counts : keras::Callback {
    explicit Counts(std::atomic<int>* n) : count(n) {}
    void on_train_begin(keras::Logs&) override { ++*count; }
    std::atomic<int>* count;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kFits; ++t)
    threads.emplace_back([&] {
      auto model = compiled();
      const auto history =
          model.fit(x, y, {.epochs = 100'000'000, .verbose = 0, .callbacks = {Counts(&training)}});
      EXPECT_LT(history.epoch.size(), 100'000'000u);
    });
  while (training < kFits) std::this_thread::yield();
  kill(getpid(), SIGINT);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(g_plain, 1);
  EXPECT_EQ(current().sa_handler, plain_handler);
}

// Without a handler of the program's the first signal ends fit, and a second one before that the program.
TEST_F(Interrupt, TheSecondOneEndsTheProgram) {
  for (const int signals : {1, 2}) {
    const pid_t child = fork();
    if (child == 0) {
      set_plain(SIG_DFL);
      struct Twice : keras::Callback {
        explicit Twice(int n) : left(n) {}
        void on_train_batch_end(int64_t, keras::Logs&) override {
          while (left-- > 0) raise(SIGINT);
        }
        int left;
      };
      const int64_t made = steps({Twice(signals)});
      _exit(made == 1 && current().sa_handler == SIG_DFL ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (signals == 1) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    } else {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    }
  }
}

}  // namespace
}  // namespace rw
