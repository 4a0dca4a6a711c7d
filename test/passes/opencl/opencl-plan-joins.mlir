// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-plan-joins)' --split-input-file | filecheck %s
// As many cores as one likes take no longer to decide for.
// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-plan-joins{hardware="cpu-avx512:cores=1000000000"})' --split-input-file | filecheck %s --check-prefix=MANY
// MANY: opencl.launch @scale groups [8, 1, 1] (%A, %T)

opencl.kernel @scale(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @group(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [2, 1, 1] {
  %i = opencl.work_item local_id 0 below 2
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}

// Those that depend on another stay behind it; those that do not join the first.
// CHECK-LABEL: @main
// CHECK:      (%A, %T) {opencl.join_reason = "2 launches, 4.{{.*}}", opencl.join = 0 : i64}
// CHECK:      (%T, %U) {opencl.join_reason = "2 launches, 4.{{.*}}", opencl.join = 1 : i64}
// CHECK:      (%A, %V) {opencl.join = 0 : i64}
// CHECK:      (%V, %W) {opencl.join = 1 : i64}
// CHECK:      @group groups [4, 1, 1] (%W, %X) :
func.func @main(%A : !opencl.buffer<8xf32>) -> !opencl.buffer<8xf32> {
  %T = opencl.allocate : !opencl.buffer<8xf32>
  %U = opencl.allocate : !opencl.buffer<8xf32>
  %V = opencl.allocate : !opencl.buffer<8xf32>
  %W = opencl.allocate : !opencl.buffer<8xf32>
  %X = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @scale groups [8, 1, 1] (%A, %T) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @scale groups [8, 1, 1] (%T, %U) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @scale groups [8, 1, 1] (%A, %V) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @scale groups [8, 1, 1] (%V, %W) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @group groups [4, 1, 1] (%W, %X) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %X : !opencl.buffer<8xf32>
}

// -----

opencl.kernel @scale(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @pair(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [2, 1, 1] {
  %i = opencl.work_item local_id 0 below 2
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @global(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item global_id 0 below 8
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}

// Groups of other sizes, launches that run once, and what counts over the launch.
// CHECK-LABEL: @main
// CHECK:     (%A, %T) :
// CHECK:     opencl.launch @pair {{.*}} {opencl.join_reason = "not with @scale: they run in other ways"}
// CHECK:     opencl.launch once @scale {{.*}} {opencl.join_reason = "not with @pair: they run in other ways"}
// CHECK:     opencl.launch @global {{.*}} {opencl.join_reason = "not with @scale: they run in other ways"}
func.func @main(%A : !opencl.buffer<8xf32>) -> !opencl.buffer<8xf32> {
  %T = opencl.allocate : !opencl.buffer<8xf32>
  %U = opencl.allocate : !opencl.buffer<8xf32>
  %V = opencl.allocate : !opencl.buffer<8xf32>
  %W = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @scale groups [8, 1, 1] (%A, %T) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @pair groups [1, 1, 1] (%A, %U) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch once @scale groups [8, 1, 1] (%A, %V) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @global groups [8, 1, 1] (%A, %W) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %T : !opencl.buffer<8xf32>
}

// -----

opencl.kernel @long(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  opencl.for %k : 1000000 {
    %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
    %y = eltwise.exp %x : f32
    opencl.store %y, %B[%i] : f32 -> !opencl.pointer<f32, global>
  }
}

// Beside milliseconds of work a launch is nothing.
// CHECK-LABEL: @main
// CHECK:       (%A, %U) {opencl.join_reason = "not with @long: {{.*}} us, apart {{.*}} us"}
func.func @main(%A : !opencl.buffer<8xf32>) -> !opencl.buffer<8xf32> {
  %T = opencl.allocate : !opencl.buffer<8xf32>
  %U = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @long groups [8, 1, 1] (%A, %T) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  opencl.launch @long groups [8, 1, 1] (%A, %U) : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %T : !opencl.buffer<8xf32>
}
