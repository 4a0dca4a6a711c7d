// RUN: tile-opt %s -p tile-flatten --split-input-file --verify-diagnostics

func.func @main(%I : tensor<4xf32>) {
  // expected-error @+1 {{nothing bounds the index 'k'}}
  %O = tile.contract add over [i, k] %I[i] -> [i : 4] where 0 <= k : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @main(%I : tensor<4xf32>) {
  // expected-error @+1 {{nothing bounds the index 'i'}}
  %O = tile.contract add over [i, k] %I[i - k] -> [i - k : 4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @main(%I : tensor<4x5xf32>) {
  // expected-error @+1 {{O[0] is assigned twice: at i = 0, k = 0 and at i = 0, k = }}
  %O = tile.contract assign over [i, k] %I[i, k] -> [i : 4] : (tensor<4x5xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Every cell has one point: k is determined by i.
func.func @main(%I : tensor<4x8xf32>) {
  %O = tile.contract assign over [i, k] %I[i, k] -> [i : 4] where 0 <= 2 * i - k < 1
      : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @main(%I : tensor<?xf32>) {
  // expected-error @+1 {{expected tensors and index expressions of known sizes, got tensor<?xf32>}}
  %O = tile.contract add over [i] %I[i] -> [] : (tensor<?xf32>) -> tensor<f32>
  func.return
}
