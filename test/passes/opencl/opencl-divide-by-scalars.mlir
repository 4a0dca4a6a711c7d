// RUN: tile-opt %s --split-input-file -p opencl-divide-by-scalars | filecheck %s

// The broadcast goes, as nothing else needs it.
// CHECK:      opencl.kernel @rows
// CHECK:        %sum = opencl.load
// CHECK-NEXT:   opencl.for %j : 4 {
// CHECK-NEXT:     %x = opencl.load
// CHECK-NEXT:     %p = opencl.divide %x by %sum : vector<16xf32>
// CHECK-NEXT:     opencl.store %p
opencl.kernel @rows(%A : !opencl.pointer<f32, global>, %Sum : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %sum = opencl.load %Sum[%i] : !opencl.pointer<f32, global> -> f32
  opencl.for %j : 4 {
    %x = opencl.load %A[64 * %i + 16 * %j] : !opencl.pointer<f32, global> -> vector<16xf32>
    %y = eltwise.broadcast %sum : f32 to vector<16xf32>
    %p = eltwise.div %x, %y : vector<16xf32>
    opencl.store %p, %A[64 * %i + 16 * %j] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// -----

// A number in every lane is a scalar too, except for a power of two: compilers multiply
// by its reciprocal.
// CHECK:      opencl.kernel @constants
// CHECK:        [[NINE:%.+]] = eltwise.constant 9.0 : f32
// CHECK-NEXT:   [[MEAN:%.+]] = opencl.divide %x by [[NINE]] : vector<8xf32>
// CHECK:        %half = eltwise.div [[MEAN]], %two : vector<8xf32>
opencl.kernel @constants(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<8xf32>
  %nine = eltwise.constant 9.0 : vector<8xf32>
  %mean = eltwise.div %x, %nine : vector<8xf32>
  %two = eltwise.constant -2.0 : vector<8xf32>
  %half = eltwise.div %mean, %two : vector<8xf32>
  opencl.store %half, %A[0] : vector<8xf32> -> !opencl.pointer<f32, global>
}

// -----

// What has several divisors, what divides a number by lanes, scalars and other types
// stay, and so does a broadcast with other users.
// CHECK:      opencl.kernel @others
// CHECK:        eltwise.div %x, %z : vector<8xf32>
// CHECK:        %b = eltwise.broadcast %s
// CHECK-NEXT:   eltwise.div %b, %x : vector<8xf32>
// CHECK-NEXT:   opencl.divide %x by %s : vector<8xf32>
// CHECK-NEXT:   eltwise.add {{%.+}}, %b : vector<8xf32>
// CHECK:        eltwise.div %s, %s : f32
// CHECK:        eltwise.div %v, %w : vector<8xf64>
opencl.kernel @others(%A : !opencl.pointer<f32, global>, %D : !opencl.pointer<f64, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<8xf32>
  %z = opencl.load %A[8] : !opencl.pointer<f32, global> -> vector<8xf32>
  %0 = eltwise.div %x, %z : vector<8xf32>
  %s = opencl.load %A[16] : !opencl.pointer<f32, global> -> f32
  %b = eltwise.broadcast %s : f32 to vector<8xf32>
  %1 = eltwise.div %b, %x : vector<8xf32>
  %2 = eltwise.div %x, %b : vector<8xf32>
  %3 = eltwise.add %2, %b : vector<8xf32>
  %4 = eltwise.div %s, %s : f32
  %v = opencl.load %D[0] : !opencl.pointer<f64, global> -> vector<8xf64>
  %d = opencl.load %D[8] : !opencl.pointer<f64, global> -> f64
  %w = eltwise.broadcast %d : f64 to vector<8xf64>
  %5 = eltwise.div %v, %w : vector<8xf64>
  opencl.store %0, %A[0] : vector<8xf32> -> !opencl.pointer<f32, global>
  opencl.store %1, %A[8] : vector<8xf32> -> !opencl.pointer<f32, global>
  opencl.store %3, %A[16] : vector<8xf32> -> !opencl.pointer<f32, global>
  opencl.store %4, %A[24] : f32 -> !opencl.pointer<f32, global>
  opencl.store %5, %D[0] : vector<8xf64> -> !opencl.pointer<f64, global>
}
