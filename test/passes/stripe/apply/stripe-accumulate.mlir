// RUN: tile-opt %s -p stripe-accumulate | filecheck %s

// The block that aggregates is nested; the cells are set before and copied out after.
// CHECK-LABEL: func.func @sum
// CHECK: stripe.block "S" [%i : 6]
// CHECK-NEXT: in %a = %A[%i, 0] : 1x5
// CHECK-NEXT: out %s = %S[%i] : 1 {
// CHECK-NEXT: %s_acc = stripe.alloc : !stripe.view<1xf32, private>
// CHECK-NEXT: stripe.block []
// CHECK-NEXT: out %cell = %s_acc[0] : 1 {
// CHECK-NEXT: eltwise.constant 2 : f32
// CHECK: stripe.block [%k : 5]
// CHECK-NEXT: in %a_1 = %a[0, %k] : 1x1
// CHECK-NEXT: out %s_1 = %s_acc[0] : 1 add
// CHECK-NEXT: where -%k + %i >= 0 {
// CHECK: stripe.block []
// CHECK-NEXT: in %from = %s_acc[0] : 1
// CHECK-NEXT: out %to = %s[0] : 1 {
func.func @sum(%A : !stripe.view<6x5xf32>) -> !stripe.view<6xf32> {
  %S = stripe.alloc : !stripe.view<6xf32>
  stripe.block "S" [%i : 6, %k : 5]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 2
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<6xf32>
}

// Tiles that overhang the buffer at both ends copy what is inside.
// CHECK-LABEL: func.func @tiles
// CHECK: out %c = %C[4 * %i - 1, 8 * %j] : 4x8 {
// CHECK-NEXT: %c_acc = stripe.alloc : !stripe.view<4x8xf32, private>
// CHECK-NEXT: stripe.block [%e0 : 4, %e1 : 8]
// CHECK: out %c_1 = %c_acc[%i_1, %j_1] : 1x1 max
// CHECK: stripe.block [%e0 : 4, %e1 : 8]
// CHECK-NEXT: in %from = %c_acc[%e0, %e1] : 1x1
// CHECK-NEXT: out %to = %c[%e0, %e1] : 1x1
// CHECK-NEXT: where %e0 + 4 * %i - 1 >= 0, -%e0 - 4 * %i + 6 >= 0 {
func.func @tiles(%A : !stripe.view<6x5xf32>) -> !stripe.view<6x16xf32> {
  %C = stripe.alloc : !stripe.view<6x16xf32>
  stripe.block "C" [%i : 2, %j : 2]
      in %a = %A[4 * %i - 1, 0] : 4x5
      out %c = %C[4 * %i - 1, 8 * %j] : 4x8 max init -inf {
    stripe.block [%k : 5, %i_1 : 4, %j_1 : 8]
        in %a_1 = %a[%i_1, %k] : 1x1
        out %c_1 = %c[%i_1, %j_1] : 1x1 max
        where 4 * %i + %i_1 - 1 >= 0, 6 - 4 * %i - %i_1 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<6x16xf32>
}

// The cells are set also where a constraint of the tiles fails: it moves inward.
// CHECK-LABEL: func.func @constrained_tiles
// CHECK: out %s = %S[4 * %i] : 4 {
// CHECK-NOT: where
// CHECK: out %s_1 = %s_acc[%j] : 1 add
// CHECK-NEXT: where %i - 1 >= 0 {
func.func @constrained_tiles(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %S = stripe.alloc : !stripe.view<8xf32>
  stripe.block "S" [%i : 2]
      in %a = %A[4 * %i] : 4
      out %s = %S[4 * %i] : 4 add init 1
      where %i - 1 >= 0 {
    stripe.block [%j : 4]
        in %a_1 = %a[%j] : 1
        out %s_1 = %s[%j] : 1 add {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<8xf32>
}

// A cell that gets one value, aggregated from what changes nothing, is assigned.
// CHECK-LABEL: func.func @assigned
// CHECK: out %s = %S[%i] : 1 {
// CHECK-NOT: stripe.alloc
func.func @assigned(%A : !stripe.view<6xf32>) -> !stripe.view<6xf32> {
  %S = stripe.alloc : !stripe.view<6xf32>
  stripe.block "S" [%i : 6]
      in %a = %A[%i] : 1
      out %s = %S[%i] : 1 mul init 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<6xf32>
}

// Not so for two values.
// CHECK-LABEL: func.func @aggregated_twice
// CHECK: out %s_1 = %s_acc[0] : 1 add {
func.func @aggregated_twice(%A : !stripe.view<6xf32>) -> !stripe.view<6xf32> {
  %S = stripe.alloc : !stripe.view<6xf32>
  stripe.block "S" [%i : 6]
      in %a = %A[%i] : 1
      out %s = %S[%i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<6xf32>
}

// Left alone: points that share cells, a point that reads the output in between, and
// outputs without `init`.
// CHECK-LABEL: func.func @left_alone
// CHECK: out %o = %O[%i + %j] : 1 add init 0 {
// CHECK: out %p = %P[%i] : 1 add init 0
// CHECK-NEXT: in %r = %P[%i] : 1
// CHECK: out %q = %P[%i] : 1 add {
// CHECK-NOT: private
func.func @left_alone(%A : !stripe.view<6xf32>) -> (!stripe.view<9xf32>, !stripe.view<6xf32>) {
  %O = stripe.alloc : !stripe.view<9xf32>
  %P = stripe.alloc : !stripe.view<6xf32>
  stripe.block [%i : 6, %j : 4]
      in %a = %A[%i] : 1
      out %o = %O[%i + %j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  stripe.block [%i : 6]
      in %a = %A[%i] : 1
      out %p = %P[%i] : 1 add init 0
      in %r = %P[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %p : !stripe.view<1xf32>
    %y = stripe.load %r : !stripe.view<1xf32>
    stripe.store %y, %p : !stripe.view<1xf32>
  }
  stripe.block [%i : 6, %j : 4]
      in %a = %A[%i] : 1
      out %q = %P[%i] : 1 add {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %q : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<9xf32>, !stripe.view<6xf32>
}

// Left alone: cells that subscripts choose. What a condition may skip keeps its `init`.
// CHECK-LABEL: func.func @chosen
// CHECK: out %o = %O[0] : 1000 add init 0
// CHECK-NOT: private
// CHECK: out %p = %P[%n] : 1
// CHECK: stripe.alloc : !stripe.view<1xsi32, private>
func.func @chosen(%I : !stripe.view<8xsi32>, %M : !stripe.view<8xi1>) -> (!stripe.view<1000xsi32>, !stripe.view<8xsi32>) {
  %O = stripe.alloc : !stripe.view<1000xsi32>
  %P = stripe.alloc : !stripe.view<8xsi32>
  stripe.block [%n : 8]
      in %i = %I[%n] : 1
      out %o = %O[0] : 1000 add init 0 {
    %x = stripe.load %i : !stripe.view<1xsi32>
    stripe.store %x, %o[%x] : !stripe.view<1000xsi32>
  }
  stripe.block [%n : 8]
      in %i = %I[%n] : 1
      in %m = %M[%n] : 1
      out %p = %P[%n] : 1 add init 0 {
    %x = stripe.load %i : !stripe.view<1xsi32>
    %keep = stripe.load %m : !stripe.view<1xi1>
    stripe.store %x, %p if %keep : !stripe.view<1xsi32>
  }
  func.return %O, %P : !stripe.view<1000xsi32>, !stripe.view<8xsi32>
}

// Where the parts of a sum come in blocks, each tile collects its part in a private
// buffer and adds it to the cells, which are set first.
// CHECK-LABEL: func.func @blocks_of_sums
// CHECK: stripe.block "S" [%i : 2]
// CHECK-NEXT: in %a = %A[16 * %i, 0] : 16x32
// CHECK-NEXT: out %s = %S[16 * %i] : 16 {
// CHECK-NEXT: stripe.block [%e0 : 16]
// CHECK-NEXT: out %cell = %s[%e0] : 1 {
// CHECK: stripe.block [%k : 2]
// CHECK-NEXT: in %a_1 = %a[0, 16 * %k] : 16x16
// CHECK-NEXT: out %s_1 = %s[0] : 16 add {
// CHECK-NEXT: stripe.block [%i_1 : 4]
// CHECK-NEXT: in %a_2 = %a_1[4 * %i_1, 0] : 4x16
// CHECK-NEXT: out %s_2 = %s_1[4 * %i_1] : 4 add {
// CHECK-NEXT: %s_acc = stripe.alloc : !stripe.view<4xf32, private>
// CHECK: out %s_3 = %s_acc[%i_2] : 1 add {
// CHECK: in %from = %s_acc[%e0] : 1
// CHECK-NEXT: out %to = %s_2[%e0] : 1 add {
func.func @blocks_of_sums(%A : !stripe.view<32x32xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "S" [%i : 2, %k : 2]
      in %a = %A[16 * %i, 16 * %k] : 16x16
      out %s = %S[16 * %i] : 16 add init 0 {
    stripe.block [%i_1 : 4]
        in %a_1 = %a[4 * %i_1, 0] : 4x16
        out %s_1 = %s[4 * %i_1] : 4 add {
      stripe.block [%k_1 : 16, %i_2 : 4]
          in %a_2 = %a_1[%i_2, %k_1] : 1x1
          out %s_2 = %s_1[%i_2] : 1 add {
        %x = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %x, %s_2 : !stripe.view<1xf32>
      }
    }
  }
  func.return %S : !stripe.view<32xf32>
}

// What is assigned but for constraints needs no other value first, only the rest: the
// cells where the first constraint does not hold, then those where only the second fails.
// CHECK-LABEL: func.func @margins
// CHECK: stripe.block "O" [%i : 3]
// CHECK-NEXT: in %a = %A[2 * %i - 1, 0] : 2x8
// CHECK-NEXT: out %o = %O[2 * %i, 0] : 2x8 {
// CHECK-NEXT: stripe.block [%e0 : 2, %e1 : 8]
// CHECK-NEXT: out %cell = %o[%e0, %e1] : 1x1
// CHECK-NEXT: where -%e0 - 2 * %i >= 0 {
// CHECK: stripe.block [%e0 : 2, %e1 : 8]
// CHECK-NEXT: out %cell = %o[%e0, %e1] : 1x1
// CHECK-NEXT: where %e0 + 2 * %i - 1 >= 0, %e1 - 6 >= 0 {
// CHECK: stripe.block [%i_1 : 2, %j : 8]
// CHECK-NEXT: in %a_1 = %a[%i_1, %j] : 1x1
// CHECK-NEXT: out %o_1 = %o[%i_1, %j] : 1x1
// CHECK-NEXT: where
func.func @margins(%A : !stripe.view<5x6xf32>) -> !stripe.view<6x8xf32> {
  %O = stripe.alloc : !stripe.view<6x8xf32>
  stripe.block "O" [%i : 3]
      in %a = %A[2 * %i - 1, 0] : 2x8
      out %o = %O[2 * %i, 0] : 2x8 init 0 {
    stripe.block [%i_1 : 2, %j : 8]
        in %a_1 = %a[%i_1, %j] : 1x1
        out %o_1 = %o[%i_1, %j] : 1x1
        where %i_1 + 2 * %i - 1 >= 0, -%j + 5 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<6x8xf32>
}

// What vectors are aggregated to is set and stored by vectors, too.
// CHECK-LABEL: func.func @vectors
// CHECK: %s_acc = stripe.alloc : !stripe.view<4xf32, private>
// CHECK-NEXT: stripe.block [%e0 : 4 vector]
// CHECK-NEXT: out %cell = %s_acc[%e0] : 1
// CHECK: stripe.block [%k : 8, %i_1 : 4 vector]
// CHECK: stripe.block [%e0 : 4 vector]
// CHECK-NEXT: in %from = %s_acc[%e0] : 1
// CHECK-NEXT: out %to = %s[%e0] : 1
func.func @vectors(%A : !stripe.view<8x32xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "S" [%i : 8 group]
      in %a = %A[0, 4 * %i] : 8x4
      out %s = %S[4 * %i] : 4 add init 0 {
    stripe.block [%k : 8, %i_1 : 4 vector]
        in %a_1 = %a[%k, %i_1] : 1x1
        out %s_1 = %s[%i_1] : 1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<32xf32>
}
