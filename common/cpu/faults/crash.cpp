/** @file crash.cpp Kernels and host code that crash or never end. The line is reported and the process exits
 * with status 1, for its threads cannot go on. */
#include <atomic>
#include <csignal>
#include <execinfo.h>
#include <future>
#include <ucontext.h>
#include <unistd.h>
#include "core/tracer.h"

namespace cpu {
static void (*crash_hook)(void);
static std::string timeout; // in seconds
constexpr unsigned deferred_max = 2000; // signals of a kernel that does not end

/// What a signal means, and the `parts` of it.
static FaultKind explain(int signal, const siginfo_t *info, const char *access,
                         std::vector<std::string> &parts) {
    if (signal == SIGXCPU) return FaultKind::crash_cpu_time;
    if (signal == SIGILL) return FaultKind::crash_illegal;
    if (signal == SIGABRT) return FaultKind::crash_abort;
    if (signal == SIGFPE) return FaultKind::crash_division;
    if (info->si_code == SI_TKILL && resident->grid.begun > 1 &&
        std::chrono::steady_clock::now() - resident->grid.progress <
            std::chrono::duration<double>(atof(timeout.c_str()) / 2))
        return parts = {timeout, part(resident->grid.begun), part(resident->grid.blocks)},
               FaultKind::crash_blocks;
    if (info->si_code == SI_TKILL) return parts = {timeout}, FaultKind::crash_timeout;
    if (signal == SIGBUS || info->si_code == SI_KERNEL) return FaultKind::crash_misaligned;
    if (resident && resident->stacks->has_guard(info->si_addr)) return FaultKind::crash_stack_overflow;
    const auto [kind, words] =
        describe_address(resident ? resident->grid.device : devices[0], info->si_addr, 1);
    return parts = {access, words}, kind;
}

static void on_signal(int signal, siginfo_t *info, void *context_of_signal) {
    static std::atomic_flag again = ATOMIC_FLAG_INIT;
    static unsigned deferred;
    [[maybe_unused]] auto *context = static_cast<const ucontext_t *>(context_of_signal);
    const char *access = "access";
    char *frames[25] = {};
#if defined(__x86_64__) // the instruction that was interrupted, and what it did
    frames[0] = reinterpret_cast<char *>(context->uc_mcontext.gregs[REG_RIP]) + 1;
    access = context->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#elif defined(__aarch64__)
    frames[0] = reinterpret_cast<char *>(context->uc_mcontext.pc) + 1;
#endif
    // In a library, which may hold a lock that the report would wait for: at the next of run_on_worker()'s signals.
    if (frames[0] && info->si_code == SI_TKILL && signal == SIGSEGV && deferred++ < deferred_max && resident &&
        offset_in_program(frames[0]) == outside)
        return;
    // In here, or in another thread meanwhile: crash as ever.
    if (again.test_and_set()) return void(std::signal(signal, SIG_DFL));
    std::vector<std::string> parts;
    const FaultKind kind = explain(signal, info, access, parts); // first: to look up lines takes time
    // The first that is in a kernel rather than in the device itself.
    char **end = frames + 1 + backtrace(reinterpret_cast<void **>(frames + 1), 24);
    char **frame = std::find_if(frames, end, [](char *f) { return line_of(f - 1).in_kernel; });
    const Place at = (frame == end ? frames[0] : *frame) - 1;
    Fault f = {kind, source_line(kind == FaultKind::crash_blocks ? resident->grid.launch.place : at), parts};
    f.in_host_code = !resident;
    report_once(f);
    if (resident) tracer->launch_end(resident->grid); // the races that may have led to it
    if (crash_hook) crash_hook();
    fflush(stdout);
    _exit(1);
}

/// Lets on_signal() have signals, on a stack of its own: that of a CUDA thread may be what overflowed.
static void watch_signals(char *stack, size_t size) {
    stack_t of_handler = {stack, 0, size};
    sigaltstack(&of_handler, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
        sigaction(signal, &action, nullptr);
}

static const bool watched = [] { // for the host code of a kernel.cu
    alignas(16) static char stack[256 * 1024];
    void *frame;
    backtrace(&frame, 1); // loads what it needs now rather than in the handler
    watch_signals(stack, sizeof stack);
    return true;
}();

/// The seconds that CPU_DEVICE_TIMEOUT says; 0: no limit.
static double seconds_of(const std::string &text) {
    char *end;
    const double seconds = strtod(text.c_str(), &end);
    if (end != text.c_str() && !*end && seconds >= 0) return std::min(seconds, 1e9); // what a clock can hold
    fprintf(stderr, "CPU_DEVICE_TIMEOUT %s: not allowed; allowed: seconds, such as 0.5; 0: no limit\n", text.c_str());
    exit(2);
}

void run_on_worker(Grid &grid) {
    const char *seconds = getenv("CPU_DEVICE_TIMEOUT");
    timeout = seconds ? seconds : "60";
    const std::chrono::duration<double> limit(seconds_of(timeout)), at_once(1e-3);
    std::promise<void> done;
    // A new thread each time: the caller's thread-local variables must survive the poison.
    std::thread worker([&] {
        std::vector<char> stack(256 * 1024);
        watch_signals(stack.data(), stack.size());
        run_grid(grid);
        const stack_t none = {nullptr, SS_DISABLE, 0};
        sigaltstack(&none, nullptr);
        done.set_value();
    });
    std::future<void> end = done.get_future();
    for (auto most = limit; most.count() > 0 && end.wait_for(most) == std::future_status::timeout; most = at_once)
        pthread_kill(worker.native_handle(), SIGSEGV);
    worker.join();
}
} // namespace cpu

void cpu_on_crash(void (*call)(void)) { cpu::crash_hook = call; }
