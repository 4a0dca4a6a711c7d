// RUN: tile-opt %s -p stripe-plan-layout | filecheck %s
// RUN: tile-opt %s -p 'stripe-plan-layout{bits=32}' | filecheck %s --check-prefix=SCALAR
// RUN: tile-opt %s -p 'stripe-plan-layout{worth=100000}' | filecheck %s --check-prefix=SCALAR
// RUN: tile-opt %s -p 'stripe-plan-layout{parallelism=100000}' | filecheck %s --check-prefix=SCALAR
// RUN: not tile-opt %s -p 'stripe-plan-layout{bits=48}' 2>&1 | filecheck %s --check-prefix=BITS

// BITS: error: vector_bits: expected a power of two from 32 on, got 48

// Vectors along %y would collect every second number: channels go last. Without vectors
// that is no gain, nor is it looked at where arithmetic is nearly all of the time, or
// where rows are left to be cut.
// CHECK-LABEL: func.func @channels_first
// CHECK: out %v = %O[%o, %x, %y] : 1x1x1 add init 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<output order [1, 2, 0] because "{{.*}} with a copy, {{.*}} without">} {
// SCALAR-LABEL: func.func @channels_first
// SCALAR-NOT: output order
func.func @channels_first(
    %I : !stripe.view<64x27x27xf32>, %K : !stripe.view<64x64x3x3xf32>
) -> !stripe.view<64x13x13xf32> {
  %O = stripe.alloc : !stripe.view<64x13x13xf32>
  stripe.block "O" [%o : 64, %x : 13, %y : 13, %c : 64, %k : 3, %l : 3]
      in %i = %I[%c, 2 * %x + %k, 2 * %y + %l] : 1x1x1
      in %w = %K[%o, %c, %k, %l] : 1x1x1x1
      out %v = %O[%o, %x, %y] : 1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %v : !stripe.view<1x1x1xf32>
  }
  func.return %O : !stripe.view<64x13x13xf32>
}

// Left alone: vectors run well as it is, no other index is as long as a vector, and
// what is set and not aggregated.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: output order
func.func @alone(
    %A : !stripe.view<64x96xf32>, %B : !stripe.view<96x64xf32>, %S : !stripe.view<6x99x9xf32>
) -> (!stripe.view<64x64xf32>, !stripe.view<6x9xf32>, !stripe.view<64x96xf32>) {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block [%i : 64, %j : 64, %k : 96]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  %T = stripe.alloc : !stripe.view<6x9xf32>
  stripe.block [%i : 6, %j : 9, %k : 99]
      in %s = %S[%i, %k, %j] : 1x1x1
      out %t = %T[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %s : !stripe.view<1x1x1xf32>
    stripe.store %0, %t : !stripe.view<1x1xf32>
  }
  %U = stripe.alloc : !stripe.view<64x96xf32>
  stripe.block [%i : 64, %j : 96]
      in %b = %B[%j, %i] : 1x1
      out %u = %U[%i, %j] : 1x1 {
    %0 = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %0, %u : !stripe.view<1x1xf32>
  }
  func.return %C, %T, %U : !stripe.view<64x64xf32>, !stripe.view<6x9xf32>, !stripe.view<64x96xf32>
}
