# What the CPU device does not have must not compile, and the compiler must say so: by CXX, with INCLUDES.
cmake_policy(VERSION 3.20)
separate_arguments(INCLUDES)
list(TRANSFORM INCLUDES PREPEND -I)

# refused(RULE HEADER CODE): the code, in a function, is refused by a static_assert that says so.
function(refused rule header code)
  file(WRITE ${FILE} "#include <cuda_runtime.h>\n#include <${header}>\nvoid kernel() { ${code} }\n")
  execute_process(COMMAND ${CXX} -std=gnu++17 -fsyntax-only ${INCLUDES} ${FILE} ERROR_VARIABLE said RESULT_VARIABLE status)
  string(FIND "${said}" "${rule}" at)
  if(status EQUAL 0 OR at LESS 0)
    message(SEND_ERROR "${code}: not refused by '${rule}':\n${said}")
  endif()
endfunction()

refused("no barrier with a completion function" cuda/barrier
        "struct Done { void operator()() {} }; cuda::barrier<cuda::thread_scope_block, Done> b;")
refused("barriers of block scope only" cuda/barrier "cuda::barrier<cuda::thread_scope_device> b;")
refused("pipelines of block and of thread scope" cuda/pipeline
        "static cuda::pipeline_shared_state<cuda::thread_scope_device, 2> s;")
refused("tiles of 1, 2, 4, 8, 16 and 32 threads" cooperative_groups.h
        "cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block()).sync();")
