#include "rewind/keras/interrupt.h"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <mutex>

namespace rw::keras {
namespace {

// What the handler touches. Atomics without locks are safe in a handler and seen by every thread.
std::atomic<int> g_signals{0};
std::atomic<int> g_scopes{0};
std::atomic<int> g_stopping{0};  // scopes that were told to end and have not yet
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<pthread_t> g_chaining{};  // the thread that calls the program's handler
struct sigaction g_before = {};       // written only while our handler is not installed

std::mutex g_mutex;
bool g_installed = false;
thread_local const InterruptScope* t_scope = nullptr;

bool is_plain(const struct sigaction& action, void (*handler)(int)) {
  return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == handler;
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
  const int scopes = g_scopes;
  const bool first = g_stopping.exchange(scopes) == 0 && scopes > 0;
  ++g_signals;
  const struct sigaction before = g_before;
  if (is_plain(before, SIG_IGN)) return;
  if (is_plain(before, SIG_DFL)) {
    if (first) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  if (before.sa_flags & SA_RESETHAND) {  // the program asked for one call
    g_before.sa_flags = 0;
    g_before.sa_handler = SIG_DFL;
  }
  // A handler that was set during an earlier fit may call this one in its turn.
  if (g_chaining == pthread_self()) return;
  g_chaining = pthread_self();
  if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(signal, info, context);
  else before.sa_handler(signal);
  g_chaining = pthread_t();
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_interrupt;
}

void install() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) != 0 || is_plain(now, SIG_IGN) || is_ours(now)) return;
  g_before = now;
  struct sigaction action = {};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER));
  action.sa_mask = now.sa_mask;
  g_installed = sigaction(SIGINT, &action, nullptr) == 0;
}

// A handler that the program set meanwhile stays.
void uninstall() {
  struct sigaction now = {};
  if (g_installed && sigaction(SIGINT, nullptr, &now) == 0 && is_ours(now))
    sigaction(SIGINT, &g_before, nullptr);
  g_installed = false;
}

}  // namespace

InterruptScope::InterruptScope() : begin_(g_signals), outer_(t_scope) {
  const std::lock_guard lock(g_mutex);
  t_scope = this;
  if (g_scopes == 0) {
    g_stopping = 0;
    install();
  }
  ++g_scopes;
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(g_mutex);
  t_scope = outer_;
  --g_scopes;
  if (stopped() && g_stopping > 0) --g_stopping;
  if (g_scopes > 0) return;
  uninstall();
  g_stopping = 0;
}

bool InterruptScope::stopped() const { return g_signals != begin_; }
bool InterruptScope::interrupted() { return t_scope && t_scope->stopped(); }

}  // namespace rw::keras
