// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK:      opencl.function @square(%x: vector<16xf32>) -> vector<16xf32> {
// CHECK-NEXT:   %y = eltwise.mul %x, %x : vector<16xf32>
// CHECK-NEXT:   %b = eltwise.bitcast %y : vector<16xf32> to vector<16xui32>
// CHECK-NEXT:   %c = eltwise.bitcast %b : vector<16xui32> to vector<16xf32>
// CHECK-NEXT:   opencl.return %c : vector<16xf32>
// CHECK-NEXT: }
opencl.function @square(%x : vector<16xf32>) -> vector<16xf32> {
  %y = eltwise.mul %x, %x : vector<16xf32>
  %b = eltwise.bitcast %y : vector<16xf32> to vector<16xui32>
  %c = eltwise.bitcast %b : vector<16xui32> to vector<16xf32>
  opencl.return %c : vector<16xf32>
}

// CHECK: opencl.kernel @squares
opencl.kernel @squares(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<16xf32>
  // CHECK: %y = opencl.call @square(%x) : (vector<16xf32>) -> vector<16xf32>
  %y = opencl.call @square(%x) : (vector<16xf32>) -> vector<16xf32>
  opencl.store %y, %A[0] : vector<16xf32> -> !opencl.pointer<f32, global>
}

// What an instruction is called in OpenCL C, and where it is there.
// CHECK:      opencl.function @twice(%x: f32, %c: f32) -> f32 accumulates add native "return fma({0}, 2.0f,\0A  {1}); // \22" needs "FP_FAST_FMAF" attributes {noted} {
// CHECK-NEXT:   %y = eltwise.add %x, %x : f32
opencl.function @twice(%x : f32, %c : f32) -> f32 accumulates add
    native "return fma({0}, 2.0f,\0A  {1}); // \22" needs "FP_FAST_FMAF" attributes {noted} {
  %y = eltwise.add %x, %x : f32
  %z = eltwise.add %c, %y : f32
  opencl.return %z : f32
}

// CHECK: opencl.function @same(%x: f32) -> f32 native "return {0};" {
opencl.function @same(%x : f32) -> f32 native "return {0};" {
  opencl.return %x : f32
}
