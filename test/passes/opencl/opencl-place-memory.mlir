// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-place-memory)' | filecheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-place-memory{alignment=64})' | filecheck %s --check-prefix=SMALL
// RUN: not tile-opt %s --pass-pipeline='builtin.module(opencl-place-memory{alignment=96})' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: expected 'alignment' to be a power of two from 64 on, got 96

opencl.kernel @double(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}

// In a chain two places are enough. The result is the caller's; the last buffer, which
// nothing uses, is left alone. Allocations stand where their places are taken.

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %N = opencl.allocate : !opencl.buffer<8xf32>
// CHECK-NEXT:    %B = opencl.allocate : !opencl.buffer<8xf32>
// CHECK-NEXT:    %T = opencl.allocate at 0 : !opencl.buffer<8xf32>
// CHECK-NEXT:    opencl.launch @double groups [8, 1, 1] (%A, %T)
// CHECK-NEXT:    %U = opencl.allocate at 512 : !opencl.buffer<8xf32>
// CHECK-NEXT:    opencl.launch @double groups [8, 1, 1] (%T, %U)
// CHECK-NEXT:    %V = opencl.allocate at 0 : !opencl.buffer<8xf32>
// CHECK-NEXT:    opencl.launch @double groups [8, 1, 1] (%U, %V)
// CHECK-NEXT:    opencl.launch @double groups [8, 1, 1] (%V, %B)
// SMALL-LABEL: func.func @chain(
// SMALL:         %U = opencl.allocate at 64 :
func.func @chain(%A : !opencl.buffer<8xf32>) -> !opencl.buffer<8xf32> {
  %V = opencl.allocate at 64 : !opencl.buffer<8xf32>
  %U = opencl.allocate : !opencl.buffer<8xf32>
  %T = opencl.allocate : !opencl.buffer<8xf32>
  %N = opencl.allocate at 128 : !opencl.buffer<8xf32>
  %B = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%A, %T) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%T, %U) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%U, %V) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%V, %B) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %B : !opencl.buffer<8xf32>
}

// What is kept between calls (%P) has memory of its own, not what only launches that
// run once use (%Q).

// CHECK-LABEL: func.func @kept(
// CHECK:         %Q = opencl.allocate at 0 :
// CHECK:         %P = opencl.allocate :
// CHECK:         %T = opencl.allocate at 0 :
func.func @kept(%A : !opencl.buffer<8xf32>, %K : !opencl.buffer<8xf32> {tile.constant}) -> !opencl.buffer<8xf32> {
  %Q = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch once @double groups [8, 1, 1] (%K, %Q) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  %P = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch once @double groups [8, 1, 1] (%Q, %P) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  %T = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%P, %T) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  %B = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @double groups [8, 1, 1] (%T, %B) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %B : !opencl.buffer<8xf32>
}
