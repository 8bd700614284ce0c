/**
 * @file faults.cpp
 * Faults and their source lines (by addr2line of the binutils), and the worker thread that runs
 * kernels. When one crashes or never ends, its line is reported and the process exits with status 1,
 * for its threads cannot be resumed; so it is when the host's code crashes.
 */
#include "block.h"
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <deque>
#include <execinfo.h>
#include <fstream>
#include <future>
#include <link.h>
#include <map>
#include <set>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace cpu {
static std::deque<std::string> faults; // a deque: cpu_fault_text() hands out pointers
static std::set<std::pair<std::string, const char *>> reported; // line and kind

void fault(Place place, const char *format, ...) {
    std::string line = place ? source_line(place) : "CPU device";
    if (!reported.insert({line, format}).second)
        return;
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fault_at(line, self ? message + (", by " + where(self->rank, linear_block())) : message);
}

void fault_at(const std::string &line, const std::string &message) {
    faults.push_back(line + ": " + message + " [schedule " + (schedule.name ? schedule.name : "?") + "]");
    fprintf(stderr, "%s\n", faults.back().c_str());
}

// ---- Source lines ----
namespace {
struct Line {
    std::string path; ///< as the compiler had it
    unsigned number;
    bool in_kernel; ///< rather than in the device or unknown
};
std::map<Place, Line> known_lines;

bool is_ours(const std::string &line) {
    static const std::string file = __FILE__, folder = file.substr(0, file.rfind('/') + 1);
    return line.compare(0, folder.size(), folder) == 0 || line.find("/include/c++/") != line.npos;
}

const Line &known_line(Place place) {
    if (!known_lines.count(place))
        look_up_lines({place});
    return known_lines[place];
}
} // namespace

/// Takes the innermost line that is not the device's own: addr2line lists inlined functions outwards.
void look_up_lines(const std::vector<Place> &places) {
    std::string command = "addr2line -a -i -e /proc/" + std::to_string(getpid()) + "/exe";
    std::vector<Place> asked;
    for (Place place : places)
        if (known_lines.insert({place, {"", 0, false}}).second && offset_in_program(place) != outside) {
            char text[24];
            snprintf(text, sizeof text, " %#zx", offset_in_program(place));
            command += text;
            asked.push_back(place);
        }
    FILE *pipe = asked.empty() ? nullptr : popen((command + " 2>/dev/null").c_str(), "r");
    if (!pipe)
        return;
    Line *line = nullptr;
    char text[4096];
    for (size_t next = 0; fgets(text, sizeof text, pipe);) {
        if (strncmp(text, "0x", 2) == 0 && next < asked.size()) // -a: the address, ahead of its lines
            line = &known_lines[asked[next++]];
        else if (char *colon = strrchr(text, ':'); colon && line && !line->in_kernel && !strchr(text, '?')) {
            std::string path(text, size_t(colon - text));
            // Some compilers name the rewritten copy, whose lines are the same.
            if (size_t n = path.size(); n > 7 && path.compare(n - 7, 7, ".cu.cpp") == 0)
                path.erase(n - 4);
            *line = {path, unsigned(atoi(colon + 1)), !is_ours(path)};
        }
    }
    pclose(pipe);
}

/// "/a/b/06_wmma_db/kernel.cu" and 52 as "06_wmma_db/kernel.cu:52"
std::string source_line(Place place) {
    const Line &line = known_line(place);
    if (line.number == 0) {
        char text[32];
        snprintf(text, sizeof text, "address %p", place);
        return text;
    }
    size_t slash = line.path.rfind('/');
    if (slash != line.path.npos && slash > 0)
        slash = line.path.rfind('/', slash - 1);
    return line.path.substr(slash == line.path.npos ? 0 : slash + 1) + ":" + std::to_string(line.number);
}

std::string source_text(Place place) {
    const Line &line = known_line(place);
    std::ifstream file(line.path);
    std::string text;
    for (unsigned i = 0; i < line.number && std::getline(file, text); ++i)
        ;
    text.erase(0, text.find_first_not_of(" \t"));
    return text;
}

static const std::pair<uintptr_t, uintptr_t> &program() { // where it begins and ends
    static const auto span = [] {
        std::pair<uintptr_t, uintptr_t> found(0, 0);
        dl_iterate_phdr(
            [](dl_phdr_info *info, size_t, void *out) {
                auto *to = static_cast<std::pair<uintptr_t, uintptr_t> *>(out);
                to->first = info->dlpi_addr;
                for (int i = 0; i < info->dlpi_phnum; ++i)
                    if (const auto &h = info->dlpi_phdr[i]; h.p_type == PT_LOAD)
                        to->second = to->first + h.p_vaddr + h.p_memsz;
                return 1; // the first object is the program
            },
            &found);
        return found;
    }();
    return span;
}
uintptr_t offset_in_program(const void *address) {
    uintptr_t a = uintptr_t(address);
    return a >= program().first && a < program().second ? a - program().first : outside;
}
Place place_in_program(uintptr_t offset) { return reinterpret_cast<Place>(program().first + offset); }

// ---- The worker thread ----
namespace {
pthread_t worker;
bool worker_runs;
double timeout_seconds = 60;

void on_signal(int signal, siginfo_t *info, void *context_of_signal) {
    static bool again;
    if (again) { // in here, or in what another thread does meanwhile
        std::signal(signal, SIG_DFL);
        return;
    }
    again = true;
    const bool in_kernel = worker_runs && pthread_equal(pthread_self(), worker);
    auto *context = static_cast<const ucontext_t *>(context_of_signal);
    const char *access = "access";
    void *frames[25] = {};
#if defined(__x86_64__) // the instruction that was interrupted, and what it did
    frames[0] = reinterpret_cast<char *>(context->uc_mcontext.gregs[REG_RIP]) + 1;
    access = context->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#elif defined(__aarch64__)
    frames[0] = reinterpret_cast<char *>(context->uc_mcontext.pc) + 1;
#else
    (void)context;
#endif
    int depth = 1 + backtrace(frames + 1, 24), i = 0;
    while (i < depth - 1 && !known_line(static_cast<const char *>(frames[i]) - 1).in_kernel)
        ++i; // the first that is in a kernel rather than in the device itself
    if (i == depth - 1)
        i = 0;
    char what[200];
    if (signal == SIGXCPU)
        snprintf(what, sizeof what, "still running when its time was up");
    else if (signal == SIGILL)
        snprintf(what, sizeof what, "what the compiler knew to be wrong, such as a division by a constant zero");
    else if (signal == SIGABRT)
        snprintf(what, sizeof what, "abort(), which a failed assert() or an exception calls");
    else if (info->si_code == SI_TKILL)
        snprintf(what, sizeof what, "still running after %g s (CPU_DEVICE_TIMEOUT)", timeout_seconds);
    else if (signal == SIGFPE)
        snprintf(what, sizeof what, "integer division by zero");
    else if (signal == SIGBUS || info->si_code == SI_KERNEL)
        snprintf(what, sizeof what, "misaligned access: a vector lies at a multiple of its size");
    else if (in_stack_guard(info->si_addr))
        snprintf(what, sizeof what, "stack overflow: too much local memory or too deep a recursion");
    else
        snprintf(what, sizeof what, "%s %s", access, describe_address(info->si_addr, 1).c_str());
    fault(static_cast<const char *>(frames[i]) - 1, in_kernel ? "%s" : "host code: %s", what);
    if (in_kernel)
        tracer->launch_end(); // the races that may have led to it
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
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
        sigaction(signal, &action, nullptr);
}
const bool watched = (watch_signals(), true); // for the host code of a kernel.cu
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

unsigned cpu_faults(void) { return unsigned(cpu::faults.size()); }
const char *cpu_fault_text(unsigned i) { return i < cpu::faults.size() ? cpu::faults[i].c_str() : ""; }
void cpu_faults_clear(void) {
    cpu::faults.clear();
    cpu::reported.clear();
    cudaGetLastError(); // and the error that they left
}
