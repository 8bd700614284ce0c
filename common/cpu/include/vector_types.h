/**
 * @file vector_types.h
 * Stand-in for the CUDA header of this name: short vectors and dim3, with CUDA's alignments.
 */
#ifndef CPU_DEVICE_VECTOR_TYPES_H
#define CPU_DEVICE_VECTOR_TYPES_H

/* A vector of two or four is aligned to its size, to 16 bytes at most. */
#define CPU_ALIGN_AS_WHOLE(n) __attribute__((aligned((n) > 16 ? 16 : (n))))

#ifdef __cplusplus
#define CPU_MAKE_VECTORS(name, T)                                      \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#else
#define CPU_MAKE_VECTORS(name, T)
#endif

#define CPU_VECTORS(name, T)                                   \
    typedef struct CPU_ALIGN_AS_WHOLE(2 * sizeof(T)) name##2 { \
        T x, y;                                                \
    }                                                          \
    name##2;                                                   \
    typedef struct name##3 {                                   \
        T x, y, z;                                             \
    }                                                          \
    name##3;                                                   \
    typedef struct CPU_ALIGN_AS_WHOLE(4 * sizeof(T)) name##4 { \
        T x, y, z, w;                                          \
    }                                                          \
    name##4;                                                   \
    CPU_MAKE_VECTORS(name, T)

CPU_VECTORS(char, signed char)
CPU_VECTORS(uchar, unsigned char)
CPU_VECTORS(short, short)
CPU_VECTORS(ushort, unsigned short)
CPU_VECTORS(int, int)
CPU_VECTORS(uint, unsigned)
CPU_VECTORS(longlong, long long)
CPU_VECTORS(ulonglong, unsigned long long)
CPU_VECTORS(float, float)
CPU_VECTORS(double, double)

#undef CPU_VECTORS
#undef CPU_MAKE_VECTORS
#undef CPU_ALIGN_AS_WHOLE

typedef struct dim3 {
    unsigned x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
#endif
} dim3;

#endif
