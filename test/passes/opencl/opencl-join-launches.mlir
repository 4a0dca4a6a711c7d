// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-join-launches)' --split-input-file | filecheck %s

opencl.kernel @row(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  %t = opencl.array 4 : !opencl.pointer<f32, local>
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %t[0] : f32 -> !opencl.pointer<f32, local>
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @tile(%A : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %j = opencl.work_item group_id 1 below 4
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %x = opencl.load %A[8 * %j + %i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %t[0] : f32 -> !opencl.pointer<f32, local>
  opencl.store %x, %C[8 * %j + %i] : f32 -> !opencl.pointer<f32, global>
}

// Each in its own groups; local memory is that of both.
// CHECK-NOT:   opencl.kernel @row(
// CHECK:       opencl.kernel @row_and_tile(%A: {{.*}}, %B: {{.*}}, %C: {{.*}}) group [1, 1, 1] {
// CHECK-NEXT:    %t = opencl.array 8 : !opencl.pointer<f32, local>
// CHECK-NEXT:    %group = opencl.work_item group_id 0 below 128
// CHECK-NEXT:    %place, %part = opencl.delinearize %group into [64, 2]
// CHECK-NEXT:    opencl.if -%part >= 0 {
// CHECK-NEXT:      %x = opencl.load %A[%place]
// CHECK-NEXT:      opencl.store %x, %t[0]
// CHECK-NEXT:      opencl.store %x, %B[%place]
// CHECK-NEXT:    }
// CHECK-NEXT:    opencl.if %part - 1 >= 0, -%place + 31 >= 0 {
// CHECK-NEXT:      %{{.*}}, %j, %i = opencl.delinearize %place into [1, 4, 8]
// CHECK-NEXT:      %x_1 = opencl.load %A[8 * %j + %i]
// CHECK-NEXT:      opencl.store %x_1, %t[0]
// CHECK-NEXT:      opencl.store %x_1, %C[8 * %j + %i]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK:       opencl.allocate
// CHECK-NEXT:  opencl.allocate
// CHECK-NEXT:  opencl.launch @row_and_tile groups [128, 1, 1] (%A, %B, %C)
// CHECK-NEXT:  func.return
func.func @main(%A : !opencl.buffer<64xf32>) -> (!opencl.buffer<64xf32>, !opencl.buffer<64xf32>) {
  %B = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @row groups [64, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<64xf32>, !opencl.buffer<64xf32>
  %C = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @tile groups [8, 4, 1] (%A, %C) {opencl.join = 0 : i64} : !opencl.buffer<64xf32>, !opencl.buffer<64xf32>
  func.return %B, %C : !opencl.buffer<64xf32>, !opencl.buffer<64xf32>
}

// -----

opencl.kernel @scale(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 4
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}

// One kernel with the buffers of either; who is alone keeps the kernel.
// CHECK:      opencl.kernel @scale(
// CHECK:      opencl.kernel @scale_and_scale(%A: {{.*}}, %B: {{.*}}, %C: {{.*}}) group [1, 1, 1] {
// CHECK-NEXT:   %group = opencl.work_item group_id 0 below 8
// CHECK-NEXT:   %place, %part = opencl.delinearize %group into [4, 2]
// CHECK-NEXT:   opencl.choose %part from 0 of [%B] [%C] (%B_1: !opencl.pointer<f32, global>) {
// CHECK-NEXT:     %x = opencl.load %A[%place]
// CHECK-NEXT:     opencl.store %x, %B_1[%place]
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:      opencl.launch @scale_and_scale groups [8, 1, 1] (%A, %B, %C)
// CHECK-NOT:  opencl.join
// CHECK:      opencl.launch @scale groups [4, 1, 1] (%C, %D) :
// CHECK-NEXT: func.return
func.func @main(%A : !opencl.buffer<4xf32>) -> (!opencl.buffer<4xf32>, !opencl.buffer<4xf32>) {
  %B = opencl.allocate : !opencl.buffer<4xf32>
  %C = opencl.allocate : !opencl.buffer<4xf32>
  %D = opencl.allocate : !opencl.buffer<4xf32>
  opencl.launch @scale groups [4, 1, 1] (%A, %B) {opencl.join = 3 : i64, opencl.join_reason = "..."} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  opencl.launch @scale groups [4, 1, 1] (%A, %C) {opencl.join = 3 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  opencl.launch @scale groups [4, 1, 1] (%C, %D) {opencl.join_reason = "..."} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return %B, %D : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
}
