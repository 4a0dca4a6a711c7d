// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @arity(%x : f32) {
  // expected-error @+1 {{expected 2 operand(s), got 1}}
  %0 = eltwise.add %x : f32
  func.return
}

// -----

func.func @unknown(%x : f32) {
  // expected-error @+1 {{unknown operation 'eltwise.addd'}}
  %0 = eltwise.addd %x, %x : f32
  func.return
}

// -----

func.func @sizes(%A : tensor<4x5xf32>, %B : tensor<4x6xf32>) {
  // expected-error @+1 {{sizes 5 and 6 of axis -1 do not match}}
  %0 = eltwise.add %A, %B : (tensor<4x5xf32>, tensor<4x6xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @result_shape(%A : tensor<4x1xf32>, %B : tensor<6xf32>) {
  // expected-error @+1 {{expected a result of type tensor<4x6xf32>, got tensor<4x1xf32>}}
  %0 = eltwise.add %A, %B : (tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @mixed(%A : tensor<4xf32>, %x : f32) {
  // expected-error @+1 {{a tensor and a scalar do not mix}}
  %0 = eltwise.add %A, %x : (tensor<4xf32>, f32) -> tensor<4xf32>
  func.return
}

// -----

func.func @lengths(%v : vector<4xf32>, %w : vector<8xf32>) {
  // expected-error @+1 {{operands must all be scalars or vectors of one length}}
  %0 = eltwise.add %v, %w : (vector<4xf32>, vector<8xf32>) -> vector<4xf32>
  func.return
}

// -----

func.func @not_promoted(%x : f32, %y : f64) {
  // expected-error @+1 {{expected operand 0 to have element type f64, got f32}}
  %0 = eltwise.add %x, %y : (f32, f64) -> f64
  func.return
}

// -----

func.func @result_element(%x : f32) {
  // expected-error @+1 {{expected the result to have element type i1, got f32}}
  %0 = eltwise.cmp_lt %x, %x : f32
  func.return
}

// -----

func.func @condition(%x : f32) {
  // expected-error @+1 {{expected operand 0 to have element type i1, got f32}}
  %0 = eltwise.cond %x, %x, %x : f32
  func.return
}

// -----

func.func @counted(%b : i1) {
  // expected-error @+1 {{expected operand 0 to have element type si32, got i1}}
  %0 = eltwise.add %b, %b : i1
  func.return
}

// -----

func.func @bits(%x : f32) {
  // expected-error @+1 {{'bit_and' takes integers, got f32}}
  %0 = eltwise.bit_and %x, %x : f32
  func.return
}

// -----

func.func @signless(%x : i32) {
  // expected-error @+1 {{expected operand 0 to have an element type such as f32 or si32, got i32}}
  %0 = eltwise.add %x, %x : i32
  func.return
}

// -----

func.func @sizes_without_meaning(%n : index) {
  // expected-error @+1 {{expected all operands and the result to be sizes (index) of a function that sizes have}}
  %0 = eltwise.exp %n : index
  func.return
}

// -----

func.func @size_and_number(%n : index, %x : f32) {
  // expected-error @+1 {{expected all operands and the result to be sizes (index) of a function that sizes have}}
  %0 = eltwise.cmp_lt %n, %n : (index, index) -> i1
  func.return
}

// -----

func.func @fractional_integer() {
  // expected-error @+1 {{expected an integer for si32, got 1.5}}
  %0 = eltwise.constant 1.5 : si32
  func.return
}

// -----

func.func @constant_type() {
  // expected-error @+1 {{expected an element type such as f32 or si32, got i32}}
  %0 = eltwise.constant 1 : i32
  func.return
}

// -----

func.func @constant_value() {
  // expected-error @+1 {{expected a number as value, got "one"}}
  %0 = "eltwise.constant"() <{value = "one"}> : () -> f32
  func.return
}

// -----

func.func @no_number() {
  // expected-error @+1 {{integer or float literal expected}}
  %0 = eltwise.constant one : f32
  func.return
}

// -----

func.func @cast_shape(%A : tensor<4xf32>) {
  // expected-error @+1 {{expected the shape of tensor<4xf32>, got tensor<5xf64>}}
  %0 = eltwise.cast %A : tensor<4xf32> to tensor<5xf64>
  func.return
}

// -----

func.func @cast_element(%x : f32) {
  // expected-error @+1 {{expected an element type such as f32 or si32, got i32}}
  %0 = eltwise.cast %x : f32 to i32
  func.return
}

// -----

func.func @cast_to_size(%x : f32) {
  // expected-error @+1 {{expected an element type such as f32 or si32, got index}}
  %0 = eltwise.cast %x : f32 to index
  func.return
}

// -----

func.func @cast_size(%n : index) {
  // expected-error @+1 {{expected a size to become 0-D, got tensor<1xsi32>}}
  %0 = eltwise.cast %n : index to tensor<1xsi32>
  func.return
}

// -----

func.func @broadcast_element(%x : f32) {
  // expected-error @+1 {{expected a vector of f32, got vector<4xf64>}}
  %0 = eltwise.broadcast %x : f32 to vector<4xf64>
  func.return
}

// -----

func.func @several_results(%x : f32) {
  // expected-error @+1 {{'eltwise.neg' op expected 1 result, but got 2}}
  %0, %1 = eltwise.neg %x : (f32) -> (f32, f32)
  func.return
}

// -----

func.func @width(%x : f32) {
  // expected-error @+1 {{expected a type as wide as f32, got ui64}}
  %y = eltwise.bitcast %x : f32 to ui64
  func.return
}

// -----

func.func @truth(%x : i1) {
  // expected-error @+1 {{expected a number such as f32 or ui32, got i1}}
  %y = eltwise.bitcast %x : i1 to ui8
  func.return
}
