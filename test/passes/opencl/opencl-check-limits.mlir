// RUN: tile-opt %s -p 'opencl-check-limits{hardware="gpu:parallel.group.item_limit=64,parallel.group.memory_bytes=4096"}' --split-input-file --verify-diagnostics | filecheck %s

// What a device can run stays as it is: memory of work-items has no limit.
// CHECK: opencl.kernel @fits
// CHECK: opencl.array 1024 : !opencl.pointer<f32, local>
opencl.kernel @fits(%A : !opencl.pointer<f32, global>) group [16, 4, 1] {
  %t = opencl.array 1024 : !opencl.pointer<f32, local>
  %own = opencl.array 9999 : !opencl.pointer<f32, private>
}

// -----

// expected-error @+1 {{expected groups of at most 64 work-items for gpu, got 65}}
opencl.kernel @wide(%A : !opencl.pointer<f32, global>) group [65, 1, 1] {
}

// -----

// expected-error @+1 {{expected at most 4096 bytes of local memory for gpu, got 4100}}
opencl.kernel @large(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %t = opencl.array 1024 : !opencl.pointer<f32, local>
  %u = opencl.array 1 : !opencl.pointer<f32, local>
}
