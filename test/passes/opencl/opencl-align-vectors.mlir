// RUN: tile-opt %s -p opencl-align-vectors | filecheck %s
// RUN: tile-opt %s -p opencl-align-vectors | tile-opt - | filecheck %s
// RUN: tile-opt %s -p opencl-align-vectors -t opencl | filecheck %s --check-prefix=SOURCE

// Whatever the indices are, the vector lies at a multiple of four.
// SOURCE:      #ifdef __NV_CL_C_VERSION
// SOURCE-NEXT: #define load_aligned(N, T, p) (*(const T *)(p))
// SOURCE-NEXT: #define store_aligned(N, T, x, p) (*(T *)(p) = (x))
// SOURCE-NEXT: #else
// SOURCE-NEXT: #define load_aligned(N, T, p) vload##N(0, p)
// SOURCE-NEXT: #define store_aligned(N, T, x, p) vstore##N(x, 0, p)
// SOURCE-NEXT: #endif
// CHECK-LABEL: opencl.kernel @rows
// CHECK: opencl.load aligned %A[1024 * %i + 4 * %j + 8]
// CHECK: opencl.store aligned %x, %B[1024 * %i + 4 * %j]
// SOURCE-LABEL: void rows(
// SOURCE: store_aligned(4, __global float4, load_aligned(4, __global float4, A + (1024 * i + 4 * j + 8)), B + (1024 * i + 4 * j));
opencl.kernel @rows(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [32, 1, 1] {
  %i = opencl.work_item group_id 0 below 16
  %j = opencl.work_item local_id 0 below 32
  %x = opencl.load %A[1024 * %i + 4 * %j + 8] : !opencl.pointer<f32, global> -> vector<4xf32>
  opencl.store %x, %B[1024 * %i + 4 * %j] : vector<4xf32> -> !opencl.pointer<f32, global>
}

// Local memory begins where a vector may; registers lie nowhere. Three lanes are as far
// apart as four, and truth values are bytes.
// CHECK-LABEL: opencl.kernel @near
// CHECK: opencl.store aligned %{{.*}}, %near[4 * %j]
// CHECK: opencl.store %{{.*}}, %own[0]
// SOURCE-LABEL: void near(
// SOURCE: __local float near[128] __attribute__((aligned(16)));
// SOURCE: store_aligned(4, __local float4, x, near + (4 * j));
// SOURCE: vload3(0, A + (12 * j))
// SOURCE: vload4(0, T + (4 * j))
opencl.kernel @near(%A : !opencl.pointer<f32, global>, %T : !opencl.pointer<i1, global>, %B : !opencl.pointer<f32, global>) group [32, 1, 1] {
  %near = opencl.array 128 : !opencl.pointer<f32, local>
  %own = opencl.array 8 : !opencl.pointer<f32, private>
  %j = opencl.work_item local_id 0 below 32
  %x = opencl.load %A[4 * %j] : !opencl.pointer<f32, global> -> vector<4xf32>
  opencl.store %x, %near[4 * %j] : vector<4xf32> -> !opencl.pointer<f32, local>
  opencl.store %x, %own[0] : vector<4xf32> -> !opencl.pointer<f32, private>
  %y = opencl.load %A[12 * %j] : !opencl.pointer<f32, global> -> vector<3xf32>
  %t = opencl.load %T[4 * %j] : !opencl.pointer<i1, global> -> vector<4xi1>
  opencl.store %t, %T[4 * %j] : vector<4xi1> -> !opencl.pointer<i1, global>
  opencl.store %y, %B[12 * %j] : vector<3xf32> -> !opencl.pointer<f32, global>
}

// Left alone: rows of odd length, a place between two vectors, and a number.
// CHECK-LABEL: opencl.kernel @odd
// CHECK-NOT: aligned
// SOURCE-LABEL: void odd(
// SOURCE: vload4(0, A + (1003 * i + 4 * j))
opencl.kernel @odd(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [32, 1, 1] {
  %i = opencl.work_item group_id 0 below 16
  %j = opencl.work_item local_id 0 below 32
  %x = opencl.load %A[1003 * %i + 4 * %j] : !opencl.pointer<f32, global> -> vector<4xf32>
  opencl.store %x, %B[1024 * %i + 4 * %j + 2] : vector<4xf32> -> !opencl.pointer<f32, global>
  %y = opencl.load %A[4 * %i] : !opencl.pointer<f32, global> -> f32
  opencl.store %y, %B[4 * %i] : f32 -> !opencl.pointer<f32, global>
}
