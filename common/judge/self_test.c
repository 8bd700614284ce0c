/* A judge against the plain loops, at a rectangular size, with padding and guard bands all around. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "judge/judge.h"

enum { M = 160, N = 96, K = 224, PAD = 3, BEFORE = 7, AFTER = 9, LENGTH = 100003 };

/* Memory of the same size on both sides. */
struct twin {
    void *host, *device;
    size_t bytes;
};

static struct twin twin_create(size_t bytes) {
    struct twin t = {calloc(bytes, 1), NULL, bytes};
    CUDA_CHECK(t.host != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
    CUDA_CHECK(cudaMalloc(&t.device, bytes));
    CUDA_CHECK(cudaMemcpy(t.device, t.host, bytes, cudaMemcpyHostToDevice));
    return t;
}

static void twin_destroy(struct twin *t) {
    free(t->host);
    cudaFree(t->device);
}

static bool twin_alike(const struct twin *t) {
    void *back = malloc(t->bytes);
    CUDA_CHECK(back != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
    CUDA_CHECK(cudaMemcpy(back, t->device, t->bytes, cudaMemcpyDeviceToHost));
    bool alike = memcmp(back, t->host, t->bytes) == 0;
    free(back);
    return alike;
}

/* Whether the device's FP64 numbers are those of the host but for rounding, relative to `magnitude`. */
static bool twin_close(const struct twin *t, const double *magnitude) {
    double *back = malloc(t->bytes), *want = t->host;
    bool close = true;
    CUDA_CHECK(back != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
    CUDA_CHECK(cudaMemcpy(back, t->device, t->bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < t->bytes / sizeof *back; ++i)
        close = close && fabs(back[i] - want[i]) <= K * 0x1p-52 * magnitude[i];
    free(back);
    return close;
}

/* Fills A and B, and compares them and their product. */
static const char *test_inputs(const struct judge *tested, struct product side[2], bool exact,
                               struct twin twins[5]) {
    enum fill_mode mode = exact ? FILL_EXACT : FILL_REAL;
    for (int d = 0; d < 2; ++d) {
        const struct judge *j = d ? tested : &host_judge;
        struct fill a = fill_product(side[d].types, K, 5, false, mode),
                    b = fill_product(side[d].types, K, 6, true, mode);
        j->fill(&side[d].A, &a);
        j->fill(&side[d].B, &b);
        j->reference(&side[d]);
    }
    return !twin_alike(&twins[0])                  ? "the elements of A"
           : !twin_alike(&twins[1])                ? "the elements of B"
           : !twin_close(&twins[3], twins[4].host) ? "A * B"
           : !twin_close(&twins[4], twins[4].host) ? "|A| * |B|"
                                                   : NULL;
}

/* Compares a rounded C, then one with a wrong element, a NaN and an element written outside. */
static const char *test_output(const struct judge *tested, struct product side[2],
                               struct output output[2], bool exact, struct twin *c) {
    struct comparison found[2];
    const enum element_type type = output->matrix.type;
    host_judge.poison(&output[0]);
    tested->poison(&output[1]);
    if (!twin_alike(c))
        return "poison";
    for (size_t i = 0; i < M * N; ++i)
        element_store(type, side->C.at, i / N * side->C.ld + i % N,
                      element_round(type, side->ref[i]));
    for (unsigned planted = 0; planted <= 1; ++planted) {
        if (planted) {
            element_store(type, side->C.at, 3 * side->C.ld + 4,
                          element_round(type, 2 * side->mag[3 * N + 4]));
            element_store(type, side->C.at, 9 * side->C.ld + 1, element_round(type, NAN));
            element_store(type, c->host, BEFORE + N, 0);
        }
        CUDA_CHECK(cudaMemcpy(c->device, c->host, c->bytes, cudaMemcpyHostToDevice));
        for (int d = 0; d < 2; ++d) {
            const struct judge *j = d ? tested : &host_judge;
            j->compare(&side[d], exact, &found[d]);
            if (found[d].wrong != 2 * planted)
                return "how many elements are wrong";
            if (found[d].first != (planted ? 3 * N + 4 : 0))
                return "which element is the first wrong one";
            if (isnan(found[d].max_error) != (planted == 1))
                return "the largest error";
            if (j->outside(&output[d]) != planted)
                return "what was written outside";
        }
        if (host_judge.digest(&side[0].C) != tested->digest(&side[1].C))
            return "the digest of a matrix";
    }
    return NULL;
}

static const char *test_product(const struct judge *tested, struct element_types types) {
    const size_t size = element_size(types.in), count = BEFORE + M * (N + PAD) + AFTER;
    struct twin twins[5] = {
        twin_create(((M - 1) * (K + PAD) + K) * size),
        twin_create(((K - 1) * (N + PAD) + N) * size), twin_create(count * element_size(types.out)),
        twin_create(M * N * sizeof(double)), twin_create(M * N * sizeof(double))};
    struct product side[2];
    struct output output[2];
    const char *what = NULL;
    for (int d = 0; d < 2; ++d) {
        void *at[5];
        for (int i = 0; i < 5; ++i)
            at[i] = d ? twins[i].device : twins[i].host;
        side[d] = (struct product){
            types,
            {types.in, at[0], M, K, K + PAD},
            {types.in, at[1], K, N, N + PAD},
            {types.out, (char *)at[2] + BEFORE * element_size(types.out), M, N, N + PAD},
            at[3],
            at[4]};
        output[d] = (struct output){side[d].C, at[2], count};
    }
    for (int exact = 0; exact <= 1 && what == NULL; ++exact) {
        what = test_inputs(tested, side, exact, twins);
        if (what == NULL)
            what = test_output(tested, side, output, exact, &twins[2]);
    }
    for (int i = 0; i < 5; ++i)
        twin_destroy(&twins[i]);
    return what;
}

static const char *test_vectors(const struct judge *tested, enum element_type type) {
    struct twin twins[2] = {twin_create(LENGTH * element_size(type)),
                            twin_create(LENGTH * element_size(type))};
    struct matrix x[2], y[2];
    const char *what = NULL;
    for (int d = 0; d < 2; ++d) {
        x[d] = (struct matrix){type, d ? twins[0].device : twins[0].host, 1, LENGTH, LENGTH};
        y[d] = (struct matrix){type, d ? twins[1].device : twins[1].host, 1, LENGTH, LENGTH};
    }
    for (int mode = FILL_SUM; mode <= FILL_BITS && what == NULL; ++mode) {
        struct fill fill = {.mode = (enum fill_mode)mode, .seed = 7, .terms = LENGTH};
        if ((mode == FILL_BITS) != (type == ELEMENT_U32))
            continue;
        host_judge.fill(&x[0], &fill);
        tested->fill(&x[1], &fill);
        double want = host_judge.sum(&x[0]), got = tested->sum(&x[1]);
        if (!twin_alike(&twins[0]))
            what = "the elements of a vector";
        else if (mode == FILL_NAN ? !isnan(want) || !isnan(got) : fabs(want - got) > 1e-9)
            what = "a sum";
    }
    for (unsigned planted = 0; planted <= 1 && what == NULL && type == ELEMENT_U32; ++planted) {
        uint32_t *in = x[0].at, *out = y[0].at;
        uint64_t first[2] = {0, 0};
        for (size_t i = 0; i < LENGTH; ++i)
            out[i] = in[i] + (i > 0 ? out[i - 1] : 0);
        out[77777] ^= planted; /* it and its successor are wrong then */
        CUDA_CHECK(cudaMemcpy(y[1].at, out, twins[1].bytes, cudaMemcpyHostToDevice));
        if (host_judge.scan(&x[0], &y[0], &first[0]) != 2 * planted ||
            tested->scan(&x[1], &y[1], &first[1]) != 2 * planted || first[0] != first[1])
            what = "which elements of a scan are wrong";
    }
    twin_destroy(&twins[0]);
    twin_destroy(&twins[1]);
    return what;
}

const char *judge_self_test(const struct judge *tested) {
    static const struct element_types products[] = {
        {ELEMENT_F32, ELEMENT_F32, ELEMENT_F32},
        {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16},
        {ELEMENT_F16, ELEMENT_F32, ELEMENT_F16},
    };
    static const enum element_type vectors[] = {ELEMENT_F32, ELEMENT_BF16, ELEMENT_U32};
    const char *what = NULL;
    for (size_t i = 0; i < 3 && what == NULL; ++i)
        what = test_product(tested, products[i]);
    for (size_t i = 0; i < 3 && what == NULL; ++i)
        what = test_vectors(tested, vectors[i]);
    return what;
}
