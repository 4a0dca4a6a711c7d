// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Sizes.

func.func @names(%A : tensor<4x5xf32>) {
  // expected-error @+1 {{expected one name and one result for each of the 2 axes, got 1 name(s) and 1 result(s)}}
  %M = tile.sizes %A ["M"] : tensor<4x5xf32>
  func.return
}

// -----

func.func @from_index(%A : tensor<4xf32>) {
  %N = tile.sizes %A ["N"] : tensor<4xf32>
  // expected-error @+1 {{expected a result of rank 0, got tensor<1xsi32>}}
  %0 = tile.from_index %N : tensor<1xsi32>
  func.return
}

// -----

func.func @to_index(%A : tensor<si32>) {
  %B = eltwise.neg %A : tensor<si32>
  // expected-error @+1 {{expected an argument of the function}}
  %0 = tile.to_index %B : tensor<si32>
  func.return
}

// -----

// Contractions: syntax.

func.func @aggregation(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected `add`, `mul`, `max`, `min`, or `assign`}}
  %0 = tile.contract sum over [i] %A[i] -> [] : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @unknown_index(%A : tensor<4xf32>) {
  // expected-error @+1 {{index 'k' is not listed after 'over'}}
  %0 = tile.contract add over [i] %A[k] -> [] : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @some_ranges(%A : tensor<4x4xf32>) {
  // expected-error @+1 {{expected a range for every index or for none}}
  %0 = tile.contract add over [i : 4 | j] %A[i, j] -> [i : 4] : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @constraint(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected '0 <= ...'}}
  %0 = tile.contract add over [i] %A[i] -> [] where 1 <= i : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @nonlinear(%A : tensor<4xf32>) {
  // expected-error @+1 {{the product of two indices is not linear}}
  %0 = tile.contract add over [i, j] %A[i * (j + 1)] -> [] : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @divided_by_sum(%A : tensor<?xf32>) {
  %N = tile.sizes %A ["N"] : tensor<?xf32>
  // expected-error @+1 {{division by a sum of sizes}}
  %0 = tile.contract add over [i] %A[i / (%N + 1)] -> [] : (tensor<?xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @divided_by_index(%A : tensor<4xf32>) {
  // expected-error @+1 {{division by an index is not linear}}
  %0 = tile.contract add over [i] %A[1 / i] -> [] : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @result_type(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected one tensor as result type}}
  %0 = tile.contract add over [i] %A[i] -> [] : (tensor<4xf32>) -> f32
  func.return
}

// -----

// Contractions: operands and accesses.

func.func @scalar(%A : f32) {
  // expected-error @+1 {{expected operand 0 to be a tensor, got f32}}
  %0 = tile.contract add over [] %A[] -> [] : (f32) -> tensor<f32>
  func.return
}

// -----

func.func @same_names(%A : tensor<4x4xf32>) {
  // expected-error @+1 {{expected distinct index names, got i, i}}
  %0 = tile.contract add over [i, i] %A[i, i] -> [] : (tensor<4x4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @operand_rank(%A : tensor<4x4xf32>) {
  // expected-error @+1 {{expected 2 index expression(s) for operand 0 of type tensor<4x4xf32>, got 1}}
  %0 = tile.contract add over [i] %A[i] -> [] : (tensor<4x4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @result_rank(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected 1 index expression(s) for the result of type tensor<4xf32>, got 2}}
  %0 = tile.contract add over [i] %A[i] -> [i : 4, 0 : 1] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @bound_with_index(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected a constraint's bound to have no index}}
  %0 = tile.contract add over [i, j] %A[i] -> [] where 0 <= i < j : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @missing_size(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected 1 size(s) for tensor<?xf32>, got 0}}
  %0 = tile.contract add over [i] %A[i] -> [i : 4] : (tensor<4xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @promoted(%A : tensor<4xf32>, %B : tensor<4xsi8>) {
  // expected-error @+1 {{expected operand 1 to have element type f32, got si8}}
  %0 = tile.contract add over [i] %A[i] * %B[i] -> [] : (tensor<4xf32>, tensor<4xsi8>) -> tensor<f32>
  func.return
}

// -----

func.func @counted(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have element type si32, got i1}}
  %0 = tile.contract add over [i] %A[i] == %A[i] -> [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<i1>
  func.return
}

// -----

func.func @default_type(%A : tensor<4xf32>, %D : tensor<4xf64>) {
  // expected-error @+1 {{expected default to have element type f32, got tensor<4xf64>}}
  %0 = tile.contract add over [i] %A[i] -> [i : 4] default %D : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @default_scalar(%A : tensor<4xf32>, %D : f32) {
  // expected-error @+1 {{expected default to be a tensor, got f32}}
  %0 = tile.contract add over [i] %A[i] -> [i : 4] default %D : (tensor<4xf32>, f32) -> tensor<4xf32>
  func.return
}

// -----

// Contractions: what only the generic form can say.

func.func @arity(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected 2 operand(s) for combination 'mul', got 1}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination mul>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d0>]], constraints = [], operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @accesses(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected 1 input access(es), got 0}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [], constraints = [], operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @indices(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected at most 1 indices}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d1>]], constraints = [], operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @symbols(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected at most 0 symbols}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d0>]], constraints = [#tile.constraint<d0 < s0>], operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @ranges(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected a range of 0 or more for each of 1 indices, got [4, 4]}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d0>]], constraints = [], ranges = array<i64: 4, 4>, output_rank = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @negative_range(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected a range of 0 or more for each of 1 indices, got [-4]}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d0>]], constraints = [], ranges = array<i64: -4>, output_rank = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @output_rank(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected 0 to 1 indices before the bar, got 2}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d0>]], constraints = [], ranges = array<i64: 4>, output_rank = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @half_flat(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected both ranges and output_rank, or neither}}
  %0 = "tile.contract"(%A) <{aggregation = #tile<aggregation add>, combination = #tile<combination none>, indices = ["i"], output_access = [], input_accesses = [[#tile.polynomial<d0>]], constraints = [], ranges = array<i64: 4>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @polynomial() {
  // expected-error @+1 {{expected d<number> or s<number>, got x0}}
  "test.op"() {p = #tile.polynomial<x0 + 1>} : () -> ()
  func.return
}
