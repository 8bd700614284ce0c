/** @file cuda_pipeline.h Stand-in for the CUDA header of this name: its C primitives only. */
#pragma once
#include "cuda_pipeline_primitives.h"
