// RUN: tile-opt %s -p 'stripe-instruct{hardware=cpu-avx512}' --validate-each | filecheck %s
// RUN: tile-opt %s -p 'stripe-instruct{hardware=cpu-avx512}' --validate-each --validate-entry=column
// RUN: tile-opt %s -p 'stripe-instruct{hardware=cpu-avx512},lower-stripe-to-opencl' --validate-each | filecheck %s --check-prefix=KERNEL
// RUN: tile-opt %s -p 'stripe-instruct{hardware=cpu-avx512},lower-stripe-to-opencl' -t opencl | filecheck %s --check-prefix=SOURCE

// The function is there once, its meaning in vectors where points are lanes.
// CHECK:      opencl.function @fma_f32x16(%A: f32, %B: vector<16xf32>, %C: vector<16xf32>) -> vector<16xf32> accumulates add native "return fma((float16)({0}), {1}, {2});" {
// CHECK-NEXT:   %0 = eltwise.broadcast %A : f32 to vector<16xf32>
// CHECK-NEXT:   %1 = eltwise.mul %0, %B : vector<16xf32>
// CHECK-NEXT:   %2 = eltwise.add %C, %1 : vector<16xf32>
// CHECK-NEXT:   opencl.return %2 : vector<16xf32>
// CHECK-NOT:  opencl.function
// CHECK-LABEL: @main
// CHECK:        stripe.block "C" [%i : 4]
// CHECK:            attributes {stripe.scheduled = #stripe.schedule<instruction "fma_f32x16">} {
// CHECK-NEXT:     %0 = stripe.load %a : !stripe.view<1x1xf32>
// CHECK-NEXT:     %1 = stripe.load %b : !stripe.view<1x16xf32>
// CHECK-NEXT:     %2 = eltwise.constant 0 : vector<16xf32>
// CHECK-NEXT:     %3 = opencl.call @fma_f32x16(%0, %1, %2)
// CHECK-NEXT:     stripe.store %3, %c : !stripe.view<1x16xf32>
// CHECK-NEXT:   }

// What was there is handed on, and nothing is added to it behind.
// KERNEL-LABEL: opencl.kernel @C
// KERNEL:           %C_1 = opencl.load %C[16 * %i]
// KERNEL-NEXT:      %2 = opencl.call @fma_f32x16(%0, %1, %C_1)
// KERNEL-NEXT:      opencl.store %2, %C[16 * %i]

// SOURCE: float16 fma_f32x16(float A, float16 B, float16 C) {
// SOURCE-NEXT: return fma((float16)(A), B, C);
func.func @main(%A : !stripe.view<4x1xf32>, %B : !stripe.view<1x16xf32>, %D : !stripe.view<4x16xf32>)
    -> !stripe.view<4x16xf32> {
  %C = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block [%i : 4, %j : 16]
      in %d = %D[%i, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 {
    %x = stripe.load %d : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  stripe.block "C" [%i : 4]
      in %a = %A[%i, 0] : 1x1
      in %b = %B[0, 0] : 1x16
      out %c = %C[%i, 0] : 1x16 add
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
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

// Cells that are no neighbours are loaded and stored one by one, windows that run
// backwards begin at their least cell, and indices of one value are passed over.
// CHECK-LABEL: @column
// CHECK:        stripe.block "C" [%one : 1]
// CHECK:          %0 = stripe.load %a : !stripe.view<1xf32>
// CHECK-NEXT:     %1 = stripe.load %b[15] : !stripe.view<16xf32>
// CHECK-NEXT:     %2 = stripe.load %b[14] : !stripe.view<16xf32>
// CHECK:          %17 = eltwise.shuffle %1, %2,
// CHECK:          %19 = opencl.call @fma_f32x16(%0, %17, %18)
// CHECK-NEXT:     %20 = eltwise.shuffle %19 [0] : (vector<16xf32>) -> f32
// CHECK-NEXT:     stripe.store %20, %c[0, 0] : !stripe.view<16x1xf32>
// CHECK:          stripe.store %35, %c[15, 0] : !stripe.view<16x1xf32>
func.func @column(%A : !stripe.view<1xf32>, %B : !stripe.view<16xf32>) -> !stripe.view<16x4xf32> {
  %C = stripe.alloc : !stripe.view<16x4xf32>
  stripe.block [%i : 16, %j : 4]
      out %c = %C[%i, %j] : 1x1 {
    %x = eltwise.constant 1 : f32
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  stripe.block "C" [%one : 1]
      in %a = %A[0] : 1
      in %b = %B[0] : 16
      out %c = %C[0, 3] : 16x1 add
      attributes {stripe.schedule = #stripe.schedule<instruction "fma_f32x16">} {
    stripe.block [%j : 16, %one_1 : 1]
        in %a_1 = %a[0] : 1
        in %b_1 = %b[15 - %j] : 1
        out %c_1 = %c[%j, 0] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      %y = stripe.load %b_1 : !stripe.view<1xf32>
      %z = eltwise.mul %x, %y : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<16x4xf32>
}
