// SPDX-License-Identifier: MIT
/*
 * Small programs for rr to record and to replay, one for each name in the table at the end. What each prints is another
 * thing at each run (times, addresses, which thread came when, where a signal struck), so that a replay that prints the
 * same has done the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define THREADS 4

extern char **environ;
static const char *self;

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(99);
    }
}

static void start(pthread_t *threads, unsigned n, void *(*run)(void *))
{
    for (uintptr_t i = 0; i < n; i++)
        check(!pthread_create(&threads[i], NULL, run, (void *)i), "pthread_create");
}

static void join(pthread_t *threads, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static int run_clock(void)
{
    struct timespec now;
    uint64_t random;
    check(getrandom(&random, sizeof(random), 0) == sizeof(random), "getrandom");
    for (int i = 0; i < 3; i++) {
        clock_gettime(CLOCK_REALTIME, &now);
        printf("%lld.%09ld %llx\n", (long long)now.tv_sec, now.tv_nsec, (unsigned long long)__rdtsc());
    }
    printf("%d %p %p %llx\n", getpid(), (void *)&now, malloc(100), (unsigned long long)random);
    return 3;
}

/* ---- Threads */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static unsigned turn, order[64], ordered;

static void *add_to_order(void *i)
{
    for (int n = 0; n < 16; n++) {
        pthread_mutex_lock(&lock);
        order[ordered++] = (unsigned)(uintptr_t)i;
        pthread_mutex_unlock(&lock);
        if (n % 5 == 0)
            sched_yield();
    }
    return NULL;
}

static int run_threads(void)
{
    pthread_t threads[THREADS];
    start(threads, THREADS, add_to_order);
    join(threads, THREADS);
    for (unsigned i = 0; i < ordered; i++)
        printf("%u", order[i]);
    puts("");
    return 0;
}

static void *take_turns(void *i)
{
    for (int n = 0; n < 8; n++) {
        pthread_mutex_lock(&lock);
        while (turn % THREADS != (uintptr_t)i)
            pthread_cond_wait(&moved, &lock);
        printf("%u %lld\n", turn++, (long long)__rdtsc());
        pthread_cond_broadcast(&moved);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int run_turns(void)
{
    pthread_t threads[THREADS];
    start(threads, THREADS, take_turns);
    join(threads, THREADS);
    return 0;
}

/* Two threads that lose each other's additions: how many depends on the very branch at which one had to stop. */
static volatile unsigned raced;

static void *race(void *unused)
{
    for (unsigned i = 0; i < 800000; i++)
        raced = raced + (i & 3);
    return unused;
}

static int run_race(void)
{
    pthread_t threads[2];
    start(threads, 2, race);
    join(threads, 2);
    printf("%u\n", raced);
    return 0;
}

/* Each waits in a loop for the one before it: without a system call, unless the environment has YIELD. */
static atomic_uint baton;
static unsigned long spins[THREADS];
static unsigned rounds = 3;
static bool yields;

static void *spin(void *i)
{
    for (unsigned n = 0; n < rounds; n++) {
        while (atomic_load(&baton) != n * THREADS + (uintptr_t)i) {
            spins[(uintptr_t)i]++;
            if (yields)
                sched_yield();
        }
        atomic_fetch_add(&baton, 1);
    }
    return NULL;
}

static int run_spin(void)
{
    pthread_t threads[THREADS];
    if (getenv("ROUNDS"))
        rounds = (unsigned)atoi(getenv("ROUNDS"));
    yields = getenv("YIELD");
    start(threads, THREADS, spin);
    join(threads, THREADS);
    for (int i = 0; i < THREADS; i++)
        printf("%lu\n", spins[i]);
    return 0;
}

/* ---- Signals */

static volatile unsigned long loops;
static volatile sig_atomic_t alarms;
static unsigned long struck[8];
static sigjmp_buf back;

static void on_alarm(int unused)
{
    (void)unused;
    if (alarms < 8)
        struck[alarms++] = loops;
}

static int interval(int timer, int signal)
{
    const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    sigaction(signal, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    setitimer(timer, &often, NULL);
    while (alarms < 8)
        loops++;
    setitimer(timer, &never, NULL);
    for (int i = 0; i < 8; i++)
        printf("%lu\n", struck[i]);
    return 0;
}

static int run_alarm(void)
{
    return interval(ITIMER_REAL, SIGALRM);
}
static int run_profile(void)
{
    return interval(ITIMER_PROF, SIGPROF);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    printf("%d at %p\n", signal, info->si_addr);
    (void)context;
    siglongjmp(back, 1);
}

static int run_fault(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!sigsetjmp(back, 1))
        page[100] = 1;
    if (!sigsetjmp(back, 1))
        __asm__ volatile("ud2");
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    page[100] = 2;
    return page[100];
}

static int run_abort(void)
{
    printf("%d\n", getpid());
    fflush(stdout);
    abort();
}

/* ---- Processes */

static void tree(int depth, int number)
{
    for (int i = 0; depth && i < 2; i++)
        if (fork() == 0) {
            tree(depth - 1, number * 2 + i);
            printf("%d: %d of %d\n", number * 2 + i, getpid(), getppid());
            exit(number * 2 + i);
        }
    int status;
    pid_t pid;
    while ((pid = wait(&status)) > 0)
        printf("%d saw %d end with %d\n", getpid(), pid, WEXITSTATUS(status));
    fflush(stdout);
}

static int run_tree(void)
{
    tree(3, 1);
    return 0;
}

static int run_spawn(void)
{
    char *const arguments[] = {(char *)self, "clock", NULL};
    for (int i = 0; i < 2; i++) {
        pid_t pid;
        int status;
        check(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ), "posix_spawn");
        waitpid(pid, &status, 0);
        printf("%d: %d\n", pid, WEXITSTATUS(status));
    }
    return 0;
}

static int run_pipe(void)
{
    int ends[2];
    char text[64] = "";
    check(!pipe(ends), "pipe");
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            dprintf(ends[1], "%d", getpid() % 10);
            _exit(0);
        }
    close(ends[1]);
    for (size_t n = 0; read(ends[0], text + n, 1) > 0;)
        n++;
    puts(text);
    while (wait(NULL) > 0)
        ;
    return 0;
}

static void on_child(int unused)
{
    (void)unused;
}

static int run_sockets(void)
{
    int ends[2], got = 0;
    char c = 'a';
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child}, NULL);
    check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    if (fork() == 0) {
        for (; c < 'f'; c++)
            check(write(ends[1], &c, 1) == 1, "write");
        _exit(0);
    }
    struct pollfd watched = {.fd = ends[0], .events = POLLIN};
    while (got < 5) {
        int n = poll(&watched, 1, 1000);
        printf("poll %d errno %d\n", n, n < 0 ? errno : 0);
        if (n > 0 && read(ends[0], &c, 1) == 1)
            got += printf("%c", c);
    }
    return got;
}

/* A counter that two processes share, one of which waits in sched_yield. */
static int run_shared(void)
{
    atomic_uint *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned seen = 0, yields = 0;
    if (fork() == 0) {
        for (int i = 0; i < 100; i++)
            atomic_fetch_add(shared, 1), usleep(i % 10 == 0);
        _exit(0);
    }
    for (; (seen = atomic_load(shared)) < 100; yields++)
        sched_yield();
    printf("%u %u\n", seen, yields);
    wait(NULL);
    return 0;
}

/* ---- The rest */

static int run_files(void)
{
    struct stat st;
    char name[] = "/tmp/rr-XXXXXX";
    int fd = mkstemp(name);
    check(fd >= 0 && !ftruncate(fd, 8192), name);
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(map != MAP_FAILED, "mmap");
    check(pwrite(fd, "written", 7, 4090) == 7, "pwrite");
    memcpy(map + 4097, name, 4);
    check(!fstat(fd, &st), "fstat");
    printf("%s %s %lld %lu\n", name, map + 4090, (long long)st.st_size, (unsigned long)st.st_ino);
    return unlink(name);
}

static int run_numbers(void)
{
    double sum = 0;
    __m128i state = _mm_set_epi32(getpid(), (int)time(NULL), 3, 4);
    for (int i = 1; i < 20000; i++) {
        state = _mm_xor_si128(_mm_slli_epi32(state, 5), _mm_add_epi32(state, _mm_set1_epi32(i)));
        sum += sqrt((double)(unsigned)_mm_cvtsi128_si32(state)) / i;
    }
    printf("%.17g %08x\n", sum, (unsigned)_mm_extract_epi16(state, 1));
    return 0;
}

/* String instructions that are interrupted, and a count of branches that depends on data. */
static int run_strings(void)
{
    static char from[1 << 18], to[1 << 18];
    unsigned long n = sizeof(from), sum = 0;
    void *d = to, *s = from;
    check(getrandom(from, 256, 0) == 256, "getrandom");
    for (size_t i = 256; i < sizeof(from); i++)
        from[i] = (char)(from[i - 256] + 1);
    __asm__ volatile("rep movsb" : "+c"(n), "+D"(d), "+S"(s) : : "memory");
    for (size_t i = 0; i < sizeof(to); i++)
        if (to[i] & 1)
            sum += (unsigned char)to[i];
    printf("%lu %d\n", sum, memcmp(from, to, sizeof(to)));
    return 0;
}

/* For reverse execution: which store made `changed` 1234? */
volatile int changed;

__attribute__((noinline)) static void change(int i)
{
    changed = i == 617 ? 1234 : i;
}
__attribute__((noinline)) static void finished(void)
{
    printf("%d %d\n", changed, getpid());
}

static int run_reverse(void)
{
    for (int i = 0; i < 1000 && changed != 1234; i++)
        if (i % 200 == 17)
            change(i);
    finished();
    return changed == 1234 ? 0 : 1;
}

static const struct {
    const char *name;
    int (*run)(void);
} programs[] = {
    {"clock", run_clock},     {"threads", run_threads}, {"turns", run_turns},     {"race", run_race},
    {"spin", run_spin},       {"alarm", run_alarm},     {"profile", run_profile}, {"fault", run_fault},
    {"abort", run_abort},     {"tree", run_tree},       {"spawn", run_spawn},     {"pipe", run_pipe},
    {"sockets", run_sockets}, {"shared", run_shared},   {"files", run_files},     {"numbers", run_numbers},
    {"strings", run_strings}, {"reverse", run_reverse},
};

int main(int argc, char **argv)
{
    self = argv[0];
    for (size_t i = 0; argc == 2 && i < sizeof(programs) / sizeof(*programs); i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            return programs[i].run();
    fprintf(stderr, "usage: %s NAME\n", self);
    return 98;
}
