// RUN: tile-opt %s -p stripe-reduce-constraints | filecheck %s

// What always holds goes, what another implies goes, one index alone shortens its range.
// CHECK-LABEL: func.func @reduced
// CHECK: stripe.block [%i : 64, %k : 3]
// CHECK-NEXT: in %a = %A[%i + %k] : 1
// CHECK-NEXT: out %c = %C[%i] : 1 add
// CHECK-NEXT: where -%i - %k + 62 >= 0 {
func.func @reduced(%A : !stripe.view<66xf32>, %C0 : !stripe.view<1xf32>) -> !stripe.view<64xf32> {
  %C = stripe.alloc : !stripe.view<64xf32>
  stripe.block [%i : 64, %k : 8]
      in %a = %A[%i + %k] : 1
      out %c = %C[%i] : 1 add
      where 2 - %k >= 0, %i + %k >= 0, 63 - %i - %k >= 0, 62 - %i - %k >= 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<64xf32>
}

// A lower bound shifts the index, in nested blocks and as a value too; steps round inward.
// CHECK-LABEL: func.func @shifted
// CHECK: stripe.block [%i : 3]
// CHECK-NEXT: in %a = %A[2 * %i + 4] : 1
// CHECK-NEXT: out %c = %C[%i + 2, 0] : 1x4 {
// CHECK-NEXT: eltwise.constant 2 : index
// CHECK-NEXT: %[[I:[0-9]+]] = eltwise.add %i,
// CHECK: eltwise.cast %[[I]] : index to f32
// CHECK: where %j - %i - 1 >= 0 {
func.func @shifted(%A : !stripe.view<16xf32>) -> !stripe.view<8x4xf32> {
  %C = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block [%i : 8]
      in %a = %A[2 * %i] : 1
      out %c = %C[%i, 0] : 1x4
      where 2 * %i - 3 >= 0, 13 - 3 * %i >= 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = eltwise.cast %i : index to f32
    %2 = eltwise.add %0, %1 : f32
    stripe.block [%j : 4]
        out %c_1 = %c[0, %j] : 1x1
        where %j - %i + 1 >= 0 {
      stripe.store %2, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<8x4xf32>
}

// Ranges of the blocks around count.
// CHECK-LABEL: func.func @nested
// CHECK: out %c_1 = %c[%j] : 1 {
// CHECK: out %c_1 = %c[%j] : 1
// CHECK-NEXT: where -%j - 4 * %i + 6 >= 0 {
func.func @nested(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 2]
      out %c = %C[4 * %i] : 4 {
    %0 = eltwise.constant 1 : f32
    stripe.block [%j : 4]
        out %c_1 = %c[%j] : 1
        where 7 - 4 * %i - %j >= 0 {
      stripe.store %0, %c_1 : !stripe.view<1xf32>
    }
    stripe.block [%j : 4]
        out %c_1 = %c[%j] : 1
        where 6 - 4 * %i - %j >= 0 {
      stripe.store %0, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// A block without points is removed, unless it sets cells.
// CHECK-LABEL: func.func @never
// CHECK-NOT: "gone"
// CHECK: stripe.block "kept" [%i : 8, %k : 2]
// CHECK-NEXT: out %c = %C[%i] : 1 add init 0
// CHECK-NEXT: where
// CHECK-NOT: "gone"
func.func @never() -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "gone" [%i : 8]
      out %c = %C[%i] : 1
      where %i - 8 >= 0 {
    %0 = eltwise.constant 1 : f32
    stripe.store %0, %c : !stripe.view<1xf32>
  }
  stripe.block "kept" [%i : 8, %k : 2]
      out %c = %C[%i] : 1 add init 0
      where %k - 2 >= 0 {
    %0 = eltwise.constant 1 : f32
    stripe.store %0, %c : !stripe.view<1xf32>
  }
  stripe.block "gone" [%i : 8, %k : 2]
      out %c = %C[%i] : 1 add
      where %i + %k - 9 >= 0 {
    stripe.block [%l : 4]
        out %c_1 = %c[0] : 1 add
        where %k - %l >= 0, -%l - 1 >= 0 {
      %0 = eltwise.constant 1 : f32
      stripe.store %0, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// `init` sets the cells of the whole range of %i, so only %k is shortened.
// CHECK-LABEL: func.func @initialized
// CHECK: stripe.block [%i : 8, %k : 2]
// CHECK-NEXT: out %c = %C[%i] : 1 add init 0
// CHECK-NEXT: where %i - 3 >= 0 {
func.func @initialized() -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8, %k : 4]
      out %c = %C[%i] : 1 add init 0
      where %i - 3 >= 0, %k - 2 >= 0 {
    %0 = eltwise.constant 1 : f32
    stripe.store %0, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}

// Indices as numbers and the order of serial points stay what they are.
// CHECK-LABEL: func.func @numbers
// CHECK: stripe.block serial [%i : 5, %j : 3]
// CHECK-NEXT: inout %o = %O[]
// CHECK-NOT: where
// CHECK: stripe.index 3 * %i + %j + 8 : si32
func.func @numbers() -> !stripe.view<si32> {
  %O = stripe.alloc : !stripe.view<si32>
  stripe.block serial [%i : 8, %j : 3]
      inout %o = %O[]
      where %i - 2 >= 0, 6 - %i >= 0 {
    %x = stripe.load %o : !stripe.view<si32>
    %y = stripe.index 3 * %i + %j + 2 : si32
    %z = eltwise.sub %y, %x : si32
    stripe.store %z, %o : !stripe.view<si32>
  }
  func.return %O : !stripe.view<si32>
}
