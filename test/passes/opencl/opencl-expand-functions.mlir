// RUN: tile-opt %s --split-input-file --verify-diagnostics -p 'opencl-expand-functions{functions="exp","sigmoid"}' | filecheck %s

// One function for each type, made once; what it calls in turn comes first.
// CHECK:      opencl.function @exp_f32x8(%x: vector<8xf32>) -> vector<8xf32> {
// CHECK:        opencl.return %result : vector<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: opencl.function @sigmoid_f32x8(%x: vector<8xf32>) -> vector<8xf32> {
// CHECK:        %power = opencl.call @exp_f32x8({{%\S+}}) : (vector<8xf32>) -> vector<8xf32>
// CHECK:      opencl.function @exp_f32(%x: f32) -> f32 {
// CHECK:      opencl.kernel @calls
opencl.kernel @calls(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  // CHECK: %y = opencl.call @sigmoid_f32x8(%x) : (vector<8xf32>) -> vector<8xf32>
  // CHECK-NEXT: %z = opencl.call @exp_f32x8(%y) : (vector<8xf32>) -> vector<8xf32>
  // CHECK-NEXT: %w = opencl.call @exp_f32x8(%z) : (vector<8xf32>) -> vector<8xf32>
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<8xf32>
  %y = eltwise.sigmoid %x : vector<8xf32>
  %z = eltwise.exp %y : vector<8xf32>
  %w = eltwise.exp %z : vector<8xf32>
  opencl.store %w, %A[0] : vector<8xf32> -> !opencl.pointer<f32, global>
  %s = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  // CHECK: %e = opencl.call @exp_f32(%s) : (f32) -> f32
  %e = eltwise.exp %s : f32
  opencl.store %e, %A[0] : f32 -> !opencl.pointer<f32, global>
}

// -----

// Other functions and other types stay, and names of kernels stay their own.
// CHECK-NOT: opencl.function @exp_f32(
// CHECK:     opencl.function @exp_f32_1(
// CHECK:     opencl.kernel @exp_f32
opencl.kernel @exp_f32(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f64, global>) group [1, 1, 1] {
  // CHECK: eltwise.log %x : f32
  // CHECK: opencl.call @exp_f32_1
  // CHECK: eltwise.exp %w : f64
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  %y = eltwise.log %x : f32
  %z = eltwise.exp %y : f32
  opencl.store %z, %A[0] : f32 -> !opencl.pointer<f32, global>
  %w = opencl.load %B[0] : !opencl.pointer<f64, global> -> f64
  %v = eltwise.exp %w : f64
  opencl.store %v, %B[0] : f64 -> !opencl.pointer<f64, global>
}
