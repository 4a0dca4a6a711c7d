// RUN: tile-opt %s -p opencl-hide-complements | filecheck %s
// RUN: tile-opt %s -p opencl-hide-complements -t opencl | filecheck %s --check-prefix=SOURCE

// CHECK-LABEL: opencl.kernel @scalars
// CHECK-NEXT: %zero = opencl.work_item global_offset 0 below 1
// CHECK: %ones = opencl.index %zero - 1 : si32
// CHECK-NEXT: %y = eltwise.bit_xor %x, %ones : si32
// CHECK: eltwise.bit_xor %x, %ones_1 : si32
// CHECK: eltwise.bit_xor %x, %ones_2 : si32
// CHECK: eltwise.bit_xor %x, %ones_3 : si32
// SOURCE: const int zero = get_global_offset(0);
// SOURCE: const int ones = zero - 1;
// SOURCE: const int y = x ^ ones;
opencl.kernel @scalars(%A : !opencl.pointer<si32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<si32, global> -> si32
  %less = eltwise.constant -1 : si32
  %one = eltwise.constant 1 : si32
  %n = eltwise.neg %x : si32
  %y = eltwise.bit_not %x : si32
  %z = eltwise.sub %less, %x : si32
  %u = eltwise.sub %n, %one : si32
  %v = eltwise.add %less, %n : si32
  opencl.store %y, %A[0] : si32 -> !opencl.pointer<si32, global>
  opencl.store %z, %A[1] : si32 -> !opencl.pointer<si32, global>
  opencl.store %u, %A[2] : si32 -> !opencl.pointer<si32, global>
  opencl.store %v, %A[3] : si32 -> !opencl.pointer<si32, global>
}

// CHECK-LABEL: opencl.kernel @vectors
// CHECK: %ones = opencl.index %zero - 1 step 0 : vector<4xui8>
// CHECK-NEXT: %y = eltwise.bit_xor %x, %ones : vector<4xui8>
opencl.kernel @vectors(%A : !opencl.pointer<ui8, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<ui8, global> -> vector<4xui8>
  %most = eltwise.constant 255 : vector<4xui8>
  %y = eltwise.sub %most, %x : vector<4xui8>
  opencl.store %y, %A[0] : vector<4xui8> -> !opencl.pointer<ui8, global>
}

// Complements of complements.
// CHECK-LABEL: opencl.kernel @twice
// CHECK: %y = eltwise.bit_xor %x, %ones : si32
// CHECK: %z = eltwise.bit_xor %y, %ones_1 : si32
opencl.kernel @twice(%A : !opencl.pointer<si32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<si32, global> -> si32
  %less = eltwise.constant -1 : si32
  %y = eltwise.sub %less, %x : si32
  %z = eltwise.bit_not %y : si32
  opencl.store %z, %A[0] : si32 -> !opencl.pointer<si32, global>
}

// Other differences, and those of floats.
// CHECK-LABEL: opencl.kernel @others
// CHECK-NOT: global_offset
opencl.kernel @others(%A : !opencl.pointer<si32, global>, %F : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<si32, global> -> si32
  %two = eltwise.constant 2 : si32
  %z = eltwise.sub %two, %x : si32
  %f = opencl.load %F[0] : !opencl.pointer<f32, global> -> f32
  %less = eltwise.constant -1.0 : f32
  %g = eltwise.sub %less, %f : f32
  opencl.store %z, %A[0] : si32 -> !opencl.pointer<si32, global>
  opencl.store %g, %F[0] : f32 -> !opencl.pointer<f32, global>
}
