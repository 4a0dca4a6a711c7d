// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @reshape_count(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{4x5 has 20 elements and 3x7 has 21 elements}}
  %0 = tile.reshape %X -> [3, 7] : tensor<4x5xf32> -> tensor<3x7xf32>
  func.return
}

// -----

func.func @reshape_element(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{expected the result to have element type f32, got f16}}
  %0 = tile.reshape %X -> [20] : tensor<4x5xf32> -> tensor<20xf16>
  func.return
}

// -----

func.func @reshape_sizes(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{expected a tensor type with the 1 sizes given, got tensor<21xf32>}}
  %0 = tile.reshape %X -> [20] : tensor<4x5xf32> -> tensor<21xf32>
  func.return
}

// -----

func.func @reshape_generic(%X : tensor<?xf32>) {
  // expected-error @+1 {{expected 1 size(s) for tensor<?xf32>, got 0}}
  %0 = "tile.reshape"(%X) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @reshape_scalar(%X : f32) {
  // expected-error @+1 {{expected the operand to be a tensor, got f32}}
  %0 = tile.reshape %X -> [1] : f32 -> tensor<1xf32>
  func.return
}

// -----

func.func @simple_reduce(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{3 does not broadcast to 4x5}}
  %0 = tile.simple_reduce %X -> [3] : tensor<4x5xf32> -> tensor<3xf32>
  func.return
}

// -----

func.func @index_axis(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{the tensor has 2 axes, so there is no axis 2}}
  %0 = tile.index 2 : tensor<4x5xsi32>
  func.return
}

// -----

func.func @index_element(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{expected a result of element type si32, got tensor<4x5xf32>}}
  %0 = tile.index 0 : tensor<4x5xf32>
  func.return
}

// -----

func.func @index_rank() {
  // expected-error @+1 {{expected a result of known rank, got tensor<*xsi32>}}
  %0 = tile.index 0 : tensor<*xsi32>
  func.return
}

// -----

func.func @index_like(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{expected no sizes and a result of type tensor<4x5xsi32>, got tensor<4xsi32>}}
  %0 = tile.index 0 like %X : tensor<4x5xf32> -> tensor<4xsi32>
  func.return
}

// -----

func.func @shape_result(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{expected a result of type tensor<2xsi32>, got tensor<3xsi32>}}
  %0 = "tile.shape"(%X) : (tensor<4x5xf32>) -> tensor<3xsi32>
  func.return
}

// -----

func.func @argsort_direction(%X : tensor<4x5xf32>) {
  // expected-error @+1 {{expected 'ascending' or 'descending'}}
  %0 = tile.argsort %X axis 0 upwards : tensor<4x5xf32>
  func.return
}

// -----

func.func @argsort_axis(%X : tensor<f32>) {
  // expected-error @+1 {{the tensor has 0 axes, so there is no axis 0}}
  %0 = tile.argsort %X axis 0 ascending : tensor<f32>
  func.return
}

// -----

func.func @argsort_result(%X : tensor<4xf32>) {
  // expected-error @+1 {{expected a result of type tensor<4xsi32>, got tensor<4xsi64>}}
  %0 = "tile.argsort"(%X) <{axis = 0 : i64}> : (tensor<4xf32>) -> tensor<4xsi64>
  func.return
}

// -----

func.func @prng_shape(%S : tensor<2x3xui32>) {
  // expected-error @+1 {{expected a state of shape 3xL (for L lanes) or 1x3, got 2x3}}
  %V, %T = tile.prng %S -> [4] : tensor<2x3xui32> -> tensor<4xf32>
  func.return
}

// -----

func.func @prng_lanes(%S : tensor<3x0xui32>) {
  // expected-error @+1 {{expected a state of shape 3xL (for L lanes) or 1x3, got 3x0}}
  %V, %T = tile.prng %S -> [4] : tensor<3x0xui32> -> tensor<4xf32>
  func.return
}

// -----

func.func @prng_element(%S : tensor<3x4xsi32>) {
  // expected-error @+1 {{expected a state of element type ui32, got tensor<3x4xsi32>}}
  %V, %T = tile.prng %S -> [4] : tensor<3x4xsi32> -> tensor<4xf32>
  func.return
}

// -----

func.func @prng_result(%S : tensor<3x4xui32>) {
  // expected-error @+1 {{expected a result of element type f32, got tensor<4xf64>}}
  %V, %T = tile.prng %S -> [4] : tensor<3x4xui32> -> tensor<4xf64>
  func.return
}

// -----

func.func @assert_type(%X : tensor<f32>) {
  // expected-error @+1 {{operand 'condition' at position 0 does not verify}}
  "tile.assert"(%X) <{message = "a"}> : (tensor<f32>) -> ()
  func.return
}

// -----

func.func @gather_float(%V : tensor<4xf32>, %I : tensor<3xf32>) {
  // expected-error @+1 {{expected integers as indices, got f32}}
  %0 = tile.gather %V, %I : (tensor<4xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @gather_boolean(%V : tensor<4xf32>, %I : tensor<3xi1>) {
  // expected-error @+1 {{expected integers as indices, got i1}}
  %0 = tile.gather %V, %I interpolation linear : (tensor<4xf32>, tensor<3xi1>) -> tensor<3xf32>
  func.return
}

// -----

func.func @gather_smooth_integers(%V : tensor<4xsi32>, %I : tensor<3xf32>) {
  // expected-error @+1 {{expected floats to interpolate between, got tensor<4xsi32>}}
  %0 = tile.gather %V, %I interpolation linear : (tensor<4xsi32>, tensor<3xf32>) -> tensor<3xsi32>
  func.return
}

// -----

func.func @gather_nd_integers(%V : tensor<4xsi32>, %I : tensor<3x1xf32>) {
  // expected-error @+1 {{expected floats to interpolate between, got tensor<4xsi32>}}
  %0 = tile.gather %V, %I mode nd interpolation linear : (tensor<4xsi32>, tensor<3x1xf32>) -> tensor<3xsi32>
  func.return
}

// -----

func.func @gather_nd_axis(%V : tensor<4x4xf32>, %I : tensor<3x1xsi32>) {
  // expected-error @+1 {{expected no axis in mode nd}}
  %0 = tile.gather %V, %I axis 1 mode nd : (tensor<4x4xf32>, tensor<3x1xsi32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @gather_nd_depth(%V : tensor<4xf32>, %I : tensor<3x2xsi32>) {
  // expected-error @+1 {{the last axis of the indices has 2 coordinates, but the values have 1 axis behind the batch}}
  %0 = tile.gather %V, %I mode nd : (tensor<4xf32>, tensor<3x2xsi32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @gather_nd_scalar(%V : tensor<4xf32>, %I : tensor<si32>) {
  // expected-error @+1 {{the indices are 0-D: expected an axis of coordinates at the end}}
  %0 = tile.gather %V, %I mode nd : (tensor<4xf32>, tensor<si32>) -> tensor<f32>
  func.return
}

// -----

func.func @gather_axis(%V : tensor<4xf32>, %I : tensor<3xsi32>) {
  // expected-error @+1 {{the tensor of values has 1 axis, so there is no axis 1}}
  %0 = tile.gather %V, %I axis 1 : (tensor<4xf32>, tensor<3xsi32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @gather_batch(%V : tensor<4x5xf32>, %I : tensor<3x5xsi32>) {
  // expected-error @+1 {{the batch axes of the values are 4 and those of the indices 3, expected the same}}
  %0 = tile.gather %V, %I axis 1 batch_dims 1 : (tensor<4x5xf32>, tensor<3x5xsi32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @gather_batch_axis(%V : tensor<4x5xf32>, %I : tensor<4x5xsi32>) {
  // expected-error @+1 {{axis 0 is a batch axis: batch_dims is 1}}
  %0 = tile.gather %V, %I batch_dims 1 : (tensor<4x5xf32>, tensor<4x5xsi32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @gather_many_batches(%V : tensor<4x5xf32>, %I : tensor<4xsi32>) {
  // expected-error @+1 {{batch_dims is 2, expected 0 to 1}}
  %0 = tile.gather %V, %I batch_dims 2 : (tensor<4x5xf32>, tensor<4xsi32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @gather_result(%V : tensor<4xf32>, %I : tensor<3xsi32>) {
  // expected-error @+1 {{expected a result of type tensor<3xf32>, got tensor<4xf32>}}
  %0 = tile.gather %V, %I : (tensor<4xf32>, tensor<3xsi32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @gather_mode(%V : tensor<4xf32>, %I : tensor<3xsi32>) {
  // expected-error @+1 {{expected `normal`, or `nd`}}
  %0 = tile.gather %V, %I mode all : (tensor<4xf32>, tensor<3xsi32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @scatter_operands(%V : tensor<4xf32>, %I : tensor<3xsi32>) {
  // expected-error @+1 {{expected updates, indices and base, got 2 operand(s)}}
  %0 = tile.scatter %V, %I : (tensor<4xf32>, tensor<3xsi32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @scatter_updates(%U : tensor<4x2xf32>, %I : tensor<3xsi32>, %B : tensor<9xf32>) {
  // expected-error @+1 {{expected updates of shape 3x2, got 4x2}}
  %0 = tile.scatter %U, %I, %B : (tensor<4x2xf32>, tensor<3xsi32>, tensor<9xf32>) -> tensor<9x2xf32>
  func.return
}

// -----

func.func @scatter_rank(%U : tensor<f32>, %I : tensor<3xsi32>, %B : tensor<9xf32>) {
  // expected-error @+1 {{the indices are 3, but the updates only 0-D}}
  %0 = tile.scatter %U, %I, %B : (tensor<f32>, tensor<3xsi32>, tensor<9xf32>) -> tensor<9xf32>
  func.return
}

// -----

func.func @scatter_base(%U : tensor<2x3xf32>, %I : tensor<3xsi32>, %B : tensor<9xf32>) {
  // expected-error @+1 {{the base is 9, so it has no axis 1}}
  %0 = tile.scatter %U, %I, %B axis 1 : (tensor<2x3xf32>, tensor<3xsi32>, tensor<9xf32>) -> tensor<2x9xf32>
  func.return
}

// -----

func.func @scatter_count(%U : tensor<3xi1>, %I : tensor<3xsi32>, %B : tensor<9xf32>) {
  // expected-error @+1 {{expected updates of si32 to count, got i1}}
  %0 = tile.scatter %U, %I, %B : (tensor<3xi1>, tensor<3xsi32>, tensor<9xf32>) -> tensor<9xi1>
  func.return
}

// -----

func.func @scatter_slice(%U : tensor<3x4xf32>, %I : tensor<3xsi32>, %B : tensor<9x5xf32>) {
  // expected-error @+1 {{expected updates of shape 3x5, got 3x4}}
  %0 = tile.scatter %U, %I, %B mode update_slice : (tensor<3x4xf32>, tensor<3xsi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  func.return
}

// -----

func.func @scatter_slice_type(%U : tensor<3xf16>, %I : tensor<3xsi32>, %B : tensor<9xf32>) {
  // expected-error @+1 {{expected updates and base to have one element type, got f16 and f32}}
  %0 = tile.scatter %U, %I, %B mode update_slice : (tensor<3xf16>, tensor<3xsi32>, tensor<9xf32>) -> tensor<9xf32>
  func.return
}

// -----

func.func @scatter_elements(%U : tensor<3x6xf32>, %I : tensor<3x6xsi32>, %B : tensor<9x5xf32>) {
  // expected-error @+1 {{the indices are 3x6, which beside axis 0 is more than the base has, 9x5}}
  %0 = tile.scatter %U, %I, %B mode update_elt : (tensor<3x6xf32>, tensor<3x6xsi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  func.return
}

// -----

func.func @scatter_elements_rank(%U : tensor<3xf32>, %I : tensor<3xsi32>, %B : tensor<9x5xf32>) {
  // expected-error @+1 {{expected as many axes of the indices as of the base (9x5), got 3}}
  %0 = tile.scatter %U, %I, %B mode update_elt : (tensor<3xf32>, tensor<3xsi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  func.return
}

// -----

func.func @scatter_elements_shape(%U : tensor<3x4xf32>, %I : tensor<3x5xsi32>, %B : tensor<9x5xf32>) {
  // expected-error @+1 {{the updates are 3x4 and the indices 3x5, expected the same}}
  %0 = tile.scatter %U, %I, %B mode update_elt : (tensor<3x4xf32>, tensor<3x5xsi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  func.return
}

// -----

func.func @scatter_nd(%U : tensor<3xf32>, %I : tensor<3x3xsi32>, %B : tensor<9x5xf32>) {
  // expected-error @+1 {{the last axis of the indices has 3 coordinates, but the base has 2 axes}}
  %0 = tile.scatter %U, %I, %B mode update_nd : (tensor<3xf32>, tensor<3x3xsi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  func.return
}

// -----

func.func @scatter_nd_axis(%U : tensor<3x5xf32>, %I : tensor<3x1xsi32>, %B : tensor<9x5xf32>) {
  // expected-error @+1 {{expected no axis in mode update_nd}}
  %0 = tile.scatter %U, %I, %B axis 1 mode update_nd : (tensor<3x5xf32>, tensor<3x1xsi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  func.return
}
