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
