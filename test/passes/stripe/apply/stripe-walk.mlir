// RUN: tile-opt %s -p stripe-walk --split-input-file --verify-diagnostics | filecheck %s

// The maximum so far, and the sum for it: sums are made those for a new maximum.

func.func @sums(%S : !stripe.view<4x10xf32>) -> !stripe.view<4xf32> {
  %L = stripe.alloc : !stripe.view<4xf32>
  stripe.block "L" [%i : 2]
      in %s = %S[2 * %i, 0] : 2x10
      out %l = %L[2 * %i] : 2 {
    %M = stripe.alloc : !stripe.view<2xf32, private>
    %E = stripe.alloc : !stripe.view<2x10xf32, private>
    stripe.block [%q : 2, %k : 10]
        in %s_1 = %s[%q, %k] : 1x1
        out %m = %M[%q] : 1 max init -inf
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 4>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32>
      stripe.store %0, %m : !stripe.view<1xf32, private>
    }
    stripe.block [%q : 2, %k : 10]
        in %s_1 = %s[%q, %k] : 1x1
        in %m = %M[%q] : 1
        out %e = %E[%q, %k] : 1x1
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 4>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32>
      %1 = stripe.load %m : !stripe.view<1xf32, private>
      %2 = eltwise.sub %0, %1 : f32
      %3 = eltwise.exp %2 : f32
      stripe.store %3, %e : !stripe.view<1x1xf32, private>
    }
    stripe.block [%q : 2, %k : 10]
        in %e = %E[%q, %k] : 1x1
        out %l_1 = %l[%q] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 4>} {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      stripe.store %0, %l_1 : !stripe.view<1xf32>
    }
  }
  func.return %L : !stripe.view<4xf32>
}
// CHECK-LABEL: @sums
// CHECK:       stripe.block "L" [%i : 2]
// CHECK:         %L_1 = stripe.alloc : !stripe.view<2xf32, private>
// CHECK:         stripe.block serial [%k : 3]
// CHECK-NEXT:        in %s_1 = %s[0, 4 * %k] : 2x4
// CHECK-NEXT:        inout %m = %M[0] : 2
// CHECK-NEXT:        inout %l_1 = %L_1[0] : 2
// CHECK:           %E = stripe.alloc : !stripe.view<2x4xf32, private>
// CHECK:           %M_old = stripe.alloc
// CHECK:           stripe.block [%k_1 : 4, %q : 2]
// CHECK-NEXT:          in %s_2 = %s_1[%q, %k_1] : 1x1
// CHECK-NEXT:          out %m_1 = %m[%q] : 1 max
// CHECK-NEXT:          where -%k_1 - 4 * %k + 9 >= 0
// CHECK:           out %m_so_far_1 = %m_so_far[%e0] : 1 {
// CHECK:             eltwise.cmp_eq
// CHECK:             eltwise.cond
// CHECK:           out %m_so_far_factor_1 = %m_so_far_factor[%e0] : 1 {
// CHECK:             eltwise.exp
// CHECK:           in %m_1 = %m_so_far[%q] : 1
// CHECK:           out %l_3 = %l_1[%e0] : 1 {
// CHECK:             eltwise.mul
// CHECK:           out %l_2 = %l_1[%q] : 1 add
// CHECK:         %M_factor = stripe.alloc
// CHECK:           out %l_2 = %l[%e0] : 1 {

// -----

func.func @a_sum_that_others_need(%S : !stripe.view<2x10xf32>) -> !stripe.view<2xf32> {
  %L = stripe.alloc : !stripe.view<2xf32>
  // expected-error @+1 {{cannot walk over an index of these blocks: what it aggregates changes by no factor}}
  stripe.block "L" [%i : 1]
      in %s = %S[2 * %i, 0] : 2x10
      out %l = %L[2 * %i] : 2 {
    %M = stripe.alloc : !stripe.view<2xf32, private>
    stripe.block [%q : 2, %k : 10]
        in %s_1 = %s[%q, %k] : 1x1
        out %m = %M[%q] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 4>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32>
      stripe.store %0, %m : !stripe.view<1xf32, private>
    }
    stripe.block [%q : 2, %k : 10]
        in %s_1 = %s[%q, %k] : 1x1
        in %m = %M[%q] : 1
        out %l_1 = %l[%q] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 4>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32>
      %1 = stripe.load %m : !stripe.view<1xf32, private>
      %2 = eltwise.sub %0, %1 : f32
      %3 = eltwise.abs %2 : f32
      stripe.store %3, %l_1 : !stripe.view<1xf32>
    }
  }
  func.return %L : !stripe.view<2xf32>
}

// -----

func.func @steps_of_several_sizes(%S : !stripe.view<2x10xf32>) -> !stripe.view<2xf32> {
  %L = stripe.alloc : !stripe.view<2xf32>
  // expected-error @+1 {{cannot walk in steps of several sizes, [4, 5]}}
  stripe.block "L" [%i : 1]
      in %s = %S[2 * %i, 0] : 2x10
      out %l = %L[2 * %i] : 2 {
    %E = stripe.alloc : !stripe.view<2x10xf32, private>
    stripe.block [%q : 2, %k : 10]
        in %s_1 = %s[%q, %k] : 1x1
        out %e = %E[%q, %k] : 1x1
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 5>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32>
      stripe.store %0, %e : !stripe.view<1x1xf32, private>
    }
    stripe.block [%q : 2, %k : 10]
        in %e = %E[%q, %k] : 1x1
        out %l_1 = %l[%q] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 4>} {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      stripe.store %0, %l_1 : !stripe.view<1xf32>
    }
  }
  func.return %L : !stripe.view<2xf32>
}

// -----

func.func @no_step(%S : !stripe.view<2x10xf32>) -> !stripe.view<2xf32> {
  %L = stripe.alloc : !stripe.view<2xf32>
  stripe.block "L" [%i : 1]
      in %s = %S[2 * %i, 0] : 2x10
      out %l = %L[2 * %i] : 2 {
    // expected-error @+1 {{expected a step of a walk over 10 values to have 1 to 9 of them, got 10}}
    stripe.block [%q : 2, %k : 10]
        in %s_1 = %s[%q, %k] : 1x1
        out %l_1 = %l[%q] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<walk 1 by 10>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32>
      stripe.store %0, %l_1 : !stripe.view<1xf32>
    }
  }
  func.return %L : !stripe.view<2xf32>
}
