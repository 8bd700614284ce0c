/* Stands in until the CPU device has these. */
struct cpu_fault {
    const char *id, *place, *other, *memory, *schedule, *text, *mend;
    unsigned thread[3], block[3], other_thread[3], other_block[3];
    int has_thread, has_other;
};
static const struct cpu_fault *cpu_fault(unsigned i) {
    static struct cpu_fault f;
    f = (struct cpu_fault){"race", "", "", "", "", cpu_fault_text(i), "", {0}, {0}, {0}, {0}, 0, 0};
    return &f;
}
static unsigned cpu_counter_lines(const struct counter_line **lines) {
    *lines = NULL;
    return 0;
}
static void cpu_on_crash(void (*call)(void)) {
    (void)call;
}
