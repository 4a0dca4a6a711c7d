// RUN: tile-opt %s -p lower-tile-to-stripe --split-input-file --verify-diagnostics

func.func @main(%A : tensor<4x5xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a contraction over a box of index ranges}}
  %C = tile.contract add over [i, k] %A[i, k] -> [i : 4] : (tensor<4x5xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected tensors of known shape and element type, got tensor<?xf32>}}
func.func @main(%A : tensor<?xf32>) -> tensor<?xf32> {
  func.return %A : tensor<?xf32>
}

// -----

func.func @main(%A : tensor<4xf32>) {
  // expected-error @+1 {{'tile.sizes' has no form in the stripe dialect}}
  %N = tile.sizes %A ["N"] : tensor<4xf32>
  func.return
}

// -----

func.func @main(%A : tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected integer coefficients in a flat contraction}}
  %C = tile.contract add over [i : 4] %A[i / 2] -> [i : 4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}

// -----

func.func @main(%V : tensor<4xf32>, %X : tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{a gather that interpolates has no form in the stripe dialect}}
  %R = tile.gather %V, %X interpolation linear : (tensor<4xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %R : tensor<3xf32>
}
