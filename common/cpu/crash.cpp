/**
 * @file crash.cpp
 * The worker thread that runs kernels, and what happens when one crashes or never ends: its line
 * is reported and the process exits with status 1, for its threads cannot be resumed.
 */
#include "block.h"
#include <chrono>
#include <csignal>
#include <execinfo.h>
#include <future>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace cpu {
namespace {

pthread_t worker;
bool worker_runs;
double timeout_seconds = 60;

/// The instruction that was interrupted, where we know how to tell.
Place interrupted_at(const ucontext_t *context) {
#if defined(__x86_64__)
    return reinterpret_cast<Place>(context->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<Place>(context->uc_mcontext.pc);
#else
    return (void)context, nullptr;
#endif
}

const char *kind_of_access(const ucontext_t *context) {
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#else
    return (void)context, "access";
#endif
}

void on_signal(int signal, siginfo_t *info, void *context_of_signal) {
    if (!worker_runs || !pthread_equal(pthread_self(), worker)) {
        std::signal(signal, SIG_DFL); // not a kernel's: crash as ever
        return;
    }
    worker_runs = false; // a crash in here is not a kernel's either
    auto *context = static_cast<const ucontext_t *>(context_of_signal);
    void *frames[10];
    Place places[11] = {interrupted_at(context)};
    int n = 1;
    for (int i = 0, depth = backtrace(frames, 10); i < depth; ++i)
        places[n++] = static_cast<const char *>(frames[i]) - 1;
    std::string line = source_line(places, n), what;
    if (info->si_code == SI_TKILL) {
        char text[80];
        snprintf(text, sizeof text, "still running after %g s (CPU_DEVICE_TIMEOUT)", timeout_seconds);
        what = text;
    } else if (signal == SIGFPE) {
        what = "integer division by zero";
    } else if (signal == SIGBUS || info->si_code == SI_KERNEL) {
        what = "misaligned access: a vector lies at a multiple of its size";
    } else if (in_stack_guard(info->si_addr)) {
        what = "stack overflow: too much local memory or too deep a recursion";
    } else {
        what = kind_of_access(context);
        what += " " + describe_address(info->si_addr, 1);
    }
    fault_at(line, what);
    fflush(stdout);
    _exit(1);
}

void watch_signals() {
    void *frame;
    backtrace(&frame, 1); // loads what it needs now rather than in the handler
    // A stack of its own: that of the CUDA thread may be what overflowed.
    alignas(16) static char handler_stack[256 * 1024];
    stack_t stack = {};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE})
        sigaction(signal, &action, nullptr);
}

} // namespace

void run_on_worker(void (*work)(const Launch &), const Launch &launch) {
    if (const char *seconds = getenv("CPU_DEVICE_TIMEOUT"))
        timeout_seconds = atof(seconds);
    std::promise<void> done;
    // A new one each time: the caller's thread-local variables must survive the poison.
    std::thread thread([&] {
        worker = pthread_self();
        watch_signals();
        worker_runs = true;
        work(launch);
        worker_runs = false;
        done.set_value();
    });
    if (timeout_seconds > 0 && done.get_future().wait_for(std::chrono::duration<double>(timeout_seconds)) ==
                                   std::future_status::timeout)
        pthread_kill(thread.native_handle(), SIGSEGV);
    thread.join();
}

} // namespace cpu
