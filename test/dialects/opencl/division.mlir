// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK: opencl.kernel @divide
opencl.kernel @divide(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<16xf32>
  %y = opencl.load %A[16] : !opencl.pointer<f32, global> -> f32
  // CHECK: %q = opencl.divide %x by %y : vector<16xf32>
  %q = opencl.divide %x by %y : vector<16xf32>
  opencl.store %q, %A[0] : vector<16xf32> -> !opencl.pointer<f32, global>
}
