/**
 * @file faults.cpp
 * Faults and their source lines (by addr2line of the binutils), and the worker thread that runs
 * kernels. When one crashes or never ends, its line is reported and the process exits with status 1,
 * for its threads cannot be resumed; so it is when host code crashes.
 */
#include "block.h"
#include <csignal>
#include <cstdarg>
#include <execinfo.h>
#include <filesystem>
#include <future>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" char _end[]; // of the program: the linker's

namespace cpu {
static std::deque<std::string> faults; // a deque: cpu_fault_text() hands out pointers
static std::set<std::pair<std::string, const char *>> reported; // line and kind

void fault(Place place, const char *format, ...) {
    std::string line = place ? source_line(place) : "CPU device";
    if (!reported.insert({line, format}).second) return;
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fault_at(line, self ? message + (", by " + where(self->rank, block.number)) : message);
}

void fault_at(const std::string &line, const std::string &message) {
    faults.push_back(line + ": " + message + " [schedule " + (schedule.name ? schedule.name : "?") + "]");
    fprintf(stderr, "%s\n", faults.back().c_str());
}

// ---- Source lines ----
struct Line {
    std::filesystem::path path; ///< as the compiler had it
    unsigned number;
    bool in_kernel; ///< rather than in the device or unknown
};
static std::map<Place, Line> known_lines;

static const Line &known_line(Place place) {
    if (!known_lines.count(place)) look_up_lines({place});
    return known_lines[place];
}

void ask_binutils(const std::string &command, const std::function<void(const char *)> &each) {
    // By its path: to another process, /proc/PID/exe of an emulated program is the emulator.
    static const int once =
        setenv("CPU_DEVICE_PROGRAM", std::filesystem::read_symlink("/proc/self/exe").c_str(), 1);
    FILE *pipe = once ? nullptr : popen((command + " \"$CPU_DEVICE_PROGRAM\" 2>/dev/null").c_str(), "r");
    char text[4096];
    while (pipe && fgets(text, sizeof text, pipe)) each(text);
    if (pipe) pclose(pipe);
}

/// Takes the innermost line that is not the device's own: addr2line lists inlined functions outwards.
void look_up_lines(const std::vector<Place> &places) {
    std::string addresses;
    std::deque<Line *> asked;
    for (Place place : places)
        if (auto [at, fresh] = known_lines.insert({place, {}});
            fresh && offset_in_program(place) != outside) {
            char text[24];
            snprintf(text, sizeof text, " %#zx", offset_in_program(place));
            addresses += text;
            asked.push_back(&at->second);
        }
    if (asked.empty()) return;
    asked.push_front(nullptr);
    ask_binutils("addr2line -a -i" + addresses + " -e", [&](const char *text) {
        const char *colon = strrchr(text, ':');
        if (strncmp(text, "0x", 2) == 0) // -a: the address, ahead of its lines
            asked.pop_front();
        else if (Line *line = asked.front(); line && colon && !line->in_kernel && !strchr(text, '?')) {
            static const std::string file = __FILE__, folder = file.substr(0, file.rfind('/') + 1);
            std::filesystem::path path(text, colon);
            // Some compilers name the rewritten copy, kernel.cu.cpp, whose lines are the same.
            if (path.stem().extension() == ".cu") path.replace_extension();
            bool ours = strncmp(text, folder.c_str(), folder.size()) == 0 || strstr(text, "/include/c++/");
            *line = {path, unsigned(atoi(colon + 1)), !ours};
        }
    });
}

bool has_line(Place place) { return known_line(place).number != 0; }

/// "/a/b/06_wmma_db/kernel.cu" and 52 as "06_wmma_db/kernel.cu:52"
std::string source_line(Place place) {
    const Line &line = known_line(place);
    if (line.number == 0) {
        char text[32];
        snprintf(text, sizeof text, "address %p", place);
        return text;
    }
    return (line.path.parent_path().filename() / line.path.filename()).string() + ":" +
           std::to_string(line.number);
}

std::string source_text(Place place) {
    const Line &line = known_line(place);
    std::ifstream file(line.path);
    std::string text;
    for (unsigned n = line.number; n > 0 && std::getline(file, text);) --n;
    text.erase(0, text.find_first_not_of(" \t"));
    return text;
}

/// The first object is the program.
static uintptr_t load_address() { return _r_debug.r_map ? _r_debug.r_map->l_addr : 0; }
uintptr_t offset_in_program(const void *address) {
    uintptr_t a = uintptr_t(address);
    return a >= load_address() && a < uintptr_t(_end) ? a - load_address() : outside;
}
Place place_in_program(uintptr_t offset) { return reinterpret_cast<Place>(load_address() + offset); }

// ---- The worker thread ----
static pthread_t worker; // while it runs
static double timeout_seconds;

static void on_signal(int signal, siginfo_t *info, void *context_of_signal) {
    static bool again;
    if (again) { // in here, or in another thread meanwhile: crash as ever
        std::signal(signal, SIG_DFL);
        return;
    }
    again = true;
    const bool in_kernel = worker && pthread_equal(pthread_self(), worker);
    [[maybe_unused]] auto *context = static_cast<const ucontext_t *>(context_of_signal);
    const char *access = "access";
    char *frames[25] = {};
#if defined(__x86_64__) // the instruction that was interrupted, and what it did
    frames[0] = reinterpret_cast<char *>(context->uc_mcontext.gregs[REG_RIP]) + 1;
    access = context->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#elif defined(__aarch64__)
    frames[0] = reinterpret_cast<char *>(context->uc_mcontext.pc) + 1;
#endif
    // The first that is in a kernel rather than in the device itself.
    char **end = frames + 1 + backtrace(reinterpret_cast<void **>(frames + 1), 24);
    char **frame = std::find_if(frames, end, [](char *f) { return known_line(f - 1).in_kernel; });
    Place place = (frame == end ? frames[0] : *frame) - 1;
    const char *whose = in_kernel ? "" : "host code: ";
    static const std::map<int, const char *> known = {
        {SIGXCPU, "still running when its time was up"},
        {SIGILL, "what the compiler knew to be wrong, such as a division by a constant zero"},
        {SIGABRT, "abort(), which a failed assert() or an exception calls"},
        {SIGFPE, "integer division by zero"}};
    if (known.count(signal)) fault(place, "%s%s", whose, known.at(signal));
    else if (info->si_code == SI_TKILL)
        fault(place, "still running after %g s (CPU_DEVICE_TIMEOUT)", timeout_seconds);
    else if (signal == SIGBUS || info->si_code == SI_KERNEL)
        fault(place, "%smisaligned access: a vector lies at a multiple of its size", whose);
    else if (in_stacks(info->si_addr, true))
        fault(place, "stack overflow: too much local memory or too deep a recursion");
    else fault(place, "%s%s %s", whose, access, describe_address(info->si_addr, 1).c_str());
    if (in_kernel) tracer->launch_end(); // the races that may have led to it
    fflush(stdout);
    _exit(1);
}

static void watch_signals() {
    void *frame;
    backtrace(&frame, 1); // loads what it needs now rather than in the handler
    // A stack of its own: that of the CUDA thread may be what overflowed.
    alignas(16) static char handler_stack[256 * 1024];
    stack_t stack = {handler_stack, 0, sizeof handler_stack};
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
        sigaction(signal, &action, nullptr);
}
static const bool watched = (watch_signals(), true); // for the host code of a kernel.cu

void run_on_worker(const Launch &launch) {
    const char *seconds = getenv("CPU_DEVICE_TIMEOUT");
    timeout_seconds = seconds ? atof(seconds) : 60;
    // A new thread each time: the caller's thread-local variables must survive the poison.
    auto done = std::async(std::launch::async, [&] {
        worker = pthread_self();
        watch_signals();
        run_grid(launch);
        worker = pthread_t();
    });
    const std::chrono::duration<double> limit(timeout_seconds);
    bool late = timeout_seconds > 0 && done.wait_for(limit) == std::future_status::timeout;
    if (late && worker) pthread_kill(worker, SIGSEGV);
}
} // namespace cpu

unsigned cpu_faults(void) { return unsigned(cpu::faults.size()); }
const char *cpu_fault_text(unsigned i) { return i < cpu::faults.size() ? cpu::faults[i].c_str() : ""; }
void cpu_faults_clear(void) {
    cpu::faults.clear();
    cpu::reported.clear();
    cudaGetLastError(); // and the error that they left
}
