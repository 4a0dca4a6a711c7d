// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @nothing(%L : tensor<f32>) {
  // expected-error @+1 {{expected a tensor to differentiate by}}
  tile.gradient %L : tensor<f32>
  func.return
}

// -----

func.func @loss(%L : tensor<si32>, %X : tensor<4xf32>) {
  // expected-error @+1 {{expected the loss to have floats as elements, got si32}}
  %0 = tile.gradient %L, %X : tensor<si32>, tensor<4xf32>
  func.return
}

// -----

func.func @wrt(%L : tensor<f32>, %X : tensor<4xf32>, %N : tensor<4xi1>) {
  // expected-error @+1 {{expected operand 2 to have floats as elements, got i1}}
  %0, %1 = tile.gradient %L, %X, %N : tensor<f32>, tensor<4xf32>, tensor<4xi1>
  func.return
}

// -----

func.func @scalar(%L : f32, %X : tensor<4xf32>) {
  // expected-error @+1 {{expected the loss to be a tensor, got f32}}
  %0 = tile.gradient %L, %X : f32, tensor<4xf32>
  func.return
}

// -----

func.func @results(%L : tensor<f32>, %X : tensor<4xf32>) {
  // expected-error @+1 {{expected the results to have the types of the tensors to differentiate by, tensor<4xf32>, got tensor<f32>}}
  %0 = "tile.gradient"(%L, %X) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>
  func.return
}
