// RUN: tile-opt %s -p stripe-stage --split-input-file --verify-diagnostics

func.func @no_block(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot stage windows of block 1 of the nest: it has 1 block(s)}}
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 1 order [0] global>} {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

func.func @nothing_around(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot stage: there is no such block around the nest, or the input comes from a buffer inside it}}
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at -1 of 0 order [0] global>} {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

func.func @axes(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{expected an order of at most 1 axes to stage windows !stripe.view<1xf32>, got [1, 0]}}
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [1, 0] global>} {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

func.func @local_panels(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot stage into local memory in front of a top-level block}}
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] local>} {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

func.func @in_place() -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      out %o = %O[%i] : 1 {
    %0 = eltwise.constant 1 : f32
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  // expected-error @+1 {{cannot stage a buffer that the nest writes}}
  stripe.block [%i : 8]
      in %a = %O[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global>} {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}
