// RUN: tile-opt %s -p 'stripe-autotile{hardware=nvidia-h200 bits=32}' | filecheck %s
// RUN: tile-opt %s --pipeline=opencl-gpu -t opencl | filecheck %s --check-prefix=SOURCE

// Vectors where all lies at multiples of them; what is left over is computed one by one.
// CHECK-LABEL: func.func @odd
// CHECK:       tile [1024] bind [grid],
// CHECK-NEXT:  tile [4] bind [group],
// CHECK-NEXT:  points bind [vector],
// CHECK-NEXT:  because "{{.*}}: streams by groups of 256 work-items, each with vectors of 4"
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
// CHECK-NEXT:  because "{{.*}}: streams by groups of 256 work-items, each with 4 cells"
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
// CHECK-NEXT:  because "{{.*}}: streams by groups of 175 work-items, each with cells"
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

// Contiguous along another index than the output: through local memory, in windows that
// are long along both, with rows of 33 cells so that columns lie in different banks.
// CHECK-LABEL: func.func @across
// CHECK:       tile [32, 32] bind [grid, grid],
// CHECK-NEXT:  tile [32, 32],
// CHECK-NEXT:  tile [1, 4] bind [group, group],
// CHECK-NEXT:  points bind [_, vector],
// CHECK-NEXT:  stage input 0 at 1 of 1 order [0, 1] padding 1 local,
// SOURCE-LABEL: void across_1(
// SOURCE:      __local float a_stage[1056] __attribute__((aligned(16)));
// SOURCE:      load_aligned(4, __global float4, A + (32768 * i + 1024 * j_1 + 32 * j + 4 * i_1))
// SOURCE:      barrier(CLK_LOCAL_MEM_FENCE);
// SOURCE:      a_stage[132 * i_1 + j_1 + 33]
// SOURCE:      store_aligned(4, __global float4, {{.*}}, O + (32768 * j + 1024 * j_1 + 32 * i + 4 * i_1));
func.func @across(%A : !stripe.view<1024x1024xf32>) -> !stripe.view<1024x1024xf32> {
  %O = stripe.alloc : !stripe.view<1024x1024xf32>
  stripe.block "across" [%j : 1024, %i : 1024]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%j, %i] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<1024x1024xf32>
}

// Cells around what is copied: each is stored once, from a register.
// SOURCE-LABEL: void border_1(
// SOURCE:      for (int j_2 = 0; j_2 < 4; ++j_2) {
// SOURCE-NEXT:   float o_acc;
// SOURCE-NEXT:   o_acc = 0.0f;
// SOURCE:        o_acc = A[
// SOURCE:        O[4098 * i + 1024 * j + j_1 + 256 * j_2] = o_acc;
// SOURCE-NOT:    O[
func.func @border(%A : !stripe.view<4096x4096xf32>) -> !stripe.view<4098x4098xf32> {
  %O = stripe.alloc : !stripe.view<4098x4098xf32>
  stripe.block "border" [%i : 4098, %j : 4098]
      in %a = %A[%i - 1, %j - 1] : 1x1
      out %o = %O[%i, %j] : 1x1 init 0
      where %i - 1 >= 0, -%i + 4096 >= 0, %j - 1 >= 0, -%j + 4096 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4098x4098xf32>
}
