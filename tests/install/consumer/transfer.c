/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads pass a coin to and fro through one condition variable.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unlatch/unlatch.h>

enum { rounds = 1000 };

static unlatch_mutex_t mutex = UNLATCH_MUTEX_INITIALIZER;
static unlatch_cond_t passed = UNLATCH_COND_INITIALIZER;
static int holder = 0;
static int passes = 0;

static void* pass_on(void* self) {
  const int me = *(const int*)self;
  for (int round = 0; round < rounds; ++round) {
    unlatch_mutex_lock(&mutex);
    while (holder != me) unlatch_cond_wait(&passed, &mutex);
    holder = 1 - me;
    ++passes;
    unlatch_cond_broadcast(&passed);
    unlatch_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  int names[] = {0, 1};
  pthread_t threads[2];
  if (strcmp(unlatch_version(), UNLATCH_VERSION) != 0) {
    fprintf(stderr, "header %s, library %s\n", UNLATCH_VERSION, unlatch_version());
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    if (pthread_create(&threads[i], NULL, pass_on, &names[i]) != 0) return 1;
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("%d passes\n", passes);
  return passes == 2 * rounds ? 0 : 1;
}
