// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operands of one type, the result's: the type is written once.
// CHECK-LABEL: func.func @same
func.func @same(%T : tensor<4x5xf32>, %s : f32, %v : vector<16xsi8>, %n : index, %u : tensor<*xf32>, %a : tensor<?x!eltwise.any>) {
  // CHECK-NEXT: eltwise.add %T, %T : tensor<4x5xf32>
  %0 = eltwise.add %T, %T : tensor<4x5xf32>
  // CHECK-NEXT: eltwise.exp %s : f32
  %1 = eltwise.exp %s : f32
  // CHECK-NEXT: eltwise.max %v, %v {note} : vector<16xsi8>
  %2 = eltwise.max %v, %v {note} : vector<16xsi8>
  // CHECK-NEXT: eltwise.div %n, %n : index
  %3 = eltwise.div %n, %n : index
  // CHECK-NEXT: eltwise.neg %u : tensor<*xf32>
  %4 = eltwise.neg %u : tensor<*xf32>
  // CHECK-NEXT: eltwise.pow %a, %a : tensor<?x!eltwise.any>
  %5 = eltwise.pow %a, %a : tensor<?x!eltwise.any>
  // CHECK-NEXT: eltwise.cond %n, %n, %n : index
  %6 = eltwise.cond %n, %n, %n : index
  func.return
}

// Broadcasting, comparisons and selections: all types are written.
// CHECK-LABEL: func.func @different
func.func @different(%T : tensor<4x5xf32>, %R : tensor<5xf32>, %C : tensor<4x1xf32>, %s : tensor<f32>, %D : tensor<?xf32>, %U : tensor<*xf32>, %x : f64, %v : vector<4xf64>) {
  // CHECK-NEXT: eltwise.add %T, %R : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  %0 = eltwise.add %T, %R : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: eltwise.sub %R, %C : (tensor<5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  %1 = eltwise.sub %R, %C : (tensor<5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: eltwise.mul %D, %s : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = eltwise.mul %D, %s : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  // CHECK-NEXT: eltwise.min %U, %T : (tensor<*xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  %3 = eltwise.min %U, %T : (tensor<*xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  // CHECK-NEXT: %[[M:.*]] = eltwise.cmp_lt %T, %R : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xi1>
  %m = eltwise.cmp_lt %T, %R : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xi1>
  // CHECK-NEXT: eltwise.cond %[[M]], %T, %s : (tensor<4x5xi1>, tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %4 = eltwise.cond %m, %T, %s : (tensor<4x5xi1>, tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  // CHECK-NEXT: %[[B:.*]] = eltwise.cmp_ne %x, %x : (f64, f64) -> i1
  %b = eltwise.cmp_ne %x, %x : (f64, f64) -> i1
  // CHECK-NEXT: eltwise.logical_not %[[B]] : i1
  %5 = eltwise.logical_not %b : i1
  // CHECK-NEXT: eltwise.cmp_ge %v, %v : (vector<4xf64>, vector<4xf64>) -> vector<4xi1>
  %6 = eltwise.cmp_ge %v, %v : (vector<4xf64>, vector<4xf64>) -> vector<4xi1>
  func.return
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: eltwise.constant 3 : si32
  %0 = eltwise.constant 3 : si32
  // CHECK-NEXT: eltwise.constant -9223372036854775808 : si64
  %1 = eltwise.constant -9223372036854775808 : si64
  // CHECK-NEXT: eltwise.constant 18446744073709551615 : ui64
  %2 = eltwise.constant 18446744073709551615 : ui64
  // CHECK-NEXT: eltwise.constant 1 : f32
  %3 = eltwise.constant 1 : f32
  // CHECK-NEXT: eltwise.constant -0.0 {note} : vector<8xf32>
  %4 = eltwise.constant -0.0 {note} : vector<8xf32>
  // CHECK-NEXT: eltwise.constant 1.0e-30 : tensor<f64>
  %5 = eltwise.constant 1.0e-30 : tensor<f64>
  // CHECK-NEXT: eltwise.constant 0.1 : tensor<!eltwise.any>
  %6 = eltwise.constant 0.1 : tensor<!eltwise.any>
  // CHECK-NEXT: eltwise.constant inf : f32
  %7 = eltwise.constant inf : f32
  // CHECK-NEXT: eltwise.constant -inf : f16
  %8 = eltwise.constant -inf : f16
  // CHECK-NEXT: eltwise.constant nan : bf16
  %9 = eltwise.constant nan : bf16
  // CHECK-NEXT: eltwise.constant 1 : i1
  %10 = eltwise.constant 1 : i1
  // CHECK-NEXT: eltwise.constant 7 : index
  %11 = eltwise.constant 7 : index
  func.return
}

// CHECK-LABEL: func.func @conversions
func.func @conversions(%T : tensor<4xsi32>, %s : f32, %v : vector<4xf32>, %n : index) {
  // CHECK-NEXT: eltwise.cast %T : tensor<4xsi32> to tensor<4xf32>
  %0 = eltwise.cast %T : tensor<4xsi32> to tensor<4xf32>
  // CHECK-NEXT: eltwise.cast %s {note} : f32 to ui8
  %1 = eltwise.cast %s {note} : f32 to ui8
  // CHECK-NEXT: eltwise.cast %v : vector<4xf32> to vector<4xsi32>
  %2 = eltwise.cast %v : vector<4xf32> to vector<4xsi32>
  // CHECK-NEXT: eltwise.cast %n : index to tensor<si32>
  %3 = eltwise.cast %n : index to tensor<si32>
  // CHECK-NEXT: eltwise.cast %n : index to f64
  %4 = eltwise.cast %n : index to f64
  // CHECK-NEXT: eltwise.broadcast %s {note} : f32 to vector<16xf32>
  %5 = eltwise.broadcast %s {note} : f32 to vector<16xf32>
  func.return
}
