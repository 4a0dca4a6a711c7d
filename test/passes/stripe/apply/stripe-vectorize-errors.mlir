// RUN: tile-opt %s -p stripe-vectorize --split-input-file --verify-diagnostics
// RUN: not tile-opt %s -p stripe-vectorize --split-input-file 2>&1 | filecheck %s

// An index that is bound to vectors, and cannot be.

func.func @condition(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  // CHECK: error: cannot make vectors along index '%j': a condition depends on it
  // CHECK: hint: 'stripe-separate' splits off where it holds
  // expected-error @+1 {{cannot make vectors along index '%j': a condition depends on it}}
  stripe.block [%i : 16, %j : 16 vector]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1
      where %i - %j >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x16xf32>
}

// -----

func.func @range(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  // CHECK: error: cannot make vectors along index '%j': its range 15 is no multiple of 2 or more lanes, and at most 16 fit into 512 bits
  // CHECK: hint: tile it by a power of two, or pad it
  // expected-error @+1 {{cannot make vectors along index '%j': its range 15 is no multiple of 2 or more lanes, and at most 16 fit into 512 bits}}
  stripe.block [%i : 16, %j : 15 vector]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x16xf32>
}

// -----

func.func @rows(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  // CHECK: error: cannot make vectors along index '%i': output '%O' does not step through its last axis by it
  // CHECK: hint: bind another index
  // expected-error @+1 {{cannot make vectors along index '%i': output '%O' does not step through its last axis by it}}
  stripe.block [%i : 16 vector, %j : 16]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x16xf32>
}

// -----

func.func @inner(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  // CHECK: error: cannot make vectors along index '%j': there are blocks inside
  // CHECK: hint: bind an index of the innermost block
  // expected-error @+1 {{cannot make vectors along index '%j': there are blocks inside}}
  stripe.block [%i : 16, %j : 16 vector]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    stripe.block []
        in %b = %a[0, 0] : 1x1
        out %p = %o[0, 0] : 1x1 {
      %x = stripe.load %b : !stripe.view<1x1xf32>
      stripe.store %x, %p : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<16x16xf32>
}

// -----

func.func @counted(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  // CHECK: error: cannot make vectors along index '%j': a statement has no form for vectors
  // CHECK: hint: bind another index
  // expected-error @+1 {{cannot make vectors along index '%j': a statement has no form for vectors}}
  stripe.block [%i : 16, %j : 16 vector]
      out %o = %O[%i, %j] : 1x1 {
    %x = eltwise.cast %j : index to f32
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x16xf32>
}

// -----

func.func @places(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  // CHECK: error: cannot make vectors along index '%j': the lanes would access places that are computed for each of them
  // CHECK: hint: bind an index that computed places do not depend on
  // expected-error @+1 {{cannot make vectors along index '%j': the lanes would access places that are computed}}
  stripe.block [%i : 16, %j : 16 vector]
      in %a = %A[%i, %j] : 1x1
      in %w = %A[0, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %n = eltwise.cast %x : f32 to si32
    %y = stripe.load %w[0, %n] : !stripe.view<1x1xf32> -> f32
    stripe.store %y, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x16xf32>
}

// -----

// An index of one value is none.
func.func @one(%A : !stripe.view<16x1xf32>) -> !stripe.view<16x1xf32> {
  %O = stripe.alloc : !stripe.view<16x1xf32>
  // CHECK: stripe.block [%i : 16, %j : 1]
  stripe.block [%i : 16, %j : 1 vector]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x1xf32>
}
