// RUN: tile-opt %s -p tile-differentiate --split-input-file --verify-diagnostics

func.func @symbolic(%A : tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{expected tensors of known shape and element type, got tensor<?xf32>}}
  %0 = tile.gradient %A, %A : tensor<?xf32>, tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

func.func private @other(tensor<4xf32>) -> tensor<4xf32>

func.func @unknown(%A : tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' has no derivative (of B)}}
  %B = func.call @other(%A) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = tile.gradient %B, %A : tensor<4xf32>, tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @unbounded(%A : tensor<4xf32>, %B : tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{nothing bounds the index 'j'}}
  %C = tile.contract max over [i, j] %A[i] + %B[i] -> [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %0 = tile.gradient %C, %A : tensor<f32>, tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @inside(%A : tensor<4xf32>, %c : i1) {
  scf.if %c {
    // expected-error @+1 {{expected a gradient in a function of one block}}
    %0 = tile.gradient %A, %A : tensor<4xf32>, tensor<4xf32>
  }
  func.return
}
