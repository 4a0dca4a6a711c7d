// RUN: tile-opt %s -p 'stripe-scan{items=64 parallelism=64 longest=3}' | filecheck %s
// RUN: tile-opt %s --validate-each -p 'stripe-scan{items=64 parallelism=64 longest=3},stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-distribute{items=64},stripe-tile,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// RUN: not tile-opt %s -p 'stripe-scan{items=-1}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected items of 0 or more, got -1
// KERNEL: opencl.barrier

// 64 items with 16 values each: three pieces, the last one shorter, and the first group has that. A group adds up the
// pieces before its own; items add up their values, and walk over them from what items
// before them have.
// CHECK-LABEL: func.func @main
// CHECK: stripe.block "O_chunks" [%t : 1024, %c : 2]
// CHECK: stripe.block "O" [%c : 3]
// CHECK-NEXT: in %x = %I[-1024 * %c + 2048] : 1024
// CHECK-NEXT: out %o = %O[-1024 * %c + 2048] : 1024
// CHECK-NEXT: in %sums = %O_chunks[0] : 2
// CHECK: %start = stripe.alloc : !stripe.view<1xf32, local>
// CHECK: where -2 * %k - %lane - %c + 1 >= 0
// CHECK: stripe.block [%lines : 16, %line : 2, %cell : 32]
// CHECK-NEXT: in %x_1 = %x[64 * %lines + 32 * %line + %cell] : 1
// CHECK-NEXT: out %o_1 = %O_piece[0, 2 * %lines + %line, %cell] : 1x1x1 add init 0
// CHECK-NEXT: where -64 * %lines - 32 * %line - %cell + 1024 * %c + 451 >= 0
// CHECK: stripe.block [%row : 1 group, %section : 8 group, %line : 4 group, %own : 2 group]
// CHECK: stripe.block serial [%k : 8]
// CHECK: stripe.block serial [%t : 16]
func.func @main(%I : !stripe.view<2500xf32>) -> !stripe.view<2500xf32> {
  %O = stripe.alloc : !stripe.view<2500xf32>
  stripe.block "O" [%i : 2500, %k : 2500]
      in %x = %I[%k] : 1
      out %o = %O[%i] : 1 add init 0
      where %i - %k >= 0 {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<2500xf32>
}

// Of more pieces than 4 what they start from is a running aggregation, too.
// CHECK-LABEL: func.func @many_pieces
// CHECK: stripe.block "O_starts"
// CHECK: stripe.block "O" [%c : 5]
// CHECK-NEXT: in
// CHECK-NEXT: out
// CHECK-NEXT: in %sums = %O_starts[-%c + 4] : 1
func.func @many_pieces(%I : !stripe.view<10000xf32>) -> !stripe.view<10000xf32> {
  %O = stripe.alloc : !stripe.view<10000xf32>
  stripe.block "O" [%i : 10000, %k : 10000]
      in %x = %I[%k] : 1
      out %o = %O[%i] : 1 add init 0
      where %i - %k >= 0 {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<10000xf32>
}

// Rows of 20 have 2 items each: a group has 32 rows, the last one fewer.
// CHECK-LABEL: func.func @short_rows
// CHECK: stripe.block "O" [%m : 4]
// CHECK-NEXT: in %x = %I[32 * %m, 0] : 32x32
// CHECK: %O_piece = stripe.alloc : !stripe.view<32x1x33xf32, local>
// CHECK: where {{.*}}- 32 * %m
func.func @short_rows(%I : !stripe.view<100x20xf32>) -> !stripe.view<100x20xf32> {
  %O = stripe.alloc : !stripe.view<100x20xf32>
  stripe.block "O" [%m : 100, %i : 20, %k : 20]
      in %x = %I[%m, %k] : 1x1
      out %o = %O[%m, %i] : 1x1 add init 0
      where %i - %k >= 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<100x20xf32>
}
