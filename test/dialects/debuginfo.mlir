// RUN: tile-opt %s --print-debuginfo | tile-opt --print-debuginfo | filecheck %s

// Each operation has its location once, so that the text is read again.
// CHECK: eltwise.mul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("{{.*}}":6:3){{$}}
func.func @main(%a : tensor<2x3xf32>, %b : tensor<3xf32>) -> tensor<2x3xf32> {
  %c = eltwise.mul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}
