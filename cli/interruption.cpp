// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.hpp"

#include <semaphore.h>

#include <cerrno>
#include <csignal>

namespace unlatch::cli {
namespace {

// A signal handler may post a semaphore but not request a stop, so a thread does that for it.
sem_t arrived;
volatile std::sig_atomic_t leaving = 0;

void note_signal(int) { sem_post(&arrived); }

}  // namespace

interruption::interruption() {
  leaving = 0;
  sem_init(&arrived, 0, 0);
  waiter_ = std::thread([this] {
    while (sem_wait(&arrived) != 0 && errno == EINTR) {
    }
    if (leaving == 0) source_.request_stop();
  });
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

interruption::~interruption() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  leaving = 1;
  sem_post(&arrived);
  waiter_.join();
  sem_destroy(&arrived);
}

}  // namespace unlatch::cli
