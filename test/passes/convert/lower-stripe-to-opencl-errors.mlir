// RUN: tile-opt %s -p lower-stripe-to-opencl --split-input-file --verify-diagnostics

// Two work-groups would add to one cell.
func.func @main(%A : !stripe.view<8x4xf32>) -> !stripe.view<4xf32> {
  %C = stripe.alloc : !stripe.view<4xf32>
  // expected-error @+1 {{work-items with different 'i' may write the same cell of output 'C'}}
  stripe.block "sum" [%i : 8 grid, %j : 4 grid]
      in %a = %A[%i, %j] : 1x1
      out %c = %C[%j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<4xf32>
}

// -----

// Windows that overlap.
func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<11xf32> {
  %C = stripe.alloc : !stripe.view<11xf32>
  // expected-error @+1 {{work-items with different 'i' may write the same cell of output 'C'}}
  stripe.block "sum" [%i : 8 grid, %j : 4]
      in %a = %A[%i] : 1
      out %c = %C[%i + %j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<11xf32>
}

// -----

// One work-item would set to 0 what another has written.
func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{work-items with different 'i' may write the same cell}}
  stripe.block "pick" [%i : 8 grid, %j : 8]
      in %a = %A[%j] : 1
      out %c = %C[%j] : 1 init 0
      where %i - %j >= 0, %j - %i >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8 grid]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 {
    // expected-error @+1 {{cannot bind index '%j' to 'grid': the block is inside of another one}}
    stripe.block [%j : 1 grid]
        in %b = %a[0] : 1
        out %d = %c[0] : 1 {
      %x = stripe.load %b : !stripe.view<1xf32>
      stripe.store %x, %d : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8 grid]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 {
    // expected-error @+1 {{a block allocates global memory}}
    %t = stripe.alloc : !stripe.view<4xf32>
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8 group]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 {
    // expected-error @+1 {{the work-items of a group share local memory}}
    %t = stripe.alloc : !stripe.view<4xf32, local>
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32, private> {
  // expected-error @+1 {{a function allocates private memory}}
  %C = stripe.alloc : !stripe.view<8xf32, private>
  func.return %C : !stripe.view<8xf32, private>
}

// -----

func.func @main(%A : !stripe.view<8xsi32>) -> !stripe.view<8xsi32> {
  %C = stripe.alloc : !stripe.view<8xsi32>
  // expected-error @+1 {{expected an integer to initialize si32, got 0.5}}
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 add init 0.5 {
    %x = stripe.load %a : !stripe.view<1xsi32>
    stripe.store %x, %c : !stripe.view<1xsi32>
  }
  func.return %C : !stripe.view<8xsi32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  // expected-error @+1 {{'eltwise.constant' has no form in a host program}}
  %0 = eltwise.constant 1 : f32
  func.return %A : !stripe.view<8xf32>
}

// -----

// Subscripts may choose any cell of the window.
func.func @main(%P : !stripe.view<8xsi32>) -> !stripe.view<4xsi32> {
  %C = stripe.alloc : !stripe.view<4xsi32>
  // expected-error @+1 {{work-items with different 'i' may write the same cell of output 'C'}}
  stripe.block [%i : 8 grid]
      in %p = %P[%i] : 1
      out %c = %C[0] : 4 add {
    %x = stripe.load %p : !stripe.view<1xsi32>
    stripe.store %x, %c[%x] : !stripe.view<4xsi32>
  }
  func.return %C : !stripe.view<4xsi32>
}

// -----

func.func @main(%A : !stripe.view<4x2xf32>) -> !stripe.view<8xf32> {
  %B = stripe.reshape %A : !stripe.view<4x2xf32> to !stripe.view<8xf32>
  // expected-error @+1 {{a result is an input under another shape: !stripe.view<8xf32> of !stripe.view<4x2xf32>}}
  func.return %B : !stripe.view<8xf32>
}

// -----

func.func @main() -> (!stripe.view<8xf32>, !stripe.view<4x2xf32>) {
  %A = stripe.alloc : !stripe.view<8xf32>
  %B = stripe.reshape %A : !stripe.view<8xf32> to !stripe.view<4x2xf32>
  // expected-error @+1 {{a result is another result under another shape: !stripe.view<4x2xf32> of !stripe.view<8xf32>}}
  func.return %A, %B : !stripe.view<8xf32>, !stripe.view<4x2xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{nothing has made vectors of index '%i', which is bound to 'vector'}}
  stripe.block [%i : 8 vector]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}
