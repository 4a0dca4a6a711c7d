// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-run-once)' | filecheck %s

opencl.kernel @double(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  %y = eltwise.add %x, %x : f32
  opencl.store %y, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @sum(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  %y = opencl.load %B[%i] : !opencl.pointer<f32, global> -> f32
  %z = eltwise.add %x, %y : f32
  opencl.store %z, %C[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @ones(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %one = eltwise.constant 1.0 : f32
  opencl.store %one, %A[%i] : f32 -> !opencl.pointer<f32, global>
}

// What depends on the constant %K moves to the front; what reads %I does not.

// CHECK-LABEL: func.func @pack(
// CHECK-NEXT:    %P = opencl.allocate :
// CHECK-NEXT:    opencl.launch once @double groups [8, 1, 1] (%K, %P)
// CHECK-NEXT:    %Q = opencl.allocate :
// CHECK-NEXT:    opencl.launch once @double groups [8, 1, 1] (%P, %Q)
// CHECK-NEXT:    %J = opencl.allocate :
// CHECK-NEXT:    opencl.launch @double groups [8, 1, 1] (%I, %J)
// CHECK-NEXT:    %O = opencl.allocate :
// CHECK-NEXT:    opencl.launch @sum groups [8, 1, 1] (%J, %Q, %O)
func.func @pack(%I : !opencl.buffer<8xf32>, %K : !opencl.buffer<8xf32> {tile.constant}) -> !opencl.buffer<8xf32> {
  %J = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%I, %J) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  %P = opencl.allocate : !opencl.buffer<8xf32>
  %Q = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%K, %P) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%P, %Q) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  %O = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @sum groups [8, 1, 1] (%J, %Q, %O) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %O : !opencl.buffer<8xf32>
}

// A buffer that is written again from an input holds no constant, so that its first
// contents are needed anew; what needs no input at all runs once.

// CHECK-LABEL: func.func @written_again(
// CHECK-NEXT:    %U = opencl.allocate :
// CHECK-NEXT:    opencl.launch once @ones groups [8, 1, 1] (%U)
// CHECK-NEXT:    %T = opencl.allocate :
// CHECK-NEXT:    opencl.launch @ones groups [8, 1, 1] (%T)
// CHECK-NEXT:    opencl.launch @double groups [8, 1, 1] (%I, %T)
func.func @written_again(%I : !opencl.buffer<8xf32>) -> !opencl.buffer<8xf32> {
  %T = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @ones groups [8, 1, 1] (%T) : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%I, %T) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  %U = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @ones groups [8, 1, 1] (%U) : !opencl.buffer<8xf32>
  %O = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @sum groups [8, 1, 1] (%T, %U, %O) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %O : !opencl.buffer<8xf32>
}

// A result is new in every call.

// CHECK-LABEL: func.func @returned(
// CHECK-NOT:     once
// CHECK:         func.return
func.func @returned(%K : !opencl.buffer<8xf32> {tile.constant}) -> !opencl.buffer<8xf32> {
  %O = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%K, %O) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %O : !opencl.buffer<8xf32>
}
