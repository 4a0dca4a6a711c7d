// RUN: tile-opt %s --split-input-file -p 'stripe-pad,stripe-tile,stripe-stage{fills=true},stripe-collect-outputs,stripe-drop-constraints' | filecheck %s

// Rows beyond the end are never read, and beyond the end of the sum both factors are 0:
// only what is copied and what is stored is tested.
// CHECK-LABEL: func.func @product
// CHECK:      stripe.block [%k : 4]
// CHECK:      in %from = %a_1[2 * %i_1 + %w0, %w1] : 1x1
// CHECK:      where -2 * %i_1 - %w0 - 8 * %i + 19 >= 0, -%w1 - 4 * %k + 12 >= 0
// CHECK:      in %from = %b_1[%w0, 2 * %j_1 + %w1] : 1x1
// CHECK:      where
// CHECK:      in %a_2 = %a_stage
// CHECK-NOT:  where
// CHECK:      in %from = %c_acc[%e0, %e1] : 1x1
// CHECK-NEXT: out %to = %c[%e0, %e1] : 1x1
// CHECK-NEXT: where {{.*}} >= 0, {{.*}} >= 0
func.func @product(%A : !stripe.view<20x13xf32>, %B : !stripe.view<13x18xf32>) -> !stripe.view<20x18xf32> {
  %C = stripe.alloc : !stripe.view<20x18xf32>
  stripe.block "C" [%i : 20, %j : 18, %k : 13]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [8, 8, 4], tile [2, 2, 4] bind [group, group, _],
        pad [8, 8, 4],
        stage input 0 at 2 of 2 order [1, 0] local, stage input 1 at 2 of 2 order [0, 1] local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<20x18xf32>
}

// -----

// 0 is no identity of a maximum: the end of what is aggregated is tested.
// CHECK-LABEL: func.func @largest
// CHECK:      in %a_2 = %a_stage
// CHECK:      where -%k_1 - 4 * %k + 12 >= 0 {
// CHECK:      in %from = %c_acc
func.func @largest(%A : !stripe.view<20x13xf32>, %B : !stripe.view<13x18xf32>) -> !stripe.view<20x18xf32> {
  %C = stripe.alloc : !stripe.view<20x18xf32>
  stripe.block "C" [%i : 20, %j : 18, %k : 13]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 max init -inf
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [8, 8, 4], tile [2, 2, 4] bind [group, group, _],
        pad [8, 8, 4],
        stage input 0 at 2 of 2 order [1, 0] local, stage input 1 at 2 of 2 order [0, 1] local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<20x18xf32>
}

// -----

// At the border of an image the weights are no zeros, and may be infinite; what is done
// in one step is not computed again.
// CHECK-LABEL: func.func @border
// CHECK:      in %x_1 = %x_stage
// CHECK:      where %s + %y_2 + 2 * %y_1 + 8 * %y - 1 >= 0, -%s - %y_2
func.func @border(%X : !stripe.view<16xf32>, %W : !stripe.view<3x8xf32>) -> !stripe.view<16x8xf32> {
  %O = stripe.alloc : !stripe.view<16x8xf32>
  stripe.block "O" [%y : 16, %d : 8, %s : 3]
      in %x = %X[%y + %s - 1] : 1
      in %w = %W[%s, %d] : 1x1
      out %o = %O[%y, %d] : 1x1 add init 0
      where %y + %s - 1 >= 0, -%y - %s + 16 >= 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [2, 2, 0] bind [group, group, _],
        stage input 0 at 1 of 1 order [0] local, stage input 1 at 1 of 1 order [0, 1] local>} {
    %p = stripe.load %x : !stripe.view<1xf32>
    %q = stripe.load %w : !stripe.view<1x1xf32>
    %z = eltwise.mul %p, %q : f32
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x8xf32>
}

// -----

// Of several steps the sums at the border are of zeros and weights, unless what comes out
// is no number: then they are computed again, from memory, under the conditions.
// CHECK-LABEL: func.func @steps
// CHECK:      stripe.block [%s : 3]
// CHECK-NEXT: in %x_1 = %x[%s] : 8
// CHECK:      eltwise.constant 0 : f32
// CHECK:      eltwise.constant 0 : f32
// CHECK:      stripe.block [%y_2 : 2, %d_1 : 2]
// CHECK-NEXT: in %x_3 = %x_2[0, %y_2] : 1x1
// CHECK-NEXT: in %w_3 = %w_2[0, 0, %d_1] : 1x1x1
// CHECK-NEXT: out %o_3 = %o_2[%y_2, %d_1] : 1x1 add {
// CHECK:      stripe.block []
// CHECK-NEXT: in %x_1 = %x[0] : 10
// CHECK-NEXT: in %w_1 = %w[0, 0] : 3x8
// CHECK-NEXT: out %o_acc_1 = %o_acc[0, 0] : 8x8
// CHECK-NEXT: attributes {stripe.unless_numbers} {
// CHECK-NEXT:   stripe.block [%e0 : 8, %e1 : 8]
// CHECK-NEXT:   out %cell = %o_acc_1[%e0, %e1] : 1x1 {
// CHECK:        stripe.block [%s : 3]
// CHECK-NEXT:   in %x_2 = %x_1[%s] : 8
// CHECK-NEXT:   in %w_2 = %w_1[%s, 0] : 1x8
// CHECK-NEXT:   out %o_1 = %o_acc_1[0, 0] : 8x8 add {
// CHECK-NEXT:     stripe.block [%y_1 : 4 group, %d : 4 group]
// CHECK:            stripe.block [%y_2 : 2, %d_1 : 2]
// CHECK-NEXT:       in %x_4 = %x_3[%y_2 + 2 * %y_1] : 1
// CHECK-NEXT:       in %w_4 = %w_3[0, %d_1 + 2 * %d] : 1x1
// CHECK-NEXT:       out %o_3 = %o_2[%y_2, %d_1] : 1x1 add
// CHECK-NEXT:       where {{.*}} >= 0, {{.*}} >= 0
func.func @steps(%X : !stripe.view<16xf32>, %W : !stripe.view<3x8xf32>) -> !stripe.view<16x8xf32> {
  %O = stripe.alloc : !stripe.view<16x8xf32>
  stripe.block "O" [%y : 16, %d : 8, %s : 3]
      in %x = %X[%y + %s - 1] : 1
      in %w = %W[%s, %d] : 1x1
      out %o = %O[%y, %d] : 1x1 add init 0
      where %y + %s - 1 >= 0, -%y - %s + 16 >= 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [8, 8, 1], tile [2, 2, 1] bind [group, group, _],
        stage input 0 at 2 of 2 order [0] local, stage input 1 at 2 of 2 order [0, 1] local>} {
    %p = stripe.load %x : !stripe.view<1xf32>
    %q = stripe.load %w : !stripe.view<1x1xf32>
    %z = eltwise.mul %p, %q : f32
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x8xf32>
}

// -----

// Rows beyond the end stay there from block to block: what copies them tests for the end,
// the others do not, nor what hands them on. What adds up rows does.
// CHECK-LABEL: func.func @rows
// CHECK:      where %w0 + 8 * %i - 20 >= 0
// CHECK:      where -%w0 - 8 * %i + 19 >= 0
// CHECK:      out %s_1 = %s[%r] : 1 add init 0 {
// CHECK:      out %d_1 = %d[%r] : 1 {
// CHECK:      out %e_1 = %e[%r, %k] : 1x1 {
// CHECK:      out %t_1 = %t[0, %k] : 1x1 add init 0
// CHECK-NEXT: where -%r - 8 * %i + 19 >= 0
// CHECK:      out %o_1 = %o[%r, %k] : 1x1
// CHECK-NEXT: where -%r - 8 * %i + 19 >= 0
func.func @rows(%A : !stripe.view<20x4xf32>) -> (!stripe.view<20x4xf32>, !stripe.view<3x4xf32>) {
  %O = stripe.alloc : !stripe.view<20x4xf32>
  %T = stripe.alloc : !stripe.view<3x4xf32>
  stripe.block "O" [%i : 3 grid]
      in %a = %A[8 * %i, 0] : 8x4
      out %o = %O[8 * %i, 0] : 8x4
      out %t = %T[%i, 0] : 1x4 {
    %x = stripe.alloc : !stripe.view<8x4xf32, local>
    stripe.block [%w0 : 8, %w1 : 4]
        out %to = %x[%w0, %w1] : 1x1
        where %w0 + 8 * %i - 20 >= 0 {
      %0 = eltwise.constant 0 : f32
      stripe.store %0, %to : !stripe.view<1x1xf32, local>
    }
    stripe.block [%w0 : 8, %w1 : 4]
        in %from = %a[%w0, %w1] : 1x1
        out %to = %x[%w0, %w1] : 1x1
        where -%w0 - 8 * %i + 19 >= 0 {
      %0 = stripe.load %from : !stripe.view<1x1xf32>
      stripe.store %0, %to : !stripe.view<1x1xf32, local>
    }
    %s = stripe.alloc : !stripe.view<8xf32, local>
    stripe.block [%r : 8 group, %k : 4]
        in %x_1 = %x[%r, %k] : 1x1
        out %s_1 = %s[%r] : 1 add init 0
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32, local>
      stripe.store %0, %s_1 : !stripe.view<1xf32, local>
    }
    %d = stripe.alloc : !stripe.view<8xf32, local>
    stripe.block [%r : 8 group]
        in %s_1 = %s[%r] : 1
        out %d_1 = %d[%r] : 1 {
      %0 = stripe.load %s_1 : !stripe.view<1xf32, local>
      %1 = eltwise.add %0, %0 : f32
      stripe.store %1, %d_1 : !stripe.view<1xf32, local>
    }
    %e = stripe.alloc : !stripe.view<8x4xf32, local>
    stripe.block [%r : 8 group, %k : 4]
        in %x_1 = %x[%r, %k] : 1x1
        in %d_1 = %d[%r] : 1
        out %e_1 = %e[%r, %k] : 1x1
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32, local>
      %1 = stripe.load %d_1 : !stripe.view<1xf32, local>
      %2 = eltwise.div %0, %1 : f32
      stripe.store %2, %e_1 : !stripe.view<1x1xf32, local>
    }
    stripe.block [%k : 4 group, %r : 8]
        in %e_1 = %e[%r, %k] : 1x1
        out %t_1 = %t[0, %k] : 1x1 add init 0
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %e_1 : !stripe.view<1x1xf32, local>
      stripe.store %0, %t_1 : !stripe.view<1x1xf32>
    }
    stripe.block [%r : 8 group, %k : 4]
        in %e_1 = %e[%r, %k] : 1x1
        out %o_1 = %o[%r, %k] : 1x1
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %e_1 : !stripe.view<1x1xf32, local>
      stripe.store %0, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O, %T : !stripe.view<20x4xf32>, !stripe.view<3x4xf32>
}

// -----

// Rows that are stored behind the nest are no rows beyond it, whatever room there is; and
// of a test for rows and one for columns with the same limit none is taken for the other.
// CHECK-LABEL: func.func @square
// CHECK:      out %y_1 = %y[%r, %k] : 1x1
// CHECK-NEXT: where -%r + 5 >= 0, -%k + 5 >= 0
// CHECK:      out %t = %T_1[%r, %k] : 1x1
// CHECK-NEXT: where -%r + 5 >= 0
func.func @square(%A : !stripe.view<24x8xf32>) -> !stripe.view<24x8xf32> {
  %T = stripe.alloc : !stripe.view<24x8xf32>
  stripe.block "T" [%i : 3 grid]
      in %a = %A[8 * %i, 0] : 8x8
      out %T_1 = %T[8 * %i, 0] : 8x8 {
    %x = stripe.alloc : !stripe.view<8x8xf32, local>
    stripe.block [%w0 : 8, %w1 : 8]
        in %from = %a[%w0, %w1] : 1x1
        out %to = %x[%w0, %w1] : 1x1 {
      %0 = stripe.load %from : !stripe.view<1x1xf32>
      stripe.store %0, %to : !stripe.view<1x1xf32, local>
    }
    %y = stripe.alloc : !stripe.view<8x8xf32, local>
    stripe.block [%r : 8 group, %k : 8]
        in %x_1 = %x[%r, %k] : 1x1
        out %y_1 = %y[%r, %k] : 1x1
        where -%r + 5 >= 0, -%k + 5 >= 0 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32, local>
      stripe.store %0, %y_1 : !stripe.view<1x1xf32, local>
    }
    stripe.block [%r : 8 group, %k : 8]
        in %y_1 = %y[%r, %k] : 1x1
        out %t = %T_1[%r, %k] : 1x1
        where -%r + 5 >= 0 {
      %0 = stripe.load %y_1 : !stripe.view<1x1xf32, local>
      stripe.store %0, %t : !stripe.view<1x1xf32>
    }
  }
  func.return %T : !stripe.view<24x8xf32>
}

// -----

// What is computed in place, of rows of which only those that there are have been set,
// is computed of no others.
// CHECK-LABEL: func.func @in_place
// CHECK:      out %x_1 = %x[%r] : 1
// CHECK-NEXT: where -%r - 8 * %i + 19 >= 0
// CHECK:      out %x_2 = %x[%r] : 1
// CHECK-NEXT: where -%r - 8 * %i + 19 >= 0
func.func @in_place(%A : !stripe.view<20xf32>) -> !stripe.view<20xf32> {
  %O = stripe.alloc : !stripe.view<20xf32>
  stripe.block "O" [%i : 3 grid]
      in %a = %A[8 * %i] : 8
      out %o = %O[8 * %i] : 8 {
    %x = stripe.alloc : !stripe.view<8xf32, local>
    stripe.block [%r : 8 group]
        in %a_1 = %a[%r] : 1
        out %x_1 = %x[%r] : 1
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %0, %x_1 : !stripe.view<1xf32, local>
    }
    stripe.block [%r : 8 group]
        in %x_1 = %x[%r] : 1
        out %x_2 = %x[%r] : 1
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %x_1 : !stripe.view<1xf32, local>
      %1 = eltwise.exp %0 : f32
      stripe.store %1, %x_2 : !stripe.view<1xf32, local>
    }
    stripe.block [%r : 8 group]
        in %x_1 = %x[%r] : 1
        out %o_1 = %o[%r] : 1
        where -%r - 8 * %i + 19 >= 0 {
      %0 = stripe.load %x_1 : !stripe.view<1xf32, local>
      stripe.store %0, %o_1 : !stripe.view<1xf32>
    }
  }
  func.return %O : !stripe.view<20xf32>
}

// -----

// What goes on to cells that nobody reads is as good as never read.
// CHECK-LABEL: func.func @apart
// CHECK:      in %a_2 = %a_stage
// CHECK-NOT:  where
// CHECK:      in %from = %c_acc[%e0, %e1] : 1x1
// CHECK-NEXT: out %to = %c[%e0, %e1] : 1x1 {
// CHECK:      stripe.block "D"
func.func @apart(%A : !stripe.view<16x13xf32>, %B : !stripe.view<13x13xf32>) -> !stripe.view<16x13xf32> {
  %C = stripe.alloc : !stripe.view<16x16xf32>
  stripe.block "C" [%i : 16, %j : 13, %k : 13]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [8, 8, 4], tile [2, 2, 4] bind [group, group, _],
        pad [8, 8, 4],
        stage input 0 at 2 of 2 order [1, 0] local, stage input 1 at 2 of 2 order [0, 1] local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  %D = stripe.alloc : !stripe.view<16x13xf32>
  stripe.block "D" [%i : 16, %j : 13]
      in %c = %C[%i, %j] : 1x1
      out %d = %D[%i, %j] : 1x1 {
    %x = stripe.load %c : !stripe.view<1x1xf32>
    stripe.store %x, %d : !stripe.view<1x1xf32>
  }
  func.return %D : !stripe.view<16x13xf32>
}

// -----

// Where somebody reads those cells, ranges do not grow.
// CHECK-LABEL: func.func @read
// CHECK:      stripe.block "C" [%i : 16, %j : 13
func.func @read(%A : !stripe.view<16x13xf32>, %B : !stripe.view<13x13xf32>) -> !stripe.view<16x14xf32> {
  %C = stripe.alloc : !stripe.view<16x16xf32>
  stripe.block "E" [%i : 16, %j : 16]
      out %c = %C[%i, %j] : 1x1 {
    %x = eltwise.constant 1 : f32
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  stripe.block "C" [%i : 16, %j : 13, %k : 13]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<pad [1, 8, 1]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  %D = stripe.alloc : !stripe.view<16x14xf32>
  stripe.block "D" [%i : 16, %j : 14]
      in %c = %C[%i, %j] : 1x1
      out %d = %D[%i, %j] : 1x1 {
    %x = stripe.load %c : !stripe.view<1x1xf32>
    stripe.store %x, %d : !stripe.view<1x1xf32>
  }
  func.return %D : !stripe.view<16x14xf32>
}
