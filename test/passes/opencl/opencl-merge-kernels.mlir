// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-merge-kernels)' | filecheck %s

// Names do not matter; constants, sizes of groups and the order of operands do.

// CHECK:     opencl.kernel @copy(
// CHECK-NOT: opencl.kernel @same(
// CHECK:     opencl.kernel @group(
// CHECK:     opencl.kernel @other(
// CHECK:     opencl.kernel @type(
// CHECK-NOT: opencl.kernel @same_again(
opencl.kernel @copy(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @same(%C : !opencl.pointer<f32, global>, %D : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %j = opencl.work_item group_id 0 below 8
  %y = opencl.load %C[%j] : !opencl.pointer<f32, global> -> f32
  opencl.store %y, %D[%j] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @group(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [2, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @other(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i + 8] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @type(%A : !opencl.pointer<si32, global>, %B : !opencl.pointer<si32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<si32, global> -> si32
  opencl.store %x, %B[%i] : si32 -> !opencl.pointer<si32, global>
}
opencl.kernel @width(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> vector<2xf32>
  opencl.store %x, %B[%i] : vector<2xf32> -> !opencl.pointer<f32, global>
}
opencl.kernel @same_again(%C : !opencl.pointer<f32, global>, %D : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %j = opencl.work_item group_id 0 below 8
  %y = opencl.load %C[%j] : !opencl.pointer<f32, global> -> f32
  opencl.store %y, %D[%j] : f32 -> !opencl.pointer<f32, global>
}

// CHECK:      opencl.launch @copy groups [8, 1, 1] (%A, %T)
// CHECK-NEXT: opencl.launch @copy groups [7, 1, 1] (%T, %U)
// CHECK-NEXT: opencl.launch @group groups [4, 1, 1] (%T, %U)
// CHECK-NEXT: opencl.launch @other groups [8, 1, 1] (%T, %U)
// CHECK-NEXT: opencl.launch @width groups [7, 1, 1] (%T, %U)
// CHECK-NEXT: opencl.launch once @copy groups [8, 1, 1] (%U, %V)
func.func @main(%A : !opencl.buffer<16xf32>) -> !opencl.buffer<16xf32> {
  %T = opencl.allocate : !opencl.buffer<16xf32>
  %U = opencl.allocate : !opencl.buffer<16xf32>
  %V = opencl.allocate : !opencl.buffer<16xf32>
  opencl.launch @copy groups [8, 1, 1] (%A, %T) : !opencl.buffer<16xf32>, !opencl.buffer<16xf32>
  opencl.launch @same groups [7, 1, 1] (%T, %U) : !opencl.buffer<16xf32>, !opencl.buffer<16xf32>
  opencl.launch @group groups [4, 1, 1] (%T, %U) : !opencl.buffer<16xf32>, !opencl.buffer<16xf32>
  opencl.launch @other groups [8, 1, 1] (%T, %U) : !opencl.buffer<16xf32>, !opencl.buffer<16xf32>
  opencl.launch @width groups [7, 1, 1] (%T, %U) : !opencl.buffer<16xf32>, !opencl.buffer<16xf32>
  opencl.launch once @same_again groups [8, 1, 1] (%U, %V) : !opencl.buffer<16xf32>, !opencl.buffer<16xf32>
  func.return %U : !opencl.buffer<16xf32>
}
