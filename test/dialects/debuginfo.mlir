// RUN: tile-opt %s --print-debuginfo | tile-opt --print-debuginfo | filecheck %s

// Each operation has its location once, so that the text is read again.
// CHECK: eltwise.mul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("{{.*}}":6:3){{$}}
func.func @main(%a : tensor<2x3xf32>, %b : tensor<3xf32>) -> tensor<2x3xf32> {
  %c = eltwise.mul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}

// Arguments have theirs.
// CHECK: opencl.function @square(%x: f32 loc("{{.*}}":12:25)) -> f32 {
opencl.function @square(%x : f32) -> f32 {
  %y = eltwise.mul %x, %x : f32
  opencl.return %y : f32
}

// CHECK: opencl.kernel @first(%A: !opencl.pointer<f32, global> loc("{{.*}}":18:22)) group [1, 1, 1] {
opencl.kernel @first(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
}
