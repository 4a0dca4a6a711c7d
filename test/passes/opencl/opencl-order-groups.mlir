// RUN: tile-opt %s -p 'opencl-order-groups{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s -p 'opencl-order-groups{hardware=nvidia-h200:cores=1024}' | filecheck %s --check-prefix=FEW

// Eight rows of eight columns each; the condition and the store follow.
// CHECK-LABEL: opencl.kernel @product
// CHECK:         %j_1, %i_1 = opencl.delinearize %j into [3, 8]
// CHECK-NEXT:    %i_2, %j_2 = opencl.delinearize %i into [5, 8]
// CHECK:         opencl.load %A[64 * %i_2 + 8 * %i_1 + %k]
// CHECK-NEXT:    opencl.load %B[12 * %j_2 + 4 * %j_1 + %k]
// CHECK:         opencl.if -3 * %j_2 - %j_1 + 20 >= 0 {
// CHECK-NEXT:      opencl.store %{{.*}}, %C[192 * %i_2 + 24 * %i_1 + 3 * %j_2 + %j_1]
// FEW-NOT: delinearize
opencl.kernel @product(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %j = opencl.work_item group_id 0 below 24
  %i = opencl.work_item group_id 1 below 40
  %sum = opencl.array 1 : !opencl.pointer<f32, private>
  %zero = eltwise.constant 0 : f32
  opencl.store %zero, %sum[0] : f32 -> !opencl.pointer<f32, private>
  opencl.for %k : 8 {
    %a = opencl.load %A[8 * %i + %k] : !opencl.pointer<f32, global> -> f32
    %b = opencl.load %B[4 * %j + %k] : !opencl.pointer<f32, global> -> f32
    %c = eltwise.mul %a, %b : f32
    %s = opencl.load %sum[0] : !opencl.pointer<f32, private> -> f32
    %t = eltwise.add %s, %c : f32
    opencl.store %t, %sum[0] : f32 -> !opencl.pointer<f32, private>
  }
  %r = opencl.load %sum[0] : !opencl.pointer<f32, private> -> f32
  opencl.if -%j + 20 >= 0 {
    opencl.store %r, %C[24 * %i + %j] : f32 -> !opencl.pointer<f32, global>
  }
}

// What is read once, or by all groups of one dimension alone, is left.
// CHECK-LABEL: opencl.kernel @sum
// CHECK-NOT:   delinearize
opencl.kernel @sum(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %j = opencl.work_item group_id 0 below 64
  %i = opencl.work_item group_id 1 below 64
  %a = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  %b = opencl.load %B[%j] : !opencl.pointer<f32, global> -> f32
  %c = eltwise.add %a, %b : f32
  opencl.for %k : 8 {
    %d = opencl.load %A[8 * %i + %k] : !opencl.pointer<f32, global> -> f32
    %e = eltwise.add %c, %d : f32
    opencl.store %e, %C[64 * %i + %j] : f32 -> !opencl.pointer<f32, global>
  }
}
