// RUN: tile-opt %s -p tile-canonicalize | filecheck %s

// Functions of constants are constants, rounded as their types round.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<f32>, tensor<f16>, tensor<ui8>, tensor<i1>, tensor<si32>, tensor<f32>) {
  %a = eltwise.constant 2 : tensor<f32>
  %b = eltwise.constant 3.5 : tensor<f32>
  // CHECK-DAG: %sum = eltwise.constant 5.5 : tensor<f32>
  %sum = eltwise.add %a, %b : tensor<f32>
  %h = eltwise.constant 2049.0 : tensor<f16>
  %one = eltwise.constant 0.0 : tensor<f16>
  // CHECK-DAG: %half = eltwise.constant 2048.0 : tensor<f16>
  %half = eltwise.sub %h, %one : tensor<f16>
  %big = eltwise.constant 200 : tensor<ui8>
  // CHECK-DAG: %wrapped = eltwise.constant 144 : tensor<ui8>
  %wrapped = eltwise.add %big, %big : tensor<ui8>
  // CHECK-DAG: %less = eltwise.constant 1 : tensor<i1>
  %less = eltwise.cmp_lt %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK-DAG: %toward_zero = eltwise.constant -3 : tensor<si32>
  %minus = eltwise.neg %b : tensor<f32>
  %toward_zero = eltwise.cast %minus : tensor<f32> to tensor<si32>
  // CHECK-DAG: %none = eltwise.constant inf : tensor<f32>
  %zero = eltwise.constant 0.0 : tensor<f32>
  %none = eltwise.div %b, %zero : tensor<f32>
  // CHECK: func.return %sum, %half, %wrapped, %less, %toward_zero, %none
  func.return %sum, %half, %wrapped, %less, %toward_zero, %none
      : tensor<f32>, tensor<f16>, tensor<ui8>, tensor<i1>, tensor<si32>, tensor<f32>
}

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: func.return %A, %A, %A, %A, %I, %I, %I
func.func @neutral(%A : tensor<4xf32>, %I : tensor<4xsi32>) -> (tensor<4xf32>,
    tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xsi32>, tensor<4xsi32>, tensor<4xsi32>) {
  %one = eltwise.constant 1.0 : tensor<f32>
  %zero = eltwise.constant 0.0 : tensor<f32>
  %minus_zero = eltwise.constant -0.0 : tensor<f32>
  %i0 = eltwise.constant 0 : tensor<si32>
  %i1 = eltwise.constant 1 : tensor<si32>
  %0 = eltwise.mul %one, %A : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = eltwise.div %A, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = eltwise.sub %A, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = eltwise.add %A, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = eltwise.add %i0, %I : (tensor<si32>, tensor<4xsi32>) -> tensor<4xsi32>
  %5 = eltwise.div %I, %i1 : (tensor<4xsi32>, tensor<si32>) -> tensor<4xsi32>
  %6 = eltwise.ident %I : tensor<4xsi32>
  func.return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xsi32>, tensor<4xsi32>, tensor<4xsi32>
}

// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %[[NEGATIVE:.*]] = eltwise.neg
// CHECK-NEXT: func.return %A, %I, %B, %A, %[[NEGATIVE]]
func.func @twice(%A : tensor<4xf32>, %I : tensor<4xsi32>, %B : tensor<4xi1>)
    -> (tensor<4xf32>, tensor<4xsi32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) {
  %0 = eltwise.neg %A : tensor<4xf32>
  %1 = eltwise.neg %0 : tensor<4xf32>
  %2 = eltwise.bit_not %I : tensor<4xsi32>
  %3 = eltwise.bit_not %2 : tensor<4xsi32>
  %4 = eltwise.logical_not %B : tensor<4xi1>
  %5 = eltwise.logical_not %4 : tensor<4xi1>
  %6 = eltwise.neg %1 : tensor<4xf32>
  %7 = eltwise.neg %6 : tensor<4xf32>
  func.return %1, %3, %5, %7, %6 : tensor<4xf32>, tensor<4xsi32>, tensor<4xi1>, tensor<4xf32>,
      tensor<4xf32>
}

// -0.0 + 0.0 is 0.0, and -0.0 - -0.0 is 0.0; 0 - x and 1 / x are not x; x is broadcast.
// CHECK-LABEL: func.func @not_neutral
// CHECK: eltwise.add %A, %zero
// CHECK: eltwise.sub %A, %minus_zero
// CHECK: eltwise.sub %i0, %I
// CHECK: eltwise.div %i1, %I
func.func @not_neutral(%A : tensor<4xf32>, %I : tensor<4xsi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xsi32>, tensor<4xsi32>) {
  %zero = eltwise.constant 0.0 : tensor<f32>
  %minus_zero = eltwise.constant -0.0 : tensor<f32>
  %i0 = eltwise.constant 0 : tensor<si32>
  %i1 = eltwise.constant 1 : tensor<si32>
  %0 = eltwise.add %A, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = eltwise.sub %A, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = eltwise.sub %i0, %I : (tensor<si32>, tensor<4xsi32>) -> tensor<4xsi32>
  %3 = eltwise.div %i1, %I : (tensor<si32>, tensor<4xsi32>) -> tensor<4xsi32>
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xsi32>, tensor<4xsi32>
}

// CHECK-LABEL: func.func @conditions
// CHECK: %[[C:.*]] = eltwise.cond
// CHECK-NEXT: func.return %A, %B, %[[C]]
func.func @conditions(%A : tensor<4xf32>, %B : tensor<4xf32>, %S : tensor<f32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %yes = eltwise.constant 1 : tensor<i1>
  %no = eltwise.constant 0 : tensor<i1>
  %0 = eltwise.cond %yes, %A, %B : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = eltwise.cond %no, %A, %B : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = eltwise.cond %yes, %S, %B : (tensor<i1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @casts
// CHECK-NEXT: %[[WIDE:.*]] = eltwise.cast %I : tensor<4xsi8> to tensor<4xf64>
// CHECK-NEXT: %[[NARROW:.*]] = eltwise.cast %A : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: %[[BACK:.*]] = eltwise.cast %[[NARROW]] : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT: %[[FLOAT:.*]] = eltwise.cast %I : tensor<4xsi8> to tensor<4xf32>
// CHECK-NEXT: %[[UNSIGNED:.*]] = eltwise.cast %[[FLOAT]] : tensor<4xf32> to tensor<4xui8>
// CHECK-NEXT: func.return %I, %[[WIDE]], %[[BACK]], %[[UNSIGNED]]
func.func @casts(%A : tensor<4xf32>, %I : tensor<4xsi8>)
    -> (tensor<4xsi8>, tensor<4xf64>, tensor<4xf32>, tensor<4xui8>) {
  %0 = eltwise.cast %I : tensor<4xsi8> to tensor<4xsi32>
  %1 = eltwise.cast %0 : tensor<4xsi32> to tensor<4xsi8>
  %2 = eltwise.cast %0 : tensor<4xsi32> to tensor<4xf64>
  %3 = eltwise.cast %A : tensor<4xf32> to tensor<4xf16>
  %4 = eltwise.cast %3 : tensor<4xf16> to tensor<4xf32>
  %5 = eltwise.cast %I : tensor<4xsi8> to tensor<4xf32>
  %6 = eltwise.cast %5 : tensor<4xf32> to tensor<4xui8>
  func.return %1, %2, %4, %6 : tensor<4xsi8>, tensor<4xf64>, tensor<4xf32>, tensor<4xui8>
}

// Equal ops are shared, unused ones go; zeros of different signs are not equal.
// CHECK-LABEL: func.func @shared
// CHECK: %[[P:.*]] = eltwise.constant 0.0
// CHECK: %[[N:.*]] = eltwise.constant -0.0
// CHECK: %[[O:.*]] = tile.contract
// CHECK-NOT: tile.contract
// CHECK: func.return %[[O]], %[[O]], %[[P]], %[[N]]
func.func @shared(%A : tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %p = eltwise.constant 0.0 : tensor<f32>
  %n = eltwise.constant -0.0 : tensor<f32>
  %unused = eltwise.exp %A : tensor<4xf32>
  %0 = tile.contract add over [i] %A[i] -> [] : (tensor<4xf32>) -> tensor<f32>
  %1 = tile.contract add over [i] %A[i] -> [] : (tensor<4xf32>) -> tensor<f32>
  func.return %0, %1, %p, %n : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// Before types are known `X * 1` may be a count of i1; sizes fold, their names stay.
// CHECK-LABEL: func.func @symbolic
// CHECK: tile.sizes %X ["N"]
// CHECK-NEXT: %[[ONE:.*]] = eltwise.constant 1 : tensor<!eltwise.any>
// CHECK-NEXT: eltwise.mul %X, %[[ONE]]
// CHECK-NEXT: %six = eltwise.constant 6 : index
// CHECK-NEXT: tile.contract add over [i] %X[i] -> [i : %six]
func.func @symbolic(%X : tensor<?x!eltwise.any>) -> (tensor<?x!eltwise.any>, tensor<?x!eltwise.any>) {
  %N = tile.sizes %X ["N"] : tensor<?x!eltwise.any>
  %one = eltwise.constant 1 : tensor<!eltwise.any>
  %0 = eltwise.mul %X, %one : (tensor<?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x!eltwise.any>
  %two = eltwise.constant 2 : index
  %three = eltwise.constant 3 : index
  %six = eltwise.mul %two, %three : index
  %1 = tile.contract add over [i] %X[i] -> [i : %six] : (tensor<?x!eltwise.any>) -> tensor<?x!eltwise.any>
  func.return %0, %1 : tensor<?x!eltwise.any>, tensor<?x!eltwise.any>
}
