// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK: opencl.kernel @fetch
opencl.kernel @fetch(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  opencl.for %i : 4 {
    // CHECK: opencl.prefetch %A[16 * %i + 64] : !opencl.pointer<f32, global>
    opencl.prefetch %A[16 * %i + 64] : !opencl.pointer<f32, global>
  }
}
