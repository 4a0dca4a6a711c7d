// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK:      opencl.choose %part from 2 of [%A, %B] [%C, %D] (%x: !opencl.pointer<f32, global>, %y: !opencl.pointer<f32, global>) {
// CHECK-NEXT:   %z = opencl.load %x[0]
// CHECK-NEXT:   opencl.store %z, %y[0]
// CHECK-NEXT: }
opencl.kernel @choose(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>, %D : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %part = opencl.work_item group_id 0 below 8
  opencl.choose %part from 2 of [%A, %B] [%C, %D] (%x : !opencl.pointer<f32, global>, %y : !opencl.pointer<f32, global>) {
    %z = opencl.load %x[0] : !opencl.pointer<f32, global> -> f32
    opencl.store %z, %y[0] : f32 -> !opencl.pointer<f32, global>
  }
}
