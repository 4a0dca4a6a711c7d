// RUN: tile-opt %s -p opencl-coalesce-loops | filecheck %s
// RUN: tile-opt %s -p 'opencl-coalesce-loops{steps=1}' | filecheck %s --check-prefix=FEW
// RUN: tile-opt %s -p 'opencl-coalesce-loops,opencl-double-buffer{hardware=nvidia-h200}' | filecheck %s --check-prefix=BUFFER
// RUN: not tile-opt %s -p 'opencl-coalesce-loops{steps=0}' 2>&1 | filecheck %s --check-prefix=ERROR

// ERROR: error: expected steps of 1 or more, got 0

// Loops right around each other are one; what is unrolled, or beside a loop, stays.
// CHECK-LABEL: opencl.kernel @sums
// CHECK:       opencl.for %k : 12 {
// CHECK-NEXT:    %i, %k_1 = opencl.delinearize %k into [3, 4]
// CHECK-NEXT:    %x = opencl.load %A[32 * %i + 128 * %k_1 + %item]
// As soon as there are steps enough, what is around is left alone.
// FEW-LABEL:   opencl.kernel @sums
// FEW:         opencl.for %i : 3 {
// FEW-NEXT:      opencl.for %k : 4 {
// FEW-NOT:     opencl.delinearize
// The pieces of the next step are found by its number.
// BUFFER:      opencl.for %k : 1 {
// BUFFER-NEXT:   %i, %{{.*}} = opencl.delinearize %k into [3, 4]
// BUFFER:      opencl.barrier asynchronous local
// BUFFER-NEXT: opencl.for %k_2 : 12 {
// BUFFER-NEXT:   %{{.*}}, %turn = opencl.delinearize %k_2 into [6, 2]
// BUFFER-NEXT:   opencl.if -%k_2 + 10 >= 0 {
// BUFFER-NEXT:     [[NUMBER:%.*]] = opencl.index %k_2 + 1 : si32
// BUFFER-NEXT:     [[NEXT:%.*]] = opencl.position [[NUMBER]] below 12
// BUFFER-NEXT:     [[I:%.*]], [[K:%.*]] = opencl.delinearize [[NEXT]] into [3, 4]
// BUFFER-NEXT:     opencl.load %A[32 * [[I]] + 128 * [[K]] + %item]
opencl.kernel @sums(%A : !opencl.pointer<f32, global>, %S : !opencl.pointer<f32, global>) group [32, 1, 1] {
  %t = opencl.array 32 : !opencl.pointer<f32, local>
  %sum = opencl.array 1 : !opencl.pointer<f32, private>
  %item = opencl.work_item local_id 0 below 32
  %zero = eltwise.constant 0 : f32
  opencl.store %zero, %sum[0] : f32 -> !opencl.pointer<f32, private>
  opencl.for %i : 3 {
    opencl.for %k : 4 {
      %x = opencl.load %A[32 * %i + 128 * %k + %item] : !opencl.pointer<f32, global> -> f32
      opencl.store %x, %t[%item] : f32 -> !opencl.pointer<f32, local>
      opencl.barrier local
      %y = opencl.load %t[-%item + 31] : !opencl.pointer<f32, local> -> f32
      %s = opencl.load %sum[0] : !opencl.pointer<f32, private> -> f32
      %z = eltwise.add %s, %y : f32
      opencl.store %z, %sum[0] : f32 -> !opencl.pointer<f32, private>
      opencl.barrier local
    }
  }
  %r = opencl.load %sum[0] : !opencl.pointer<f32, private> -> f32
  opencl.store %r, %S[%item] : f32 -> !opencl.pointer<f32, global>
}

// CHECK-LABEL: opencl.kernel @alone
// CHECK:       opencl.for %i : 3 {
// CHECK-NEXT:    %one = eltwise.constant 1
// CHECK:         opencl.for %k : 4 {
// CHECK:       opencl.for %i_1 : 3 unroll {
// CHECK-NEXT:    opencl.for %k_1 : 4 {
// CHECK-NOT:   opencl.delinearize
opencl.kernel @alone(%S : !opencl.pointer<f32, global>) group [32, 1, 1] {
  %t = opencl.array 32 : !opencl.pointer<f32, local>
  %sum = opencl.array 1 : !opencl.pointer<f32, private>
  %item = opencl.work_item local_id 0 below 32
  opencl.for %i : 3 {
    %one = eltwise.constant 1 : f32
    opencl.store %one, %sum[0] : f32 -> !opencl.pointer<f32, private>
    opencl.for %k : 4 {
      opencl.store %one, %t[%item] : f32 -> !opencl.pointer<f32, local>
      opencl.barrier local
    }
  }
  %one = eltwise.constant 1 : f32
  opencl.for %i : 3 unroll {
    opencl.for %k : 4 {
      opencl.store %one, %t[%item] : f32 -> !opencl.pointer<f32, local>
      opencl.barrier local
    }
  }
  %r = opencl.load %t[%item] : !opencl.pointer<f32, local> -> f32
  opencl.store %r, %S[%item] : f32 -> !opencl.pointer<f32, global>
}
