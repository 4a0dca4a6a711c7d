// RUN: tile-opt %s -p 'tile-specialize{arguments="4x32xf32","31x6xsi8"}' --split-input-file --verify-diagnostics

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  // expected-error @+1 {{size K is 32 in A but 31 in B}}
  %K_1, %N = tile.sizes %B ["K", "N"] : tensor<?x?x!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  // expected-error @+1 {{size N is 4 and 32 in A}}
  %N, %N_1 = tile.sizes %A ["N", "N"] : tensor<?x?x!eltwise.any>
  func.return
}

// -----

// expected-error @+1 {{expected 1 axis for B, got 2 (31x6xsi8)}}
func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x!eltwise.any>) {
  func.return
}

// -----

// expected-error @+1 {{expected elements of type f32 for B, got 31x6xsi8}}
func.func @main(%A : tensor<4x32xf32>, %B : tensor<31x6xf32>) {
  func.return
}

// -----

// expected-error @+1 {{expected size 30 for axis 0 of B, got 31x6xsi8}}
func.func @main(%A : tensor<4x32xf32>, %B : tensor<30x6xsi8>) {
  func.return
}

// -----

// expected-error @+1 {{expected 1 argument type (A), got 2}}
func.func @main(%A : tensor<?x?x!eltwise.any>) {
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %one = eltwise.constant 1 : index
  %0 = eltwise.sub %M, %K : index
  %1 = eltwise.add %0, %one : index
  // expected-error @+1 {{the size of axis 0 of O is negative: M - K + 1 = -27 (M = 4, K = 32)}}
  %O = tile.contract add over [i, j] %A[i, j] -> [i : %1]
      : (tensor<?x?x!eltwise.any>) -> tensor<?x!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  // expected-error @+1 {{'add' can not broadcast A of shape 4x32 and B of shape 31x6: sizes 4 and 31 of axis -2 do not match}}
  %C = eltwise.add %A, %B : tensor<?x?x!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  // expected-error @+1 {{'bit_and' takes integers, got f32}}
  %C = eltwise.bit_and %A, %B : tensor<?x?x!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  %big = eltwise.constant 300 : tensor<!eltwise.any>
  // expected-error @+1 {{300 does not fit the type si8 (-128 to 127) of what it is combined with}}
  %C = eltwise.add %B, %big : (tensor<?x?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x?x!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<*x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  // expected-error @+1 {{A has 2 axes (4x32), got 1 index}}
  %O = tile.contract add over [i] %A[i] -> []
      : (tensor<*x!eltwise.any>) -> tensor<!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %0 = eltwise.sub %K, %K : index
  // expected-error @+1 {{the index expression i / (K - K) divides by K - K = 0 (K = 32)}}
  %O = tile.contract add over [i, j] %A[i / %0, j] -> []
      : (tensor<?x?x!eltwise.any>) -> tensor<!eltwise.any>
  func.return
}

// -----

func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  // expected-error @+1 {{expected the default tensor to have the shape 4 of O, or one that broadcasts to it, got 4x32}}
  %O = tile.contract add over [i, j] %A[i, j] -> [i : 4] default %A
      : (tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<4x!eltwise.any>
  func.return
}

// -----

// Of so many elements neither a device nor NumPy can count the bytes.
func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  // expected-error @+1 {{O of shape 1152921504606846976x0 is too large: its sizes multiply to 2^60 or more}}
  %O = tile.contract add over [i, j] %A[i, j] -> [i : 1152921504606846976, j : 0]
      : (tensor<?x?x!eltwise.any>) -> tensor<1152921504606846976x0x!eltwise.any>
  func.return
}

// -----

// expected-error @unknown {{the module has no function @main, only @f}}
func.func @f(%A : tensor<?x?x!eltwise.any>) {
  func.return
}
