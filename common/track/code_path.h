/**
 * @file code_path.h
 * Which way a step took, where it has more than one.
 */
#ifndef OVERLAP_CODE_PATH_H
#define OVERLAP_CODE_PATH_H

#ifdef __cplusplus
extern "C" {
#endif

/** A step names the path that it took, such as "4-byte copies", by a literal; its row shows it. */
void code_path(const char *path);

#ifdef __cplusplus
}
#endif
#endif
