// RUN: tile-opt %s -p 'stripe-instruct{hardware=cpu-avx512}' --split-input-file --verify-diagnostics
// RUN: not tile-opt %s -p 'stripe-instruct{hardware=cpu-avx512}' --split-input-file 2>&1 | filecheck %s

// CHECK: hint: did you mean 'fma_f32x16'?
func.func @name(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the hardware 'cpu-avx512' has no instruction 'fma_f32x8'}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x8">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

// CHECK: hint: it has fma_f32x16, dot_f32x4
func.func @plain(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the hardware 'cpu-avx512' tells no block of 'load'}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "load">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

// CHECK: hint: the description 'cpu-avx512' has its block
func.func @ranges(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: its ranges are [8], not [16]}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 8]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @aggregation(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: it aggregates by 'max', the instruction by 'add'}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 max {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @function(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: its statements differ from the instruction's, or their types}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.sub %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @subscripts(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: its statements differ from the instruction's, or their types}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1[0, 0] : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @accesses(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: in no order of its indices its accesses are the instruction's}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, %j] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @one_cell(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: in no order of its indices its accesses are the instruction's}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, 0] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

// CHECK: hint: tiles of sizes that divide the ranges leave none at borders
func.func @condition(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: its points have other conditions than the instruction's}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add
        where 14 - %j >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @condition_outside(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: its points have other conditions than the instruction's}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add
        where 14 - %i >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}

// -----

func.func @init(%A : !stripe.view<4x16xf32>, %B : !stripe.view<1x16xf32>) -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  // expected-error @+1 {{the innermost block is not what 'fma_f32x16' computes: it also sets its cells first, which a block around can do}}
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x16
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add init 0
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16]
        in %a_1 = %a[0, 0] : 1x1
        in %b_1 = %b[0, %j] : 1x1
        out %c_1 = %c[0, %j] : 1x1 add init 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %y, %x : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x16xf32>
}
