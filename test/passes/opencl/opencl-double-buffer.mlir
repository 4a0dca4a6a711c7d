// RUN: tile-opt %s -p 'opencl-double-buffer{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s -p 'opencl-double-buffer{hardware=nvidia-h200}' | tile-opt - | filecheck %s
// RUN: tile-opt %s -p 'opencl-double-buffer{hardware=nvidia-h200}' -t opencl | filecheck %s --check-prefix=SOURCE
// RUN: tile-opt %s -p 'opencl-double-buffer{hardware=amd-mi300x}' | filecheck %s --check-prefix=PLAIN

// A device without the instruction keeps its loops.
// PLAIN-NOT: asynchronous

// The pieces of the next step come while those of this one are used.
// SOURCE: #define copy_asynchronously(KIND, BYTES, LANES, to, from) \
// SOURCE: #define barrier_behind_copies(fence) barrier(fence)
// CHECK-LABEL: opencl.kernel @sums
// CHECK:       %t = opencl.array 64 : !opencl.pointer<f32, local>
// CHECK:       opencl.for %k : 1 {
// CHECK-NEXT:    %x = opencl.load %A[32 * %k + %i]
// CHECK-NEXT:    opencl.store asynchronous %x, %t[%i]
// CHECK-NEXT:  }
// CHECK-NEXT:  opencl.barrier asynchronous local
// CHECK-NEXT:  opencl.for %k_1 : 7 {
// CHECK-NEXT:    %{{.*}}, %turn = opencl.delinearize %k_1 into [4, 2]
// CHECK-NEXT:    opencl.if -%k_1 + 5 >= 0 {
// CHECK-NEXT:      %x_1 = opencl.load %A[32 * %k_1 + %i + 32]
// CHECK-NEXT:      opencl.store asynchronous %x_1, %t[%i - 32 * %turn + 32]
// CHECK-NEXT:    }
// CHECK-NEXT:    %y = opencl.load %t[-%i + 32 * %turn + 31]
// CHECK:         opencl.barrier asynchronous local
// CHECK-NEXT:  }
// SOURCE-LABEL: void sums(
// SOURCE:        copy_asynchronously(ca, 4, 1, t + i, A + (32 * k + i));
// SOURCE:        barrier_behind_copies(CLK_LOCAL_MEM_FENCE);
// SOURCE:        if (k <= 5) {
// SOURCE:          copy_asynchronously(ca, 4, 1, t + (i - 32 * turn + 32), A + (32 * k + i + 32));
opencl.kernel @sums(%A : !opencl.pointer<f32, global>, %S : !opencl.pointer<f32, global>) group [32, 1, 1] {
  %t = opencl.array 32 : !opencl.pointer<f32, local>
  %sum = opencl.array 1 : !opencl.pointer<f32, private>
  %i = opencl.work_item local_id 0 below 32
  %zero = eltwise.constant 0 : f32
  opencl.store %zero, %sum[0] : f32 -> !opencl.pointer<f32, private>
  opencl.for %k : 7 {
    %x = opencl.load %A[32 * %k + %i] : !opencl.pointer<f32, global> -> f32
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    opencl.barrier local
    %y = opencl.load %t[-%i + 31] : !opencl.pointer<f32, local> -> f32
    %s = opencl.load %sum[0] : !opencl.pointer<f32, private> -> f32
    %z = eltwise.add %s, %y : f32
    opencl.store %z, %sum[0] : f32 -> !opencl.pointer<f32, private>
    opencl.barrier local
  }
  %r = opencl.load %sum[0] : !opencl.pointer<f32, private> -> f32
  opencl.store %r, %S[%i] : f32 -> !opencl.pointer<f32, global>
}

// What is computed on the way is stored as ever; vectors come 16 bytes at a time.
// CHECK-LABEL: opencl.kernel @scaled
// CHECK:      opencl.store asynchronous %{{.*}}, %t[4 * %i] : vector<4xf32>
// CHECK:      opencl.store %{{.*}}, %u[%i] : f32
// CHECK:      opencl.barrier asynchronous local
opencl.kernel @scaled(%A : !opencl.pointer<f32, global>, %S : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 32 : !opencl.pointer<f32, local>
  %u = opencl.array 8 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  opencl.for %k : 2 {
    %x = opencl.load %A[32 * %k + 4 * %i] : !opencl.pointer<f32, global> -> vector<4xf32>
    opencl.store %x, %t[4 * %i] : vector<4xf32> -> !opencl.pointer<f32, local>
    %v = opencl.load %A[%k + %i] : !opencl.pointer<f32, global> -> f32
    %w = eltwise.add %v, %v : f32
    opencl.store %w, %u[%i] : f32 -> !opencl.pointer<f32, local>
    opencl.barrier local
    %y = opencl.load %t[-%i + 31] : !opencl.pointer<f32, local> -> f32
    %z = opencl.load %u[-%i + 7] : !opencl.pointer<f32, local> -> f32
    %s = eltwise.add %z, %y : f32
    opencl.store %s, %S[8 * %k + %i] : f32 -> !opencl.pointer<f32, global>
    opencl.barrier local
  }
}

// The kernel writes what it copies: the next piece may not be there yet.
// CHECK-LABEL: opencl.kernel @in_place
// CHECK:       opencl.array 8
// CHECK-NOT:   asynchronous
opencl.kernel @in_place(%A : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  opencl.for %k : 2 {
    %x = opencl.load %A[8 * %k + %i] : !opencl.pointer<f32, global> -> f32
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    opencl.barrier local
    %y = opencl.load %t[-%i + 7] : !opencl.pointer<f32, local> -> f32
    opencl.store %y, %A[8 * %k + %i] : f32 -> !opencl.pointer<f32, global>
    opencl.barrier local
  }
}

// There is no room for twice as much.
// CHECK-LABEL: opencl.kernel @large
// CHECK:       opencl.array 40000
// CHECK-NOT:   asynchronous
opencl.kernel @large(%A : !opencl.pointer<f32, global>, %S : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 40000 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  opencl.for %k : 2 {
    %x = opencl.load %A[8 * %k + %i] : !opencl.pointer<f32, global> -> f32
    opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
    opencl.barrier local
    %y = opencl.load %t[-%i + 7] : !opencl.pointer<f32, local> -> f32
    opencl.store %y, %S[8 * %k + %i] : f32 -> !opencl.pointer<f32, global>
    opencl.barrier local
  }
}

// Under a condition it stays as it is.
// CHECK-LABEL: opencl.kernel @border
// CHECK:       opencl.array 8
// CHECK-NOT:   asynchronous
opencl.kernel @border(%A : !opencl.pointer<f32, global>, %S : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %g = opencl.work_item group_id 0 below 4
  %i = opencl.work_item local_id 0 below 8
  opencl.if %g - 1 >= 0 {
    opencl.for %k : 2 {
      %x = opencl.load %A[8 * %k + %i] : !opencl.pointer<f32, global> -> f32
      opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
      opencl.barrier local
      %y = opencl.load %t[-%i + 7] : !opencl.pointer<f32, local> -> f32
      opencl.store %y, %S[16 * %g + 8 * %k + %i] : f32 -> !opencl.pointer<f32, global>
      opencl.barrier local
    }
  }
}
