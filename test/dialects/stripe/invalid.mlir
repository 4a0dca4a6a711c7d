// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Types.

// expected-error @+1 {{expected elements such as f32 or si32, got i32}}
func.func @signless(%A : !stripe.view<4xi32>) {
  func.return
}

// -----

// expected-error @+1 {{expected sizes of a view to be known}}
func.func @dynamic(%A : !stripe.view<?x4xf32>) {
  func.return
}

// -----

// expected-error @+1 {{expected `global`, `local`, or `private`}}
func.func @space(%A : !stripe.view<4xf32, shared>) {
  func.return
}

// -----

// Blocks: syntax.

func.func @binding() {
  // expected-error @+1 {{']' expected}}
  stripe.block [%i : 4 warp] {
  }
  func.return
}

// -----

func.func @negative_range() {
  // expected-error @+1 {{expected integer literal}}
  stripe.block [%i : -4] {
  }
  func.return
}

// -----

func.func @undefined_buffer() {
  stripe.block [%i : 4]
      // expected-error @+1 {{%B is not defined before its use}}
      in %a = %B[%i] : 1 {
  }
  func.return
}

// -----

func.func @no_view(%N : f32) {
  stripe.block [%i : 4]
      // expected-error @+1 {{expected a view, got f32}}
      in %a = %N[] {
  }
  func.return
}

// -----

func.func @product_of_indices(%A : !stripe.view<16xf32>) {
  stripe.block [%i : 4, %j : 4]
      // expected-error @+1 {{the product of two indices is not linear}}
      in %a = %A[%i * %j] : 1 {
  }
  func.return
}

// -----

func.func @division_by_zero(%A : !stripe.view<16xf32>) {
  stripe.block [%i : 4]
      // expected-error @+1 {{division of an index expression by zero}}
      in %a = %A[%i / 0] : 1 {
  }
  func.return
}

// -----

func.func @relation(%A : !stripe.view<16xf32>) {
  stripe.block [%i : 4]
      // expected-error @+1 {{expected '>= 0'}}
      where %i >= 1 {
  }
  func.return
}

// -----

func.func @number(%A : !stripe.view<16xf32>) {
  stripe.block [%i : 4]
      // expected-error @+1 {{integer or float literal expected}}
      out %a = %A[%i] : 1 add init zero {
  }
  func.return
}

// -----

func.func @missing_expression(%A : !stripe.view<16xf32>) {
  stripe.block [%i : 4]
      // expected-error @+1 {{expected an index, a size, an integer or '('}}
      in %a = %A[%i + ] : 1 {
  }
  func.return
}

// -----

// Blocks: refinements.

func.func @fraction(%A : !stripe.view<16xf32>) {
  // expected-error @+1 {{expected refinement 0 to have integer coefficients only}}
  stripe.block [%i : 4]
      in %a = %A[%i / 2] : 1 {
  }
  func.return
}

// -----

func.func @fractional_constraint(%A : !stripe.view<16xf32>) {
  // expected-error @+1 {{expected constraint to have integer coefficients only}}
  stripe.block [%i : 4]
      in %a = %A[%i] : 1
      where %i - 1 / 2 >= 0 {
  }
  func.return
}

// -----

func.func @rank_of_access(%A : !stripe.view<4x4xf32>) {
  // expected-error @+1 {{expected refinement 0 to have 2 index expression(s) and sizes, got 1 and 2}}
  stripe.block [%i : 4]
      in %a = %A[%i] : 1x1 {
  }
  func.return
}

// -----

func.func @rank_of_window(%A : !stripe.view<4x4xf32>) {
  // expected-error @+1 {{expected refinement 0 to have 2 index expression(s) and sizes, got 2 and 1}}
  stripe.block [%i : 4]
      in %a = %A[%i, 0] : 1 {
  }
  func.return
}

// -----

func.func @aggregated_input(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected refinement 0, which is read, to have no aggregation and no init}}
  stripe.block [%i : 4]
      in %a = %A[%i] : 1 add {
  }
  func.return
}

// -----

func.func @written_input(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected refinement 0 to be 'in' as the outer view is, got 'out'}}
  stripe.block [%i : 4]
      out %a = %A[%i] : 1 {
  }
  func.return
}

// -----

func.func @read_output() {
  %T = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      out %t = %T[%i] : 1 {
    // expected-error @+1 {{expected refinement 0 to be 'out' as the outer view is, got 'in'}}
    stripe.block []
        in %x = %t[0] : 1 {
    }
  }
  func.return
}

// -----

// Only the views of the block around can be used.
func.func @skipped_block(%A : !stripe.view<4xf32>) {
  stripe.block [%i : 4] {
    // expected-error @+1 {{expected refinement 0 to be of a view of the block around, got one from further out}}
    stripe.block [%j : 4]
        in %x = %A[%j] : 1 {
    }
  }
  func.return
}

// -----

func.func @skipped_load(%A : !stripe.view<1xf32>) {
  stripe.block [%i : 4] {
    // expected-error @+1 {{expected a view of the block around, got one from further out}}
    %x = stripe.load %A : !stripe.view<1xf32>
  }
  func.return
}

// -----

func.func @skipped_store() {
  %T = stripe.alloc : !stripe.view<1xf32>
  %x = eltwise.constant 0 : f32
  stripe.block [%i : 4] {
    // expected-error @+1 {{expected a view of the block around, got one from further out}}
    stripe.store %x, %T : !stripe.view<1xf32>
  }
  func.return
}

// -----

func.func @captured_value(%A : !stripe.view<8xf32>) {
  %n = eltwise.constant 3 : index
  // expected-error @+1 {{expected captured value 0 to be an index of a block around}}
  stripe.block [%i : 4]
      in %x = %A[%i + %n] : 1 {
  }
  func.return
}

// -----

// Blocks: what only the generic form can say.

func.func @number_of_bindings(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected 1 binding(s), got 0}}
  "stripe.block"() <{ranges = array<i64: 4>, bindings = [], refinements = [], constraints = [], operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%i : index):
  }) : () -> ()
  func.return
}

// -----

func.func @ranges(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected ranges of 0 or more, got [-4]}}
  "stripe.block"() <{ranges = array<i64: -4>, bindings = [#stripe<binding _>], refinements = [], constraints = [], operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%i : index):
  }) : () -> ()
  func.return
}

// -----

func.func @number_of_buffers(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected 0 buffer(s), one per refinement, got 1}}
  "stripe.block"(%A) <{ranges = array<i64>, bindings = [], refinements = [], constraints = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0:
  }) : (!stripe.view<4xf32>) -> ()
  func.return
}

// -----

func.func @number_of_arguments(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected a body with 1 index argument(s) and 1 view(s), got 1 argument(s)}}
  "stripe.block"(%A) <{ranges = array<i64: 4>, bindings = [#stripe<binding _>], refinements = [#stripe.refinement<1 : in [d0]>], constraints = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%i : index):
  }) : (!stripe.view<4xf32>) -> ()
  func.return
}

// -----

func.func @type_of_index() {
  // expected-error @+1 {{expected the first arguments of the body to be index}}
  "stripe.block"() <{ranges = array<i64: 4>, bindings = [#stripe<binding _>], refinements = [], constraints = [], operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%i : f32):
  }) : () -> ()
  func.return
}

// -----

func.func @window_type(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected refinement 0 to have the element type and space of !stripe.view<4xf32>, got !stripe.view<1xf64>}}
  "stripe.block"(%A) <{ranges = array<i64: 4>, bindings = [#stripe<binding _>], refinements = [#stripe.refinement<1 : in [d0]>], constraints = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%i : index, %a : !stripe.view<1xf64>):
  }) : (!stripe.view<4xf32>) -> ()
  func.return
}

// -----

func.func @rank_of_form(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected refinement 0 to be over 1 indices, got 2}}
  "stripe.block"(%A) <{ranges = array<i64: 4>, bindings = [#stripe<binding _>], refinements = [#stripe.refinement<2 : in [d1]>], constraints = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%i : index, %a : !stripe.view<1xf32>):
  }) : (!stripe.view<4xf32>) -> ()
  func.return
}

// -----

func.func @rank_of_constraint() {
  // expected-error @+1 {{expected constraint to be over 1 indices, got 0}}
  "stripe.block"() <{ranges = array<i64: 4>, bindings = [#stripe<binding _>], refinements = [], constraints = [#stripe.form<0 : 1>], operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%i : index):
  }) : () -> ()
  func.return
}

// -----

func.func @unknown_dimension() {
  // expected-error @+1 {{expected one of d0 ... d1, got d2}}
  "test.op"() {form = #stripe.form<2 : d2 + 1>} : () -> ()
  func.return
}

// -----

// Loads and stores.

func.func @load_of_a_tile(%A : !stripe.view<4x4xf32>) {
  // expected-error @+1 {{expected a view of one element or one vector, got !stripe.view<4x4xf32>}}
  %x = stripe.load %A : !stripe.view<4x4xf32>
  func.return
}

// -----

func.func @load_of_vectors() {
  %T = stripe.alloc : !stripe.view<4xvector<4xf32>, private>
  // expected-error @+1 {{expected a view of one element or one vector}}
  %x = stripe.load %T : !stripe.view<4xvector<4xf32>, private>
  func.return
}

// -----

func.func @load_of_a_number(%A : f32) {
  // expected-error @+1 {{expected a view, got f32}}
  %x = stripe.load %A : f32
  func.return
}

// -----

func.func @load_type(%A : !stripe.view<1xf32>) {
  // expected-error @+1 {{expected a result of type f32, got f64}}
  %x = "stripe.load"(%A) : (!stripe.view<1xf32>) -> f64
  func.return
}

// -----

func.func @load_of_output() {
  %T = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      out %t = %T[%i] : 1 {
    // expected-error @+1 {{expected a view to read, got one that is 'out'}}
    %x = stripe.load %t : !stripe.view<1xf32>
  }
  func.return
}

// -----

func.func @store_to_input(%A : !stripe.view<1xf32>) {
  %x = eltwise.constant 0 : f32
  // expected-error @+1 {{expected a view to write, got one that is 'in'}}
  stripe.store %x, %A : !stripe.view<1xf32>
  func.return
}

// -----

func.func @store_type(%A : !stripe.view<1xf32>) {
  %T = stripe.alloc : !stripe.view<1xf32>
  %x = eltwise.constant 0 : f64
  // expected-error @+1 {{expected a value of type f32, got f64}}
  "stripe.store"(%x, %T) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (f64, !stripe.view<1xf32>) -> ()
  func.return
}

// -----

func.func @store_of_another_type() {
  %T = stripe.alloc : !stripe.view<1xf32>
  %x = eltwise.constant 0 : f64
  // expected-error @+1 {{operand is used with type f32, but has been previously used or defined with type f64}}
  stripe.store %x, %T : !stripe.view<1xf32>
  func.return
}

// -----

// Subscripts.

func.func @too_few_subscripts(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected 2 subscript(s) for !stripe.view<4x5xf32>, got 1}}
  %x = stripe.load %A[3] : !stripe.view<4x5xf32>
  func.return
}

// -----

func.func @literal_outside(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected subscript 1 from 0 to below 5, got 5}}
  %x = stripe.load %A[3, 5] : !stripe.view<4x5xf32>
  func.return
}

// -----

func.func @negative_literal(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected subscript 0 from 0 to below 4, got -1}}
  %x = stripe.load %A[-1, 0] : !stripe.view<4x5xf32>
  func.return
}

// -----

func.func @vector_outside(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected subscript 1 from 0 to below 2, got 2}}
  %x = stripe.load %A[0, 2] : !stripe.view<4x5xf32> -> vector<4xf32>
  func.return
}

// -----

func.func @vector_too_long(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected a vector of at most 5 lanes, got 8}}
  %x = stripe.load %A[0, 0] : !stripe.view<4x5xf32> -> vector<8xf32>
  func.return
}

// -----

func.func @subscripted_type(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected a result of type f32, or a vector of them, got f64}}
  %x = stripe.load %A[0] : !stripe.view<4xf32> -> f64
  func.return
}

// -----

func.func @float_subscript(%A : !stripe.view<4xf32>) {
  %p = eltwise.constant 0 : f32
  // expected-error @+1 {{expected subscript 0 to be an integer such as si32, got f32}}
  %x = stripe.load %A[%p] : !stripe.view<4xf32>
  func.return
}

// -----

func.func @undefined_subscript(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{%p is not defined before its use}}
  %x = stripe.load %A[%p] : !stripe.view<4xf32>
  func.return
}

// -----

func.func @subscripted_store() {
  %T = stripe.alloc : !stripe.view<4xf32>
  %x = eltwise.constant 0 : f64
  // expected-error @+1 {{expected a value of type f32, got f64}}
  stripe.store %x, %T[0] : !stripe.view<4xf32>
  func.return
}

// -----

func.func @type_of_stored_vector() {
  %T = stripe.alloc : !stripe.view<4xf32>
  %x = eltwise.constant 0 : vector<4xf32>
  // expected-error @+1 {{expected the type of the value, vector<4xf32>, got vector<2xf32>}}
  stripe.store %x, %T[0] : vector<2xf32> -> !stripe.view<4xf32>
  func.return
}

// -----

func.func @condition() {
  %T = stripe.alloc : !stripe.view<1xf32>
  %x = eltwise.constant 0 : f32
  // expected-error @+1 {{operand is used with type i1, but has been previously used or defined with type f32}}
  stripe.store %x, %T if %x : !stripe.view<1xf32>
  func.return
}

// -----

// Indices as numbers.

func.func @index_of_nothing(%n : index) {
  // expected-error @+1 {{expected indices of the blocks around}}
  %x = stripe.index %n : si32
  func.return
}

// -----

func.func @index_as_float() {
  stripe.block [%i : 4] {
    // expected-error @+1 {{expected an integer type such as si32, got f32}}
    %x = stripe.index %i : f32
  }
  func.return
}

// -----

func.func @fraction_of_index() {
  stripe.block [%i : 4] {
    // expected-error @+1 {{expected integer coefficients only}}
    %x = stripe.index 1 / 2 * %i : si32
  }
  func.return
}

// -----

func.func @index_step() {
  stripe.block [%i : 4] {
    // expected-error @+1 {{expected a step for a vector and for nothing else}}
    %x = stripe.index %i : vector<4xsi32>
  }
  func.return
}

// -----

// Serial blocks and windows for both.

func.func @serial_binding() {
  // expected-error @+1 {{cannot bind index '%i' to 'grid': the points of a serial block have an order}}
  stripe.block serial [%i : 4 grid] {
  }
  func.return
}

// -----

func.func @inout_of_an_input(%A : !stripe.view<4xf32>) {
  // expected-error @+1 {{expected refinement 0 to be 'in' as the outer view is, got 'inout'}}
  stripe.block [%i : 4]
      inout %a = %A[%i] : 1 {
  }
  func.return
}

// -----

func.func @inout_of_an_output() {
  %A = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      out %a = %A[%i] : 1 {
    // expected-error @+1 {{expected refinement 0 to be 'out' as the outer view is, got 'inout'}}
    stripe.block []
        inout %b = %a[0] : 1 {
    }
  }
  func.return
}

// -----

func.func @inout_that_aggregates() {
  %A = stripe.alloc : !stripe.view<4xf32>
  // expected-error @+1 {{expected refinement 0, which is read, to have no aggregation and no init}}
  stripe.block [%i : 4]
      inout %a = %A[%i] : 1 add {
  }
  func.return
}

// -----

// Reshaped buffers.

func.func @element_count(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected a view of 20 element(s) as !stripe.view<4x5xf32> has, got 16}}
  %b = stripe.reshape %A : !stripe.view<4x5xf32> to !stripe.view<16xf32>
  func.return
}

// -----

func.func @reshaped_elements(%A : !stripe.view<4x5xf32>) {
  // expected-error @+1 {{expected the element type and space of !stripe.view<4x5xf32>, got !stripe.view<20xsi32>}}
  %b = stripe.reshape %A : !stripe.view<4x5xf32> to !stripe.view<20xsi32>
  func.return
}

// -----

func.func @reshaped_window(%A : !stripe.view<4x5xf32>) {
  stripe.block [%i : 4]
      in %a = %A[%i, 0] : 1x5 {
    // expected-error @+1 {{expects parent op 'func.func'}}
    %b = stripe.reshape %a : !stripe.view<1x5xf32> to !stripe.view<5xf32>
  }
  func.return
}

// -----

func.func @reshaped_input(%A : !stripe.view<4x5xf32>) {
  %b = stripe.reshape %A : !stripe.view<4x5xf32> to !stripe.view<20xf32>
  // expected-error @+1 {{expected refinement 0 to be 'in' as the outer view is, got 'out'}}
  stripe.block [%i : 20]
      out %a = %b[%i] : 1 {
  }
  func.return
}

// -----

// What indices are multiplied with, and the sums, are numbers of 64 bits.
func.func @f(%a : !stripe.view<8xf32>) {
  // expected-error @+1 {{expected values of refinement 0 to fit 64 bits}}
  stripe.block [%i : 3] in %x = %a[4611686018427387904 * %i] : 1 {}
  func.return
}
