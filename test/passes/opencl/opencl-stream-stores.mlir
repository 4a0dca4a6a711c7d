// RUN: tile-opt %s -p opencl-stream-stores | filecheck %s
// RUN: tile-opt %s -p opencl-stream-stores | tile-opt - | filecheck %s
// RUN: tile-opt %s -p 'opencl-stream-stores{hardware=cpu-avx2}' | filecheck %s --check-prefix=NARROW
// RUN: tile-opt %s -p 'opencl-stream-stores{hardware=nvidia-h200}' | filecheck %s --check-prefix=GPU
// RUN: tile-opt %s -p opencl-stream-stores -t opencl | filecheck %s --check-prefix=SOURCE
// GPU-NOT: stream

// CHECK-LABEL: opencl.kernel @large
// CHECK: opencl.store stream %x, %B[4096 * %i + 16 * %j] : vector<16xf32>
// SOURCE: void vstore_stream_float16(float16 x, __global float *p) {
// SOURCE: __builtin_nontemporal_store(x, (__global float16 *)p);
// SOURCE-LABEL: void large(
// SOURCE: vstore_stream_float16({{.*}}, B + (4096 * i + 16 * j));
// NARROW-LABEL: opencl.kernel @large
// NARROW: opencl.store stream
opencl.kernel @large(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 16384
  opencl.for %j : 256 {
    %x = opencl.load %A[4096 * %i + 16 * %j] : !opencl.pointer<f32, global> -> vector<16xf32>
    opencl.store %x, %B[4096 * %i + 16 * %j] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// Left alone: a number, a place that is no multiple, and one that is written twice.
// CHECK-LABEL: opencl.kernel @parts
// CHECK-NOT: stream
opencl.kernel @parts(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 16384
  opencl.for %j : 256 {
    %x = opencl.load %A[4096 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %y = opencl.load %A[4096 * %i] : !opencl.pointer<f32, global> -> f32
    opencl.store %y, %B[4096 * %i + 16 * %j] : f32 -> !opencl.pointer<f32, global>
    opencl.store %x, %B[4096 * %i + 16 * %j + 1] : vector<16xf32> -> !opencl.pointer<f32, global>
    opencl.store %x, %B[4096 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// Left alone: half lines that do not follow each other.
// CHECK-LABEL: opencl.kernel @halves
// CHECK: opencl.store stream %x, %B[8 * %j] : vector<8xf32>
// CHECK: opencl.store %x, %B[4096 * %j] : vector<8xf32>
opencl.kernel @halves(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  opencl.for %j : 256 {
    %x = opencl.load %A[8 * %j] : !opencl.pointer<f32, global> -> vector<8xf32>
    opencl.store %x, %B[8 * %j] : vector<8xf32> -> !opencl.pointer<f32, global>
    opencl.store %x, %B[4096 * %j] : vector<8xf32> -> !opencl.pointer<f32, global>
  }
}

// Left alone: what is small, what is read again soon, and what the kernel reads.
// CHECK-LABEL: opencl.kernel @used
// CHECK: opencl.store %x, %B[16 * %i] : vector<16xf32>
// CHECK: opencl.store %x, %C[16 * %i] : vector<16xf32>
// CHECK: opencl.store %x, %D[16 * %i] : vector<16xf32>
opencl.kernel @used(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>, %D : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  %x = opencl.load %A[16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
  opencl.store %x, %B[16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  opencl.store %x, %C[16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  opencl.store %x, %D[16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  %y = opencl.load %D[16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
}

func.func @main(%A : !opencl.buffer<16384x4096xf32>, %S : !opencl.buffer<1024xf32>) -> (!opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>, !opencl.buffer<1024xf32>, !opencl.buffer<16384x1024xf32>) {
  %B = opencl.allocate : !opencl.buffer<16384x4096xf32>
  opencl.launch @large groups [16384, 1, 1] (%A, %B) : !opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>
  %P = opencl.allocate : !opencl.buffer<16384x4096xf32>
  opencl.launch @parts groups [16384, 1, 1] (%A, %P) : !opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>
  %H = opencl.allocate : !opencl.buffer<16384x4096xf32>
  opencl.launch @halves groups [1, 1, 1] (%A, %H) : !opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>
  %T = opencl.allocate : !opencl.buffer<1024xf32>
  %U = opencl.allocate : !opencl.buffer<4096x1280xf32>
  %V = opencl.allocate : !opencl.buffer<16384x1024xf32>
  opencl.launch @used groups [64, 1, 1] (%A, %T, %U, %V) : !opencl.buffer<16384x4096xf32>, !opencl.buffer<1024xf32>, !opencl.buffer<4096x1280xf32>, !opencl.buffer<16384x1024xf32>
  %W = opencl.allocate : !opencl.buffer<16384x4096xf32>
  opencl.launch @parts groups [16384, 1, 1] (%U, %W) : !opencl.buffer<4096x1280xf32>, !opencl.buffer<16384x4096xf32>
  func.return %B, %P, %H, %T, %V : !opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>, !opencl.buffer<16384x4096xf32>, !opencl.buffer<1024xf32>, !opencl.buffer<16384x1024xf32>
}
