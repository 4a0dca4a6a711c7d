// RUN: tile-opt %s -p 'stripe-autotile{hardware=nvidia-h200 bits=32}' | filecheck %s
// RUN: tile-opt %s --pipeline=opencl-gpu -t opencl | filecheck %s --check-prefix=SOURCE

// Vectors where all lies at multiples of them; what is left over is computed one by one.
// CHECK-LABEL: func.func @odd
// CHECK:       tile [1024] bind [grid],
// CHECK-NEXT:  tile [4] bind [group],
// CHECK-NEXT:  points bind [vector],
// CHECK-NEXT:  because "streams: groups of 256 work-items, each with vectors of 4"
// SOURCE-LABEL: void odd_1(
// SOURCE:      if (4 * i_1 + 1024 * i <= 1002997) {
// SOURCE:        store_aligned(4, __global float4, x * y, C + (1024 * i + 4 * i_1));
// SOURCE:      if (i_1 >= 126 && i_1 <= 126 && i >= 979) {
// SOURCE:        C[1024 * i + 4 * i_1] = x * y;
func.func @odd(%A : !stripe.view<1003001xf32>, %B : !stripe.view<1003001xf32>) -> !stripe.view<1003001xf32> {
  %C = stripe.alloc : !stripe.view<1003001xf32>
  stripe.block "odd" [%i : 1003001]
      in %a = %A[%i] : 1
      in %b = %B[%i] : 1
      out %c = %C[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<1003001xf32>
}

// Rows of odd length: lanes have neighbouring cells, each several that are a group apart.
// CHECK-LABEL: func.func @rows
// CHECK:       tile [1, 1024] bind [grid, grid],
// CHECK-NEXT:  tile [1, 256] bind [unroll, unroll],
// CHECK-NEXT:  points bind [group, group],
// CHECK-NEXT:  because "streams: groups of 256 work-items, each with 4 cells"
// SOURCE-LABEL: void rows_1(
// SOURCE:      #pragma unroll
// SOURCE-NEXT: for (int j_1 = 0; j_1 < 4; ++j_1) {
// SOURCE-NEXT:   if (j + 256 * j_1 <= 1002) {
// SOURCE:          C[1003 * i + j + 256 * j_1] = x + y;
func.func @rows(%A : !stripe.view<600x1003xf32>, %B : !stripe.view<1003xf32>) -> !stripe.view<600x1003xf32> {
  %C = stripe.alloc : !stripe.view<600x1003xf32>
  stripe.block "rows" [%i : 600, %j : 1003]
      in %a = %A[%i, %j] : 1x1
      in %b = %B[%j] : 1
      out %c = %C[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.add %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<600x1003xf32>
}

// Short rows: a group has several. The lanes are along the axis that is last in memory.
// CHECK-LABEL: func.func @short
// CHECK:       tile [7, 1, 25] order [1, 2, 0] bind [grid, grid, grid],
// CHECK-NEXT:  points order [1, 2, 0] bind [group, group, group],
// CHECK-NEXT:  because "streams: groups of 175 work-items, each with cells"
func.func @short(%A : !stripe.view<3x50x7xf32>, %B : !stripe.view<50xf32>) -> !stripe.view<3x50x7xf32> {
  %C = stripe.alloc : !stripe.view<3x50x7xf32>
  stripe.block "short" [%w : 7, %n : 3, %h : 50]
      in %a = %A[%n, %h, %w] : 1x1x1
      in %b = %B[%h] : 1
      out %c = %C[%n, %h, %w] : 1x1x1 {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.add %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1x1xf32>
  }
  func.return %C : !stripe.view<3x50x7xf32>
}
