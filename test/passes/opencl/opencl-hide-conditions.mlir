// RUN: tile-opt %s -p opencl-hide-conditions | filecheck %s
// RUN: tile-opt %s -p opencl-hide-conditions | tile-opt - | filecheck %s
// RUN: tile-opt %s -p opencl-hide-conditions -t opencl | filecheck %s --check-prefix=SOURCE

// One zero for all conditions on loops, and for those forms only that have an index.
// CHECK-LABEL: opencl.kernel @loops
// CHECK-NEXT: %zero = opencl.work_item global_offset 0 below 1
// CHECK: opencl.if 3 * %k + %zero - 100 >= 0, %i - 1 >= 0 {
// CHECK: opencl.if -%k + %zero + 2 >= 0 {
// SOURCE: const int zero = get_global_offset(0);
// SOURCE: if (3 * k + zero >= 100 && i >= 1) {
// SOURCE: if (zero >= k - 2) {
opencl.kernel @loops(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 4
  %x = eltwise.constant 1.0 : f32
  opencl.for %k : 128 {
    opencl.if 3 * %k - 100 >= 0, %i - 1 >= 0 {
      opencl.store %x, %A[%k] : f32 -> !opencl.pointer<f32, global>
    }
    opencl.if -%k + 2 >= 0 {
      opencl.store %x, %A[%k] : f32 -> !opencl.pointer<f32, global>
    }
  }
}

// What is known when the kernel is compiled stays known.
// CHECK-LABEL: opencl.kernel @known
// CHECK-NOT: global_offset
// CHECK: opencl.if %i + %k - 3 >= 0 {
opencl.kernel @known(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 4
  %x = eltwise.constant 1.0 : f32
  opencl.for %k : 4 unroll {
    opencl.if %i + %k - 3 >= 0 {
      opencl.store %x, %A[%k] : f32 -> !opencl.pointer<f32, global>
    }
  }
}
