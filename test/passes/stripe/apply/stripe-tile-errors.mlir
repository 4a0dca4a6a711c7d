// RUN: tile-opt %s -p stripe-tile --split-input-file --verify-diagnostics

func.func @shared_cells(%A : !stripe.view<8xf32>) -> !stripe.view<11xf32> {
  %O = stripe.alloc : !stripe.view<11xf32>
  // expected-error @+1 {{expected an index that only aggregates to be whole at all levels of tiling but the innermost, got sizes [4, 4]}}
  stripe.block [%i : 8, %k : 4]
      in %a = %A[%i] : 1
      out %o = %O[%i + %k] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 0], tile [2, 0]>} {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<11xf32>
}

// -----

// `init` would set the cells between.
func.func @gaps(%A : !stripe.view<8x4xf32>) -> !stripe.view<16xf32> {
  %O = stripe.alloc : !stripe.view<16xf32>
  // expected-error @+1 {{cannot tile: the points of a tile leave gaps along axis 0 of an output that has 'init', with sizes [4, 4]}}
  stripe.block [%i : 8, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[2 * %i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 4]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<16xf32>
}

// -----

func.func @diagonal(%A : !stripe.view<8x4xf32>) -> !stripe.view<8x8xf32> {
  %O = stripe.alloc : !stripe.view<8x8xf32>
  // expected-error @+1 {{cannot tile: the points of a tile leave gaps along axis 0 of an output that has 'init', with sizes [2, 4]}}
  stripe.block [%i : 8, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i, %i] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [2, 4]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<8x8xf32>
}

// -----

// The last tile would set cells behind those of the points.
func.func @behind(%A : !stripe.view<6x4xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot tile: sizes [4, 4] do not divide the ranges [6, 4], and the last tile would set cells that no point reaches}}
  stripe.block [%i : 6, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 4]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

// Or those before.
func.func @before(%A : !stripe.view<6x4xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot tile: sizes [4, 4] do not divide the ranges [6, 4]}}
  stripe.block [%i : 6, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[7 - %i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 4]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

// Within an outer tile there are the cells of the next one.
func.func @next_tile(%A : !stripe.view<8x4xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot tile: sizes [4, 3] do not divide the ranges [4, 4]}}
  stripe.block [%i : 8, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 0], tile [3, 0]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// -----

// Where %i is small, there are cells behind the last tile along %j.
func.func @slanted(%A : !stripe.view<4x6xf32>) -> !stripe.view<4x9xf32> {
  %O = stripe.alloc : !stripe.view<4x9xf32>
  // expected-error @+1 {{cannot tile: sizes [1, 4] do not divide the ranges [4, 6]}}
  stripe.block [%i : 4, %j : 6]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %i + %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [1, 4]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x9xf32>
}
