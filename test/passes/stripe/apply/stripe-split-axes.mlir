// RUN: tile-opt %s -p stripe-split-axes | filecheck %s

// Even and odd places, which constraints and inputs go on to use.
// CHECK-LABEL: func.func @transposed
// CHECK: %O_1 = stripe.reshape %O : !stripe.view<56x5xf32> to !stripe.view<28x2x5xf32>
// CHECK-NEXT: stripe.block "O" [%y : 28, %r : 2, %s : 2, %c : 5]
// CHECK-NEXT: in %i = %I[%y + %r + %s - 1, %c] : 1x1
// CHECK-NEXT: out %o = %O_1[%y, %r, %c] : 1x1x1 add init 0
// CHECK-NEXT: where %y + %r + %s - 1 >= 0, -%y - %r - %s + 28 >= 0 {
// CHECK: stripe.store %x, %o : !stripe.view<1x1x1xf32>
// CHECK: func.return %O : !stripe.view<56x5xf32>
func.func @transposed(%I : !stripe.view<28x5xf32>) -> !stripe.view<56x5xf32> {
  %O = stripe.alloc : !stripe.view<56x5xf32>
  stripe.block "O" [%y : 28, %r : 2, %s : 2, %c : 5]
      in %i = %I[%y + %r + %s - 1, %c] : 1x1
      out %o = %O[2 * %y + %r, %c] : 1x1 add init 0
      where %y + %r + %s - 1 >= 0, 28 - %y - %r - %s >= 0 {
    %x = stripe.load %i : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<56x5xf32>
}

// Three digits, one that runs backwards, and places that start at 6.
// CHECK-LABEL: func.func @digits
// CHECK: stripe.reshape %{{.*}} : !stripe.view<36xsi32> to !stripe.view<6x6xsi32>
// CHECK: stripe.reshape %{{.*}} : !stripe.view<6x6xsi32> to !stripe.view<6x3x2xsi32>
// CHECK: out %c = %{{.*}}[%a + 1, -%b + 2, %d] : 1x1x1
func.func @digits() -> !stripe.view<36xsi32> {
  %C = stripe.alloc : !stripe.view<36xsi32>
  stripe.block [%a : 4, %b : 3, %d : 2]
      out %c = %C[6 * %a - 2 * %b + %d + 10] : 1 {
    %x = stripe.index %a : si32
    stripe.store %x, %c : !stripe.view<1xsi32>
  }
  func.return %C : !stripe.view<36xsi32>
}

// Left alone: one index, digits that overlap, a size that is no multiple, a digit that
// does not start where a number does, and windows.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: stripe.reshape
// CHECK: func.return
func.func @left_alone() -> (!stripe.view<12xsi32>, !stripe.view<13xsi32>, !stripe.view<12xsi32>) {
  %C = stripe.alloc : !stripe.view<12xsi32>
  %D = stripe.alloc : !stripe.view<13xsi32>
  %E = stripe.alloc : !stripe.view<12xsi32>
  stripe.block [%a : 6]
      out %c = %C[2 * %a] : 1 add init 0 {
    %x = stripe.index %a : si32
    stripe.store %x, %c : !stripe.view<1xsi32>
  }
  stripe.block [%a : 4, %b : 3]
      out %c = %C[2 * %a + %b] : 1 add init 0 {
    %x = stripe.index %a : si32
    stripe.store %x, %c : !stripe.view<1xsi32>
  }
  stripe.block [%a : 6, %b : 2]
      out %d = %D[2 * %a + %b] : 1 add init 0 {
    %x = stripe.index %a : si32
    stripe.store %x, %d : !stripe.view<1xsi32>
  }
  stripe.block [%a : 5, %b : 2]
      out %e = %E[2 * %a + %b + 1] : 1 add init 0 {
    %x = stripe.index %a : si32
    stripe.store %x, %e : !stripe.view<1xsi32>
  }
  stripe.block [%a : 3, %b : 2]
      out %e = %E[4 * %a + 2 * %b] : 2 {
    stripe.block [%d : 2]
        out %e_1 = %e[%d] : 1 {
      %x = stripe.index %d : si32
      stripe.store %x, %e_1 : !stripe.view<1xsi32>
    }
  }
  func.return %C, %D, %E : !stripe.view<12xsi32>, !stripe.view<13xsi32>, !stripe.view<12xsi32>
}
