// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: opencl.kernel @everything
// CHECK-SAME: (%A: !opencl.pointer<f32, global>, %N: !opencl.pointer<vector<4xsi8>, global>) group [8, 4, 1] attributes {note} {
opencl.kernel @everything(%A : !opencl.pointer<f32, global>, %N : !opencl.pointer<vector<4xsi8>, global>) group [8, 4, 1] attributes {note} {
  // CHECK-NEXT: %g = opencl.work_item group_id 0 below 64
  %g = opencl.work_item group_id 0 below 64
  // CHECK-NEXT: %l = opencl.work_item local_id 1 below 4 {note}
  %l = opencl.work_item local_id 1 below 4 {note}
  // CHECK-NEXT: opencl.work_item global_id 2 below 1
  %z = opencl.work_item global_id 2 below 1
  // CHECK-NEXT: %x, %y = opencl.delinearize %g into [8, 8]
  %x, %y = opencl.delinearize %g into [8, 8]
  // CHECK-NEXT: opencl.delinearize %g into [] {note}
  opencl.delinearize %g into [] {note}
  // CHECK-NEXT: %t = opencl.array 16 : !opencl.pointer<f32, private>
  %t = opencl.array 16 : !opencl.pointer<f32, private>
  // CHECK-NEXT: %v = opencl.array 2 {note} : !opencl.pointer<vector<16xf32>, local>
  %v = opencl.array 2 {note} : !opencl.pointer<vector<16xf32>, local>
  // CHECK-NEXT: opencl.for %i : 4 unroll 1 {
  opencl.for %i : 4 unroll 1 {
    // CHECK-NEXT: opencl.for %j : 8 unroll attributes {note} {
    opencl.for %j : 8 unroll attributes {note} {
      // CHECK-NEXT: opencl.if %x - 2 * %i + 3 >= 0, -%j + %l >= 0 attributes {note} {
      opencl.if %x - 2 * %i + 3 >= 0, -%j + %l >= 0 attributes {note} {
        // CHECK-NEXT: %a = opencl.load %A[16 * %i + %j + 1] : !opencl.pointer<f32, global> -> f32
        %a = opencl.load %A[16 * %i + %j + 1] : !opencl.pointer<f32, global> -> f32
        // CHECK-NEXT: opencl.store %a, %t[0] : f32 -> !opencl.pointer<f32, private>
        opencl.store %a, %t[0] : f32 -> !opencl.pointer<f32, private>
        // CHECK-NEXT: %b = opencl.load %A[%i] {note} : !opencl.pointer<f32, global> -> vector<16xf32>
        %b = opencl.load %A[%i] {note} : !opencl.pointer<f32, global> -> vector<16xf32>
        // CHECK-NEXT: opencl.store %b, %v[1] {note} : vector<16xf32> -> !opencl.pointer<vector<16xf32>, local>
        opencl.store %b, %v[1] {note} : vector<16xf32> -> !opencl.pointer<vector<16xf32>, local>
      }
    }
  }
  // CHECK: opencl.barrier local
  opencl.barrier local
  // CHECK-NEXT: opencl.barrier global {note}
  opencl.barrier global {note}
}

// Bodies without ops.
// CHECK-LABEL: opencl.kernel @empty() group [1, 1, 1] {
// CHECK-NEXT: }
opencl.kernel @empty() group [1, 1, 1] {
}

// CHECK-LABEL: opencl.kernel @empty_bodies
opencl.kernel @empty_bodies(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  // CHECK-NEXT: opencl.for %i : 0 {
  // CHECK-NEXT: opencl.if %i >= 0 {
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  opencl.for %i : 0 {
    opencl.if %i >= 0 {
    }
  }
  // CHECK-NEXT: opencl.for %i_1 : 4 {
  // CHECK-NEXT: }
  opencl.for %i : 4 {
  }
}

// CHECK-LABEL: func.func @host(%A: !opencl.buffer<4x5xf32>, %N: !opencl.buffer<0xsi8>)
func.func @host(%A : !opencl.buffer<4x5xf32>, %N : !opencl.buffer<0xsi8>) -> !opencl.buffer<f32> {
  // CHECK-NEXT: %C = opencl.allocate : !opencl.buffer<f32>
  %C = opencl.allocate : !opencl.buffer<f32>
  // CHECK-NEXT: opencl.allocate {note} : !opencl.buffer<3xi1>
  %D = opencl.allocate {note} : !opencl.buffer<3xi1>
  // CHECK-NEXT: opencl.launch @empty_bodies groups [64, 1, 1] (%A) : !opencl.buffer<4x5xf32>
  opencl.launch @empty_bodies groups [64, 1, 1] (%A) : !opencl.buffer<4x5xf32>
  // CHECK-NEXT: opencl.launch @empty groups [0, 2, 3] () {note}
  opencl.launch @empty groups [0, 2, 3] () {note}
  func.return %C : !opencl.buffer<f32>
}

// Places in the arena, launches that run once, constant inputs.
// CHECK-LABEL: func.func @placed(%A: !opencl.buffer<f32> {tile.constant})
func.func @placed(%A : !opencl.buffer<f32> {tile.constant}) -> !opencl.buffer<f32> {
  // CHECK-NEXT: %B = opencl.allocate at 4096 : !opencl.buffer<f32>
  %B = opencl.allocate at 4096 : !opencl.buffer<f32>
  // CHECK-NEXT: %C = opencl.allocate at 0 {note} : !opencl.buffer<f32>
  %C = opencl.allocate at 0 {note} : !opencl.buffer<f32>
  // CHECK-NEXT: opencl.launch once @empty groups [1, 1, 1] () {note}
  opencl.launch once @empty groups [1, 1, 1] () {note}
  func.return %B : !opencl.buffer<f32>
}

// Between indices and data.
// CHECK-LABEL: opencl.kernel @data
opencl.kernel @data(%A : !opencl.pointer<si32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  // CHECK: %x = opencl.index 2 * %i + 1 : si32
  %x = opencl.index 2 * %i + 1 : si32
  // CHECK-NEXT: %v = opencl.index %i step -3 {note} : vector<8xsi16>
  %v = opencl.index %i step -3 {note} : vector<8xsi16>
  // CHECK-NEXT: %p = opencl.position %x below 129
  %p = opencl.position %x below 129
  // CHECK-NEXT: %q = opencl.position %x below 200 {note}
  %q = opencl.position %x below 200 {note}
  // CHECK-NEXT: %y = opencl.load %A[3 * %p + %i]
  %y = opencl.load %A[3 * %p + %i] : !opencl.pointer<si32, global> -> si32
  %keep = eltwise.cmp_lt %x, %y : (si32, si32) -> i1
  // CHECK: opencl.when %keep {
  opencl.when %keep {
    // CHECK-NEXT: opencl.store %y, %A[%q]
    opencl.store %y, %A[%q] : si32 -> !opencl.pointer<si32, global>
  }
  // CHECK: opencl.when %keep attributes {note} {
  // CHECK-NEXT: }
  opencl.when %keep attributes {note} {
  }
}
