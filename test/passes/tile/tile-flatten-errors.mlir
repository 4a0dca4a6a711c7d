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
  // expected-error @+1 {{expected tensors and index expressions of known sizes and types, got tensor<?xf32>}}
  %O = tile.contract add over [i] %I[i] -> [] : (tensor<?xf32>) -> tensor<f32>
  func.return
}

// -----

// Five times the same is a product, of which the type is to be known.
func.func @main(%I : tensor<!eltwise.any>) {
  // expected-error @+1 {{expected tensors and index expressions of known sizes and types, got tensor<!eltwise.any>}}
  %O = tile.contract add over [i] %I[] -> [] where 0 <= i < 5 : (tensor<!eltwise.any>) -> tensor<!eltwise.any>
  func.return
}

// -----

// Fractions and constraints leave every other k, which is still more than one.
func.func @main(%I : tensor<4x9xf32>) {
  // expected-error @+1 {{O[1] is assigned twice: at i = 1, k = }}
  %O = tile.contract assign over [i, k] %I[i, k / 2] -> [i : 4] where 0 <= k - 4 < 3, 0 <= i - 1
      : (tensor<4x9xf32>) -> tensor<4xf32>
  func.return
}

// -----

// With room for one even number there is one point for each cell.
func.func @main(%I : tensor<4x9xf32>) {
  %O = tile.contract assign over [i, k] %I[i, k / 2] -> [i : 4] where 0 <= k - 4 < 2
      : (tensor<4x9xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Windows that overlap meet on a cell; side by side they do not.
func.func @main(%I : tensor<5xf32>) {
  // expected-error @+1 {{O[2] is assigned twice: at x = 0, i = 2 and at x = 1, i = 0}}
  %O = tile.contract assign over [x, i] %I[x] -> [2 * x + i : 11] where 0 <= i < 3
      : (tensor<5xf32>) -> tensor<11xf32>
  %P = tile.contract assign over [x, i] %I[x] -> [3 * x + i : 15] where 0 <= i < 3
      : (tensor<5xf32>) -> tensor<15xf32>
  func.return
}

// -----

// A fractional access bounds an index, but not two at once.
func.func @main(%I : tensor<4xf32>) {
  %O = tile.contract add over [i, j] %I[i / 2 - j / 3] -> [i : 4] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{nothing bounds the index 'j'}}
  %P = tile.contract add over [i, j, k] %I[i / 2 - j / 3 + k] -> [i : 4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Integer programming may take for ever, and is given up.
func.func @main(%I : tensor<50x50x50x50x50x50xf32>) {
  // expected-error @+1 {{the index set is too hard: not decided in}}
  %O = tile.contract add over [a, b, c, d, e, f]
      %I[a * 3 / 4 - b / 3 + c + d * 3 / 2 - e / 4 + f, a - b * 2 / 3 - c * 3 / 4 + d + e * 3 - f / 2, 2 * a + b * 3 / 2 - c + d / 3 - 3 * e + f / 4, a / 2 + 2 * b - c / 3 - d * 3 + e / 2 + f * 3 / 4, 3 * a - b + c / 2 - d / 4 + e - f * 2 / 3, a - b / 4 + 3 * c + d * 2 / 3 - e / 2 + 2 * f]
      -> [a * 2 / 3 + b - c / 2 + d / 4 - e + f : 50, a / 4 - b + c * 2 - d * 2 / 3 + e / 2 - f : 50]
      : (tensor<50x50x50x50x50x50xf32>) -> tensor<50x50xf32>
  func.return
}
