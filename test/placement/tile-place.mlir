// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json"}' --split-input-file | filecheck %s
// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json"}' --split-input-file | tile-opt --split-input-file | filecheck %s
// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json"},tile-place{machine="%S/Inputs/two-devices.json"}' --split-input-file | filecheck %s

// Much work on little data goes to the fast device, and what follows goes along.
func.func @main(%A : tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %C = tile.contract add over [i : 2048, j : 2048 | k : 2048] %A[i, k] * %A[k, j] -> [i : 2048, j : 2048] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %two = eltwise.constant 2.0 : tensor<f32>
  %D = eltwise.mul %C, %two : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048x2048xf32>
  func.return %D : tensor<2048x2048xf32>
}
// CHECK:       %C = tile.contract {{.*}} {tile.device = "far", tile.device_reason = "{{.*}} here (predicted); {{.*}} on near (predicted), where the whole would take {{.*}}"}
// CHECK-NEXT:  eltwise.constant 2.0 : tensor<f32>
// CHECK-NEXT:  eltwise.mul %C, {{.*}} {tile.device = "far"}

// -----

// Little work on much data stays where the data is.
func.func @main(%A : tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %B = eltwise.add %A, %A : tensor<4096x4096xf32>
  func.return %B : tensor<4096x4096xf32>
}
// CHECK:       %B = eltwise.add {{.*}} {tile.device = "near", tile.device_reason = "{{.*}}"}

// -----

// What is forced stays, with the operations of its unit.
func.func @main(%A : tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %C = tile.contract add over [i : 2048, j : 2048 | k : 2048] %A[i, k] * %A[k, j] -> [i : 2048, j : 2048] {tile.device = "near"} : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %D = eltwise.mul %C, %C : tensor<2048x2048xf32>
  func.return %D : tensor<2048x2048xf32>
}
// CHECK:       %C = tile.contract {{.*}} {tile.device = "near", tile.device_reason = "forced; {{.*}}"}
// CHECK-NEXT:  eltwise.mul %C, %C {tile.device = "near"}

// -----

// There is nothing to place in a function that computes nothing.
func.func @main(%A : tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %zero = eltwise.constant 0.0 : tensor<f32>
  func.return %A, %zero : tensor<4xf32>, tensor<f32>
}
// CHECK-NOT:   tile.device
