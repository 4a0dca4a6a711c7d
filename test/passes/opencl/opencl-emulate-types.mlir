// RUN: tile-opt %s -p opencl-emulate-types | filecheck %s

// Operands are converted once, each result is rounded.
// CHECK-LABEL: opencl.kernel @sum
opencl.kernel @sum(%A : !opencl.pointer<f16, global>, %B : !opencl.pointer<f16, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  // CHECK: %x = opencl.load %A[%i] : !opencl.pointer<f16, global> -> f16
  // CHECK-NEXT: [[X:%\S+]] = eltwise.cast %x : f16 to f32
  %x = opencl.load %A[%i] : !opencl.pointer<f16, global> -> f16
  // CHECK-NEXT: [[P:%\S+]] = eltwise.mul [[X]], [[X]] : f32
  // CHECK-NEXT: %y = eltwise.cast [[P]] : f32 to f16
  // CHECK-NEXT: [[Y:%\S+]] = eltwise.cast %y : f16 to f32
  %y = eltwise.mul %x, %x : f16
  // CHECK-NEXT: [[S:%\S+]] = eltwise.add [[Y]], [[X]] : f32
  // CHECK-NEXT: %z = eltwise.cast [[S]] : f32 to f16
  // CHECK-NEXT: opencl.store %z, %B[%i] : f16
  %z = eltwise.add %y, %x : f16
  opencl.store %z, %B[%i] : f16 -> !opencl.pointer<f16, global>
}

// Constants and broadcasts are made in f32. 0.1 is rounded to bf16 first.
// CHECK-LABEL: opencl.kernel @vectors
opencl.kernel @vectors(%A : !opencl.pointer<bf16, global>, %B : !opencl.pointer<i1, global>) group [1, 1, 1] {
  // CHECK: [[S:%\S+]] = eltwise.cast %s : bf16 to f32
  // CHECK-NEXT: [[V:%\S+]] = eltwise.broadcast [[S]] : f32 to vector<4xf32>
  %s = opencl.load %A[0] : !opencl.pointer<bf16, global> -> bf16
  %v = eltwise.broadcast %s : bf16 to vector<4xbf16>
  // CHECK-NEXT: [[C:%\S+]] = eltwise.constant 0.10009765625 : vector<4xf32>
  %c = eltwise.constant 0.1 : vector<4xbf16>
  // CHECK-NEXT: %t = eltwise.cmp_lt [[V]], [[C]] : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
  %t = eltwise.cmp_lt %v, %c : (vector<4xbf16>, vector<4xbf16>) -> vector<4xi1>
  opencl.store %t, %B[0] : vector<4xi1> -> !opencl.pointer<i1, global>
}

// What moves values, and what has nothing to do with these types, stays.
// CHECK-LABEL: opencl.kernel @moves
opencl.kernel @moves(%A : !opencl.pointer<f16, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f16, global> -> f16
  %y = opencl.load %B[0] : !opencl.pointer<f32, global> -> f32
  // CHECK: %zero = eltwise.constant 0.0 : f32
  // CHECK-NEXT: %t = eltwise.cmp_lt %y, %zero : (f32, f32) -> i1
  // CHECK-NEXT: %h = eltwise.constant 1.0 : f16
  // CHECK-NEXT: %z = eltwise.cond %t, %x, %h : (i1, f16, f16) -> f16
  // CHECK-NEXT: opencl.store %z
  %zero = eltwise.constant 0.0 : f32
  %t = eltwise.cmp_lt %y, %zero : (f32, f32) -> i1
  %h = eltwise.constant 1.0 : f16
  %z = eltwise.cond %t, %x, %h : (i1, f16, f16) -> f16
  opencl.store %z, %A[1] : f16 -> !opencl.pointer<f16, global>
}

// Conversions go by way of f32, but f64 becomes f16 at once.
// CHECK-LABEL: opencl.kernel @conversions
opencl.kernel @conversions(%A : !opencl.pointer<f16, global>, %B : !opencl.pointer<bf16, global>,
                           %C : !opencl.pointer<f64, global>, %D : !opencl.pointer<si64, global>) group [1, 1, 1] {
  // CHECK: [[X:%\S+]] = eltwise.cast %x : f16 to f32
  %x = opencl.load %A[0] : !opencl.pointer<f16, global> -> f16
  // CHECK-NEXT: %b = eltwise.cast [[X]] : f32 to bf16
  %b = eltwise.cast %x : f16 to bf16
  opencl.store %b, %B[0] : bf16 -> !opencl.pointer<bf16, global>
  // CHECK: %d = eltwise.cast [[X]] : f32 to f64
  %d = eltwise.cast %x : f16 to f64
  // CHECK-NEXT: %h = eltwise.cast %d : f64 to f16
  %h = eltwise.cast %d : f64 to f16
  opencl.store %h, %A[1] : f16 -> !opencl.pointer<f16, global>
  // CHECK: [[D:%\S+]] = eltwise.cast %d : f64 to f32
  // CHECK-NEXT: %e = eltwise.cast [[D]] : f32 to bf16
  %e = eltwise.cast %d : f64 to bf16
  opencl.store %e, %B[1] : bf16 -> !opencl.pointer<bf16, global>
  // CHECK: %n = eltwise.cast [[X]] : f32 to si64
  // CHECK-NEXT: [[N:%\S+]] = eltwise.cast %n : si64 to f32
  // CHECK-NEXT: %m = eltwise.cast [[N]] : f32 to f16
  %n = eltwise.cast %x : f16 to si64
  %m = eltwise.cast %n : si64 to f16
  opencl.store %n, %D[0] : si64 -> !opencl.pointer<si64, global>
  opencl.store %m, %A[2] : f16 -> !opencl.pointer<f16, global>
}

// Functions have f16 as arguments and results, too.
// CHECK-LABEL: opencl.function @fused
// CHECK-NEXT:    %0 = eltwise.cast %y : vector<4xf16> to vector<4xf32>
// CHECK-NEXT:    %1 = eltwise.cast %x : f16 to f32
// CHECK-NEXT:    %2 = eltwise.broadcast %1 : f32 to vector<4xf32>
// CHECK-NEXT:    %3 = eltwise.mul %2, %0 : vector<4xf32>
// CHECK-NEXT:    %z = eltwise.cast %3 : vector<4xf32> to vector<4xf16>
// CHECK-NEXT:    opencl.return %z : vector<4xf16>
opencl.function @fused(%x : f16, %y : vector<4xf16>) -> vector<4xf16> {
  %b = eltwise.broadcast %x : f16 to vector<4xf16>
  %z = eltwise.mul %b, %y : vector<4xf16>
  opencl.return %z : vector<4xf16>
}
