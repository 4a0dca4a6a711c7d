// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Types.

// expected-error @+1 {{expected elements such as f32 or si32, got i32}}
func.func @buffer(%A : !opencl.buffer<4xi32>) {
  func.return
}

// -----

// expected-error @+1 {{expected sizes of a buffer to be known}}
func.func @buffer_size(%A : !opencl.buffer<?xf32>) {
  func.return
}

// -----

// expected-error @+1 {{expected elements such as f32 or si32, got vector<4xf32>}}
func.func @buffer_of_vectors(%A : !opencl.buffer<4xvector<4xf32>>) {
  func.return
}

// -----

// expected-error @+1 {{expected elements such as f32 or si32, got index}}
func.func @pointer(%A : !opencl.pointer<index, global>) {
  func.return
}

// -----

// Kernels and the host.

// expected-error @+1 {{expected three group sizes of 1 or more, got [1, 0, 1]}}
opencl.kernel @group() group [1, 0, 1] {
}

// -----

// expected-error @+1 {{expected three group sizes of 1 or more, got [8, 8]}}
opencl.kernel @dimensions() group [8, 8] {
}

// -----

// expected-error @+1 {{expected argument 0 to be a pointer, got f32}}
opencl.kernel @argument(%A : f32) group [1, 1, 1] {
}

// -----

opencl.kernel @k() group [1, 1, 1] {
}
func.func @counts() {
  // expected-error @+1 {{expected three group counts, got [4, -1, 1]}}
  opencl.launch @k groups [4, -1, 1] ()
  func.return
}

// -----

func.func @no_kernel() {
  // expected-error @+1 {{expected @no_kernel to be an opencl.kernel}}
  opencl.launch @no_kernel groups [4, 1, 1] ()
  func.return
}

// -----

opencl.kernel @k(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
}
func.func @buffers() {
  // expected-error @+1 {{expected 1 buffer(s) for @k, got 0}}
  opencl.launch @k groups [4, 1, 1] ()
  func.return
}

// -----

opencl.kernel @k(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
}
func.func @buffer_element(%B : !opencl.buffer<4xf64>) {
  // expected-error @+1 {{expected buffer 0 to hold f32, got f64}}
  opencl.launch @k groups [4, 1, 1] (%B) : !opencl.buffer<4xf64>
  func.return
}

// -----

// Bodies.

opencl.kernel @dimension() group [1, 1, 1] {
  // expected-error @+1 {{expected dimension 0, 1 or 2, got 3}}
  %0 = opencl.work_item group_id 3 below 64
}

// -----

opencl.kernel @query() group [1, 1, 1] {
  // expected-error @+1 {{expected `group_id`, `local_id`, `global_id`, or `global_offset`}}
  %0 = opencl.work_item lane_id 0 below 64
}

// -----

opencl.kernel @global_array() group [1, 1, 1] {
  // expected-error @+1 {{expected a local or private array, got a global one}}
  %0 = opencl.array 4 : !opencl.pointer<f32, global>
}

// -----

opencl.kernel @array_type() group [1, 1, 1] {
  // expected-error @+1 {{expected a pointer, got f32}}
  %0 = opencl.array 4 : f32
}

// -----

opencl.kernel @barrier() group [1, 1, 1] {
  // expected-error @+1 {{expected global or local memory, got private}}
  opencl.barrier private
}

// -----

opencl.kernel @condition() group [1, 1, 1] {
  %0 = opencl.work_item group_id 0 below 64
  // expected-error @+1 {{expected '>= 0'}}
  opencl.if %0 >= 1 {
  }
}

// -----

opencl.kernel @fraction() group [1, 1, 1] {
  %0 = opencl.work_item group_id 0 below 64
  // expected-error @+1 {{expected integer coefficients only}}
  opencl.if %0 / 2 >= 0 {
  }
}

// -----

opencl.kernel @no_condition() group [1, 1, 1] {
  // expected-error @+1 {{expected at least one condition}}
  "opencl.if"() <{conditions = []}> ({
  ^bb0:
  }) : () -> ()
}

// -----

opencl.kernel @form_rank(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  // expected-error @+1 {{expected a form over 0 values, got 1}}
  %0 = "opencl.load"(%A) <{form = #stripe.form<1 : d0>}> : (!opencl.pointer<f32, global>) -> f32
}

// -----

opencl.kernel @load_type(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  // expected-error @+1 {{expected a value of f32, got vector<4xf64>}}
  %0 = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<4xf64>
}

// -----

opencl.kernel @load_part(%A : !opencl.pointer<vector<4xf32>, global>) group [1, 1, 1] {
  // expected-error @+1 {{expected a value of vector<4xf32>, got f32}}
  %0 = opencl.load %A[0] : !opencl.pointer<vector<4xf32>, global> -> f32
}

// -----

opencl.kernel @store_type(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = eltwise.constant 1 : f64
  // expected-error @+1 {{expected a value of f32, got f64}}
  opencl.store %x, %A[0] : f64 -> !opencl.pointer<f32, global>
}

// -----

opencl.kernel @coordinates() group [1, 1, 1] {
  %0 = opencl.work_item group_id 0 below 64
  // expected-error @+1 {{expected a result for each of 2 sizes, got 1}}
  %x = "opencl.delinearize"(%0) <{sizes = array<i64: 8, 8>}> : (index) -> index
}

// -----

opencl.kernel @loop_argument() group [1, 1, 1] {
  // expected-error @+1 {{expected a body with one index argument}}
  "opencl.for"() <{extent = 4 : i64}> ({
  ^bb0(%i : f32):
  }) : () -> ()
}

// -----

// A kernel sees nothing of what is around it.
func.func @around(%x : f32) {
  opencl.kernel @inside() group [1, 1, 1] {
    // expected-error @+1 {{is defined outside of}}
    %0 = eltwise.neg %x : f32
  }
  func.return
}

// -----

// Between indices and data.

opencl.kernel @position(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  // expected-error @+1 {{expected an integer such as si32, got f32}}
  %p = opencl.position %x below 4
}

// -----

opencl.kernel @number() group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  // expected-error @+1 {{expected an integer type such as si32, got f32}}
  %x = opencl.index %i : f32
}

// -----

opencl.kernel @condition() group [1, 1, 1] {
  %x = eltwise.constant 1 : si32
  // expected-error @+1 {{operand is used with type i1, but has been previously used or defined with type si32}}
  opencl.when %x {
  }
}

// -----

// Functions and calls.

opencl.function @half(%x : f32) -> f32 {
  opencl.return %x : f32
}
opencl.kernel @call(%A : !opencl.pointer<f64, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f64, global> -> f64
  // expected-error @+1 {{expected operands of types (f32) for @half, got (f64)}}
  %y = opencl.call @half(%x) : (f64) -> f32
}

// -----

opencl.function @half(%x : f32) -> f32 {
  opencl.return %x : f32
}
opencl.kernel @call(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  // expected-error @+1 {{expected the result of @half to be f32, got f64}}
  %y = opencl.call @half(%x) : (f32) -> f64
}

// -----

opencl.kernel @call(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  // expected-error @+1 {{expected @call to be an opencl.function}}
  %y = opencl.call @call(%x) : (f32) -> f32
}

// -----

func.func @place() {
  // expected-error @+1 {{expected a place of 0 or more, got -8}}
  %B = "opencl.allocate"() <{offset = -8 : i64}> : () -> !opencl.buffer<f32>
  func.return
}

// -----

// expected-error @+1 {{expected 'unroll' with or without a factor}}
"opencl.for"() <{extent = 4 : i64, unroll, unroll_factor = 2 : i64}> ({
^bb0(%i : index):
}) : () -> ()

// -----

// expected-error @+1 {{expected a factor of 1 or more}}
opencl.for %i : 4 unroll 0 {
}

// -----

opencl.kernel @k(%A : !opencl.pointer<f64, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f64, global> -> vector<8xf64>
  %y = eltwise.constant 3.0 : f32
  // expected-error @+1 {{expected a vector of f32, got vector<8xf64>}}
  %q = opencl.divide %x by %y : vector<8xf64>
}

// -----

opencl.kernel @k() group [1, 1, 1] {
  %a = opencl.array 16 : !opencl.pointer<f32, private>
  // expected-error @+1 {{expected a pointer to global memory}}
  opencl.prefetch %a[0] : !opencl.pointer<f32, private>
}

// -----

// expected-error @+1 {{expected the native text to name 1 argument(s), from {0} on, got {1}}}
opencl.function @native(%x : f32) -> f32 native "return {0} + {1};" {
  opencl.return %x : f32
}

// -----

// expected-error @+1 {{expected a function that accumulates to have a last argument of type f32}}
opencl.function @accumulates(%x : f32, %n : si32) -> f32 accumulates add {
  opencl.return %x : f32
}

// -----

// expected-error @+1 {{expected the name of a macro, got 'a b'}}
opencl.function @needs(%x : f32) -> f32 native "return {0};" needs "a b" {
  opencl.return %x : f32
}

// -----

opencl.kernel @k(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 16
  // expected-error @+1 {{expected a vector at a multiple of its elements to be aligned, got vector<4xf32>}}
  %x = opencl.load aligned %A[4 * %i + 2] : !opencl.pointer<f32, global> -> vector<4xf32>
}

// -----

opencl.kernel @computed(%A : !opencl.pointer<f32, global>) group [4, 1, 1] {
  %t = opencl.array 4 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 4
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  %y = eltwise.add %x, %x : f32
  // expected-error @+1 {{expected what is stored asynchronously to be just loaded from global memory}}
  opencl.store asynchronous %y, %t[%i] : f32 -> !opencl.pointer<f32, local>
}
