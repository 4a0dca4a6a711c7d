// RUN: tile-opt %s --split-input-file --verify-diagnostics -p stripe-fuse-epilogues

// What is read before somebody else reads it, too, must be stored.
func.func @shared(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>) {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "C" [%i : 8]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  %R = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot be an epilogue: no block before it has each cell that it reads, one by one, for it alone}}
  stripe.block "R" [%i : 8]
      in %c = %C[%i] : 1
      out %r = %R[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<epilogue>} {
    %x = stripe.load %c : !stripe.view<1xf32>
    stripe.store %x, %r : !stripe.view<1xf32>
  }
  func.return %C, %R : !stripe.view<8xf32>, !stripe.view<8xf32>
}

// -----

// Rows that are read as columns are no epilogue.
func.func @turned(%A : !stripe.view<8x8xf32>) -> !stripe.view<8x8xf32> {
  %C = stripe.alloc : !stripe.view<8x8xf32>
  stripe.block "C" [%i : 8, %j : 8]
      in %a = %A[%i, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  %R = stripe.alloc : !stripe.view<8x8xf32>
  // expected-error @+1 {{cannot be an epilogue: no block before it has each cell}}
  stripe.block "R" [%i : 8, %j : 8]
      in %c = %C[%i, %j] : 1x1
      out %r = %R[%j, %i] : 1x1
      attributes {stripe.schedule = #stripe.schedule<epilogue>} {
    %x = stripe.load %c : !stripe.view<1x1xf32>
    stripe.store %x, %r : !stripe.view<1x1xf32>
  }
  func.return %R : !stripe.view<8x8xf32>
}

// -----

func.func @stored(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "C" [%i : 8]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  %R = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot be an epilogue: the block before does not collect the cells in registers of work-items}}
  stripe.block "R" [%i : 8]
      in %c = %C[%i] : 1
      out %r = %R[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<epilogue>} {
    %x = stripe.load %c : !stripe.view<1xf32>
    stripe.store %x, %r : !stripe.view<1xf32>
  }
  func.return %R : !stripe.view<8xf32>
}
