/** @file vector_types.h Stand-in for the CUDA header of this name: dim3, and in C++ short vectors. */
#pragma once

#ifdef __cplusplus
namespace cpu {
/// A vector of two or four is aligned to its size, to 16 bytes at most.
template<class T> struct alignas(2 * sizeof(T)) Vector2 { T x, y; };
template<class T> struct Vector3 { T x, y, z; };
template<class T> struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Vector4 { T x, y, z, w; };
} // namespace cpu

#define CPU_VECTORS(name, T)                                           \
    using name##2 = cpu::Vector2<T>;                                   \
    using name##3 = cpu::Vector3<T>;                                   \
    using name##4 = cpu::Vector4<T>;                                   \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
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
#endif

typedef struct dim3 {
    unsigned x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
#endif
} dim3;
