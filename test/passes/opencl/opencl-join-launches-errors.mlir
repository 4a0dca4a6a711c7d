// RUN: tile-opt %s --pass-pipeline='builtin.module(opencl-join-launches)' --split-input-file --verify-diagnostics

opencl.kernel @scale(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 4
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
func.func @chain(%A : !opencl.buffer<4xf32>) {
  %B = opencl.allocate : !opencl.buffer<4xf32>
  %C = opencl.allocate : !opencl.buffer<4xf32>
  opencl.launch @scale groups [4, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  // expected-error @+1 {{cannot join the launch: it depends on that of @scale, which does not run before all of them}}
  opencl.launch @scale groups [4, 1, 1] (%B, %C) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return
}

// -----

opencl.kernel @scale(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 4
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
// The second one needs what runs between them.
func.func @between(%A : !opencl.buffer<4xf32>) {
  %B = opencl.allocate : !opencl.buffer<4xf32>
  %C = opencl.allocate : !opencl.buffer<4xf32>
  %D = opencl.allocate : !opencl.buffer<4xf32>
  opencl.launch @scale groups [4, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  opencl.launch @scale groups [4, 1, 1] (%A, %C) : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  // expected-error @+1 {{cannot join the launch: it depends on that of @scale}}
  opencl.launch @scale groups [4, 1, 1] (%C, %D) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return
}

// -----

opencl.kernel @one(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[0] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @two(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [2, 1, 1] {
  %i = opencl.work_item local_id 0 below 2
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
func.func @sizes(%A : !opencl.buffer<4xf32>) {
  %B = opencl.allocate : !opencl.buffer<4xf32>
  %C = opencl.allocate : !opencl.buffer<4xf32>
  opencl.launch @one groups [1, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  // expected-error @+1 {{cannot join launches with groups of [1, 1, 1] and of [2, 1, 1] work-items}}
  opencl.launch @two groups [1, 1, 1] (%A, %C) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return
}

// -----

opencl.kernel @one(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[0] : f32 -> !opencl.pointer<f32, global>
}
func.func @once(%A : !opencl.buffer<4xf32>) {
  %B = opencl.allocate : !opencl.buffer<4xf32>
  %C = opencl.allocate : !opencl.buffer<4xf32>
  opencl.launch once @one groups [1, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  // expected-error @+1 {{cannot join a launch that runs once with one that does not}}
  opencl.launch @one groups [1, 1, 1] (%A, %C) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return
}

// -----

opencl.kernel @one(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[0] : f32 -> !opencl.pointer<f32, global>
}
func.func @placed(%A : !opencl.buffer<4xf32>) {
  %B = opencl.allocate at 0 : !opencl.buffer<4xf32>
  %C = opencl.allocate at 0 : !opencl.buffer<4xf32>
  // expected-error @+1 {{cannot join launches whose buffers have places already}}
  opencl.launch @one groups [1, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  opencl.launch @one groups [1, 1, 1] (%A, %C) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return
}

// -----

opencl.kernel @global(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item global_id 0 below 4
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
func.func @global_items(%A : !opencl.buffer<4xf32>) {
  %B = opencl.allocate : !opencl.buffer<4xf32>
  %C = opencl.allocate : !opencl.buffer<4xf32>
  // expected-error @+1 {{kernel @global asks for the number of a work-item in the whole launch}}
  opencl.launch @global groups [4, 1, 1] (%A, %B) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  opencl.launch @global groups [4, 1, 1] (%A, %C) {opencl.join = 0 : i64} : !opencl.buffer<4xf32>, !opencl.buffer<4xf32>
  func.return
}
