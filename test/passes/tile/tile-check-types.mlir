// RUN: tile-opt %s -p 'tile-check-types{unsupported="f64" device="nvidia.0"}' --split-input-file --verify-diagnostics

// expected-error@below {{device 'nvidia.0' does not compute with f64, the type of X}}
func.func @main(%A : tensor<4xf32>, %B : tensor<f64>) -> tensor<4xf32> attributes {tile.inputs = ["A", "X"]} {
  func.return %A : tensor<4xf32>
}

// -----

func.func @main(%A : tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{device 'nvidia.0' does not compute with f64, the type of Wide}}
  %Wide = eltwise.cast %A : tensor<4xf32> to tensor<4xf64>
  %B = eltwise.cast %Wide : tensor<4xf64> to tensor<4xf32>
  func.return %B : tensor<4xf32>
}

// -----

// Other types are fine.
func.func @main(%A : tensor<4xbf16>) -> tensor<4xf32> {
  %B = eltwise.cast %A : tensor<4xbf16> to tensor<4xf32>
  func.return %B : tensor<4xf32>
}
