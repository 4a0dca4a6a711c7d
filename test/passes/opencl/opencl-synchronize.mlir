// RUN: tile-opt %s --split-input-file --verify-diagnostics -p opencl-synchronize | filecheck %s

// What one work-item writes and another reads: between the two, and before the loop
// begins again.
// CHECK-LABEL: opencl.kernel @turn
opencl.kernel @turn(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  // CHECK: opencl.for %k : 4 {
  opencl.for %k : 4 {
    %x = opencl.load %A[8 * %k + %i] : !opencl.pointer<f32, global> -> f32
    // CHECK: opencl.store %x, %t[%i]
    // CHECK-NEXT: opencl.barrier local
    // CHECK-NEXT: %y = opencl.load %t[-%i + 7]
    // CHECK-NEXT: opencl.store %y, %B
    // CHECK-NEXT: opencl.barrier local
    // CHECK-NEXT: }
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    %y = opencl.load %t[-%i + 7] : !opencl.pointer<f32, local> -> f32
    opencl.store %y, %B[8 * %k + %i] : f32 -> !opencl.pointer<f32, global>
  }
}

// -----

// A work-item may use its own cells, and read what nobody writes; one of several
// dimensions is enough to be different.
// CHECK-LABEL: opencl.kernel @own
// CHECK-NOT: opencl.barrier
opencl.kernel @own(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [4, 2, 1] {
  %t = opencl.array 16 : !opencl.pointer<f32, local>
  %p = opencl.array 4 : !opencl.pointer<f32, private>
  %g = opencl.work_item group_id 0 below 5
  %i = opencl.work_item local_id 0 below 4
  %j = opencl.work_item local_id 1 below 2
  opencl.for %k : 2 {
    %x = opencl.load %A[%g] : !opencl.pointer<f32, global> -> f32
    opencl.store %x, %t[8 * %k + 2 * %i + %j] : f32 -> !opencl.pointer<f32, local>
    %y = opencl.load %t[8 * %k + 2 * %i + %j] : !opencl.pointer<f32, local> -> f32
    opencl.store %y, %p[0] : f32 -> !opencl.pointer<f32, private>
    opencl.store %y, %B[8 * %g + 2 * %i + %j] : f32 -> !opencl.pointer<f32, global>
  }
}

// -----

// One barrier before a loop, not one in each of its iterations; one serves two arrays.
// CHECK-LABEL: opencl.kernel @once
// CHECK:         opencl.store %x, %u
// CHECK-NEXT:    opencl.barrier local
// CHECK-NEXT:    opencl.for %k
// CHECK-NOT:     opencl.barrier
opencl.kernel @once(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %u = opencl.array 8 : !opencl.pointer<f32, local>
  %p = opencl.array 1 : !opencl.pointer<f32, private>
  %i = opencl.work_item local_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
  opencl.store %x, %u[%i] : f32 -> !opencl.pointer<f32, local>
  opencl.for %k : 8 {
    %y = opencl.load %t[%k] : !opencl.pointer<f32, local> -> f32
    %z = opencl.load %u[-%k + 7] : !opencl.pointer<f32, local> -> f32
    %s = eltwise.add %y, %z : f32
    opencl.store %s, %p[0] : f32 -> !opencl.pointer<f32, private>
  }
}

// -----

// Vectors meet where their lanes do, coordinates where their work-items do.
// CHECK-LABEL: opencl.kernel @lanes
// CHECK:         opencl.store %v, %t[4 * %y + 2 * %x] : vector<2xf32>
// CHECK-NEXT:    %a = opencl.load %t[4 * %y + 2 * %x + 1]
// CHECK-NEXT:    opencl.barrier local
// CHECK-NEXT:    %b = opencl.load %t[4 * %y + %x]
opencl.kernel @lanes(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 16 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  %y, %x = opencl.delinearize %i into [4, 2]
  %v = opencl.load %A[2 * %i] : !opencl.pointer<f32, global> -> vector<2xf32>
  opencl.store %v, %t[4 * %y + 2 * %x] : vector<2xf32> -> !opencl.pointer<f32, local>
  %a = opencl.load %t[4 * %y + 2 * %x + 1] : !opencl.pointer<f32, local> -> f32
  %b = opencl.load %t[4 * %y + %x] : !opencl.pointer<f32, local> -> f32
  %s = eltwise.add %a, %b : f32
  opencl.store %s, %B[%i] : f32 -> !opencl.pointer<f32, global>
}

// -----

// Global memory has its own barriers; those that are there count.
// CHECK-LABEL: opencl.kernel @global
// CHECK:         opencl.store %x, %B[%i]
// CHECK-NEXT:    opencl.barrier global
// CHECK-NEXT:    %y = opencl.load %B[-%i + 7]
// CHECK-NEXT:    opencl.barrier global
// CHECK-NEXT:    opencl.store %y, %B[%i]
// CHECK-NEXT:  }
opencl.kernel @global(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %i = opencl.work_item local_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
  opencl.barrier global
  %y = opencl.load %B[-%i + 7] : !opencl.pointer<f32, global> -> f32
  opencl.store %y, %B[%i] : f32 -> !opencl.pointer<f32, global>
}

// -----

// A group of one work-item needs none.
// CHECK-LABEL: opencl.kernel @alone
// CHECK-NOT: opencl.barrier
opencl.kernel @alone(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %t[0] : f32 -> !opencl.pointer<f32, local>
  %y = opencl.load %t[0] : !opencl.pointer<f32, local> -> f32
  opencl.store %y, %A[0] : f32 -> !opencl.pointer<f32, global>
}

// -----

// A condition that is the same for the whole group may have a barrier.
// CHECK-LABEL: opencl.kernel @uniform
// CHECK:         opencl.if -%g + 2 >= 0 {
// CHECK-NEXT:      opencl.store %x, %t[%i]
// CHECK-NEXT:      opencl.barrier local
opencl.kernel @uniform(%A : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %g = opencl.work_item group_id 0 below 5
  %i = opencl.work_item local_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.if -%g + 2 >= 0 {
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    %y = opencl.load %t[-%i + 7] : !opencl.pointer<f32, local> -> f32
  }
}

// -----

opencl.kernel @divergent(%A : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  // expected-error @+1 {{work-items use each other's cells under a condition that depends on the work-item, where no barrier can be}}
  opencl.if -%i + 5 >= 0 {
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    %y = opencl.load %t[-%i + 5] : !opencl.pointer<f32, local> -> f32
  }
}

// -----

opencl.kernel @data(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<i1, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  %c = opencl.load %B[0] : !opencl.pointer<i1, global> -> i1
  // expected-error @+1 {{under a condition that depends on data}}
  opencl.when %c {
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    %y = opencl.load %t[-%i + 7] : !opencl.pointer<f32, local> -> f32
  }
}
