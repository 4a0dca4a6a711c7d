// RUN: tile-opt %s -p stripe-fuse-nests --split-input-file --verify-diagnostics

// A sum that goes over the shared index.
func.func @reduction(%X : !stripe.view<4x8xf32>) -> !stripe.view<8xf32> {
  %S = stripe.alloc : !stripe.view<8xf32>
  %Y = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot fuse the block: different 'm' may write the same cell}}
  stripe.block [%m : 4, %n : 8]
      in %x = %X[%m, %n] : 1x1
      out %s = %S[%n] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<8xf32>
}

// -----

// What the neighbour wrote.
func.func @neighbour(%X : !stripe.view<9xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<9xf32>
  %Y = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %x = %X[%i] : 1
      out %t = %T[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  // expected-error @+1 {{it uses cells of 'T' that belong to other points}}
  stripe.block [%i : 8]
      in %t = %T[%i + 1] : 1
      out %y = %Y[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %y : !stripe.view<1xf32>
  }
  func.return %Y : !stripe.view<8xf32>
}

// -----

func.func @between(%X : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<8xf32>
  %U = stripe.alloc : !stripe.view<8xf32>
  %Y = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %x = %X[%i] : 1
      out %t = %T[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2]]>} {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  stripe.block [%i : 8]
      in %t = %T[-%i + 7] : 1
      out %u = %U[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  // expected-error @+1 {{a statement between the members depends on one and is needed by this one}}
  stripe.block [%i : 8]
      in %t = %T[%i] : 1
      in %u = %U[%i] : 1
      out %y = %Y[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2]]>} {
    %0 = stripe.load %t : !stripe.view<1xf32>
    %1 = stripe.load %u : !stripe.view<1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1xf32>
  }
  func.return %Y : !stripe.view<8xf32>
}

// -----

func.func @ranges(%X : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<8xf32>
  %Y = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %x = %X[%i] : 1
      out %t = %T[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2]]>} {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  // expected-error @+1 {{expected shared indices of ranges [8], got [7]}}
  stripe.block [%i : 7]
      in %t = %T[%i] : 1
      out %y = %Y[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2]]>} {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %y : !stripe.view<1xf32>
  }
  func.return %Y : !stripe.view<8xf32>
}

// -----

func.func @tiles(%X : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<8xf32>
  %Y = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %x = %X[%i] : 1
      out %t = %T[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2]]>} {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  // expected-error @+1 {{expected the tiles of all members to be the same}}
  stripe.block [%i : 8]
      in %t = %T[%i] : 1
      out %y = %Y[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[4]]>} {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %y : !stripe.view<1xf32>
  }
  func.return %Y : !stripe.view<8xf32>
}

// -----

func.func @merge(%X : !stripe.view<8x9xf32>) -> !stripe.view<8x8xf32> {
  %Y = stripe.alloc : !stripe.view<8x8xf32>
  // expected-error @+1 {{indices 0 and 1 are not one in all buffers}}
  stripe.block [%i : 8, %j : 8]
      in %x = %X[%i, %j] : 1x1
      out %y = %Y[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [[0, 1]] tiles [[2]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %y : !stripe.view<1x1xf32>
  }
  func.return %Y : !stripe.view<8x8xf32>
}

// -----

func.func @serial(%X : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %Y = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot fuse the block: its points run one after the other}}
  stripe.block serial [%i : 8]
      in %x = %X[%i] : 1
      out %y = %Y[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2]]>} {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %y : !stripe.view<1xf32>
  }
  func.return %Y : !stripe.view<8xf32>
}
