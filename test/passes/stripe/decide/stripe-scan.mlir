// RUN: tile-opt %s -p 'stripe-scan{parallelism=4 chains=2}' | filecheck %s
// RUN: tile-opt %s -p 'stripe-scan{parallelism=1 chains=1 lanes=16}' | filecheck %s --check-prefix=WHOLE
// RUN: not tile-opt %s -p 'stripe-scan{chains=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected chains of 1 or more, got 0

// Sums of chunks, what each of them starts from, and a walk over two of them in turns.
// CHECK-LABEL: func.func @rows
// CHECK: %O_chunks = stripe.alloc : !stripe.view<4x2xf32>
// CHECK-NEXT: stripe.block "O_chunks" [%m : 2, %t : 250, %c : 4]
// CHECK-NEXT: in %a = %A[%m, %t + 250 * %c] : 1x1
// CHECK-NEXT: out %o = %O_chunks[%c, %m] : 1x1 add init 0 {
// CHECK: %O_starts = stripe.alloc : !stripe.view<5x2xf32>
// CHECK-NEXT: stripe.block "O_starts" [%r0 : 2]
// CHECK-NEXT: in %o_chunks = %O_chunks[0, %r0] : 4x1
// CHECK-NEXT: inout %o_starts = %O_starts[0, %r0] : 5x1 {
// CHECK: stripe.block serial [%c : 4]
// CHECK: stripe.block "O" [%m : 2, %c : 2]
// CHECK-NEXT: in %a = %A[%m, 500 * %c] : 1x500
// CHECK-NEXT: in %state = %O_starts[2 * %c, %m] : 2x1
// CHECK-NEXT: out %o = %O[%m, 500 * %c] : 1x500 {
// CHECK-NEXT: %state_1 = stripe.alloc : !stripe.view<2x1xf32, private>
// CHECK: stripe.block serial [%t : 250, %c_1 : 2]
// CHECK-NEXT: in %a_1 = %a[0, %t + 250 * %c_1] : 1x1
// CHECK-NEXT: inout %state_2 = %state_1[%c_1, 0] : 1x1
// CHECK-NEXT: out %o_1 = %o[0, %t + 250 * %c_1] : 1x1 {
// CHECK-NEXT: %x = stripe.load %a_1 : !stripe.view<1x1xf32>
// CHECK-NEXT: %0 = stripe.load %state_2 : !stripe.view<1x1xf32, private>
// CHECK-NEXT: %1 = eltwise.add %0, %x : f32
// CHECK-NEXT: stripe.store %1, %state_2 : !stripe.view<1x1xf32, private>
// CHECK-NEXT: stripe.store %1, %o_1 : !stripe.view<1x1xf32>
// WHOLE-LABEL: func.func @rows
// WHOLE-NOT: chunks
// WHOLE: stripe.block serial [%t : 1000]
func.func @rows(%A : !stripe.view<2x1000xf32>) -> !stripe.view<2x1000xf32> {
  %O = stripe.alloc : !stripe.view<2x1000xf32>
  stripe.block "O" [%m : 2, %i : 1000, %k : 1000]
      in %a = %A[%m, %k] : 1x1
      out %o = %O[%m, %i] : 1x1 add init 0
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<2x1000xf32>
}

// From the end; what chunks leave over starts from the last sum. Indices as values.
// CHECK-LABEL: func.func @from_the_end
// CHECK: in %a = %A[-%t - 64 * %c + 128] : 1
// CHECK: stripe.index -%t - 64 * %c + 128 : si32
// CHECK: stripe.block serial [%t : 64, %c : 2]
// CHECK-NEXT: in %a_1 = %a[-%t - 64 * %c + 127] : 1
// CHECK: in %state = %O_starts[2] : 1
// CHECK: stripe.block serial []
// CHECK-NEXT: in %a_1 = %a[0] : 1
func.func @from_the_end(%A : !stripe.view<129xsi32>) -> !stripe.view<129xsi32> {
  %O = stripe.alloc : !stripe.view<129xsi32>
  stripe.block "O" [%i : 129, %k : 129]
      in %a = %A[%k] : 1
      out %o = %O[%i] : 1 max init -2147483648
      where %k - %i >= 0 {
    %x = stripe.load %a : !stripe.view<1xsi32>
    %n = stripe.index %k : si32
    %y = eltwise.mul %x, %n : si32
    stripe.store %y, %o : !stripe.view<1xsi32>
  }
  func.return %O : !stripe.view<129xsi32>
}

// Neighbouring walks are lanes.
// WHOLE-LABEL: func.func @columns
// WHOLE: stripe.block "O" [%j : 2]
// WHOLE: %state = stripe.alloc : !stripe.view<1x16xf32, private>
// WHOLE: stripe.block serial [%t : 9, %j_1 : 16]
// WHOLE-NEXT: in %a_1 = %a[%t, %j_1] : 1x1
// WHOLE: stripe.block "O" []
// WHOLE: stripe.block serial [%t : 9, %j : 3]
// WHOLE-NEXT: in %a_1 = %a[%t, %j] : 1x1
func.func @columns(%A : !stripe.view<9x35xf32>) -> !stripe.view<9x35xf32> {
  %O = stripe.alloc : !stripe.view<9x35xf32>
  stripe.block "O" [%i : 9, %j : 35, %k : 9]
      in %a = %A[%k, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 mul init 1
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<9x35xf32>
}

// What else aggregates comes first.
// CHECK-LABEL: func.func @rows_of_sums
// CHECK: %O_values = stripe.alloc : !stripe.view<12xf32>
// CHECK-NEXT: stripe.block "O_values" [%k : 12, %r : 5]
// CHECK-NEXT: in %a = %A[%k, %r] : 1x1
// CHECK-NEXT: out %o = %O_values[%k] : 1 add init 0 {
// CHECK: stripe.block serial [%t : 12]
func.func @rows_of_sums(%A : !stripe.view<12x5xf32>) -> !stripe.view<12xf32> {
  %O = stripe.alloc : !stripe.view<12xf32>
  stripe.block "O" [%i : 12, %k : 12, %r : 5]
      in %a = %A[%k, %r] : 1x1
      out %o = %O[%i] : 1 add init 0
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<12xf32>
}

// Into a row from its end: only the output's places run backward.
// CHECK-LABEL: func.func @mirrored
// CHECK: stripe.block serial [%t : 64, %c : 2]
// CHECK-NEXT: in %a_1 = %a[%t + 64 * %c] : 1
// CHECK: out %o_1 = %o[-%t - 64 * %c + 127] : 1
func.func @mirrored(%A : !stripe.view<129xsi32>) -> !stripe.view<128xsi32> {
  %O = stripe.alloc : !stripe.view<128xsi32>
  stripe.block "O" [%i : 128, %k : 129]
      in %a = %A[%k] : 1
      out %o = %O[%i] : 1 add init 0
      where 127 - %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1xsi32>
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  func.return %O : !stripe.view<128xsi32>
}

// Left alone: values that depend on the output's index, another constraint, one that is
// no triangle, another start value, and a row of values that ends before.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: serial
func.func @left_alone(%A : !stripe.view<32xf32>) -> !stripe.view<16xf32> {
  %O = stripe.alloc : !stripe.view<16xf32>
  stripe.block "depends" [%i : 16, %k : 16]
      in %a = %A[%k] : 1
      in %b = %A[%i] : 1
      out %o = %O[%i] : 1 add init 0
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %o : !stripe.view<1xf32>
  }
  stripe.block "window" [%i : 16, %k : 16]
      in %a = %A[%k] : 1
      out %o = %O[%i] : 1 add init 0
      where %i - %k >= 0, %k - %i + 3 >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  stripe.block "stretched" [%i : 16, %k : 32]
      in %a = %A[%k] : 1
      out %o = %O[%i] : 1 add init 0
      where 2 * %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  stripe.block "from one" [%i : 16, %k : 16]
      in %a = %A[%k] : 1
      out %o = %O[%i] : 1 add init 1
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  stripe.block "short" [%i : 16, %k : 8]
      in %a = %A[%k] : 1
      out %o = %O[%i] : 1 add init 0
      where %i - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<16xf32>
}
