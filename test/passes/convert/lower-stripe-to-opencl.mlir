// RUN: tile-opt %s -p lower-stripe-to-opencl | filecheck %s
// RUN: tile-opt %s -p lower-stripe-to-opencl | tile-opt | filecheck %s

// Every top-level block is a kernel; allocations of the function are the host's. The cells
// that `init` sets come first; the condition stands where its indices are known.

// CHECK-LABEL: opencl.kernel @scan(%A: !opencl.pointer<f32, global>, %C: !opencl.pointer<f32, global>) group [1, 1, 1]
// CHECK-NEXT:    %i = opencl.work_item group_id 0 below 64
// CHECK-NEXT:    opencl.for %j : 64 {
// CHECK-NEXT:      [[ZERO:%[0-9]+]] = eltwise.constant 0 : f32
// CHECK-NEXT:      opencl.store [[ZERO]], %C[64 * %i + %j]
// CHECK-NEXT:    }
// CHECK-NEXT:    opencl.for [[J:%j_[0-9]+]] : 64 {
// CHECK-NEXT:      opencl.if %i - [[J]] >= 0 {
// CHECK-NEXT:        opencl.for %k : 32 {
// CHECK-NEXT:          opencl.if [[J]] - %k >= 0 {
// CHECK-NEXT:            %x = opencl.load %A[32 * %i + %k] : !opencl.pointer<f32, global> -> f32
// CHECK-NEXT:            [[OLD:%C_[0-9]+]] = opencl.load %C[64 * %i + [[J]]]
// CHECK-NEXT:            [[NEW:%[0-9]+]] = eltwise.add [[OLD]], %x : f32
// CHECK-NEXT:            opencl.store [[NEW]], %C[64 * %i + [[J]]]
// CHECK-LABEL: func.func @main(%A: !opencl.buffer<64x32xf32>) -> !opencl.buffer<64x64xf32>
// CHECK-NEXT:    %C = opencl.allocate : !opencl.buffer<64x64xf32>
// CHECK-NEXT:    opencl.launch @scan groups [64, 1, 1] (%A, %C)
// CHECK-NEXT:    func.return %C
func.func @main(%A : !stripe.view<64x32xf32>) -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "scan" [%i : 64 grid, %j : 64, %k : 32]
      in %a = %A[%i, %k] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      where %j - %k >= 0, %i - %j >= 0, %k >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x64xf32>
}

// Tiles: private arrays of vectors, views of views, unrolled loops, no loop for one value.
// Groups of one work-item are in a line, in the order of the indices.

// CHECK-LABEL: opencl.kernel @C(
// CHECK:         %group = opencl.work_item group_id 0 below 32
// CHECK-NEXT:    %io, %jo = opencl.delinearize %group into [8, 4]
// CHECK-NEXT:    %acc = opencl.array 16 : !opencl.pointer<vector<8xf32>, private>
// CHECK-NEXT:    opencl.for %i : 8 unroll {
// CHECK-NEXT:      opencl.for %j : 2 unroll {
// CHECK-NEXT:        [[HALF:%[0-9]+]] = eltwise.constant 0.5 : vector<8xf32>
// CHECK-NEXT:        opencl.store [[HALF]], %acc[2 * %i + %j]
// CHECK:         opencl.for %k : 32 {
// CHECK-NEXT:      opencl.for [[I:%i_[0-9]+]] : 8 unroll {
// CHECK-NEXT:        opencl.for [[J:%j_[0-9]+]] : 2 unroll {
// CHECK-NEXT:          %x = opencl.load %A[256 * %io + 32 * [[I]] + %k]
// CHECK-NEXT:          %xv = eltwise.broadcast %x : f32 to vector<8xf32>
// CHECK-NEXT:          %y = opencl.load %B[64 * %k + 16 * %jo + 8 * [[J]]] : !opencl.pointer<f32, global> -> vector<8xf32>
// CHECK:       func.func @tiles
// CHECK:         opencl.launch @C groups [32, 1, 1] (%A, %B, %C)
func.func @tiles(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x64xf32>)
    -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "C" [%io : 8 grid, %one : 1 grid, %jo : 4 grid]
      in %at = %A[8 * %io, %one] : 8x32
      in %bt = %B[0, 16 * %jo] : 32x16
      out %ct = %C[8 * %io, 16 * %jo] : 8x16 {
    %acc = stripe.alloc : !stripe.view<8x2xvector<8xf32>, private>
    stripe.block [%k : 32, %i : 8 unroll, %j : 2 unroll, %u : 1]
        in %a = %at[%i, %k + %u] : 1x1
        in %b = %bt[%k, 8 * %j] : 1x8
        out %c = %acc[%i, %j] : 1x1 add init 0.5 {
      %x = stripe.load %a : !stripe.view<1x1xf32>
      %xv = eltwise.broadcast %x : f32 to vector<8xf32>
      %y = stripe.load %b : !stripe.view<1x8xf32>
      %z = eltwise.mul %xv, %y : vector<8xf32>
      stripe.store %z, %c : !stripe.view<1x1xvector<8xf32>, private>
    }
    stripe.block [%i : 8 unroll, %j : 2 unroll]
        in %a = %acc[%i, %j] : 1x1
        out %c = %ct[%i, 8 * %j] : 1x8 {
      %x = stripe.load %a : !stripe.view<1x1xvector<8xf32>, private>
      stripe.store %x, %c : !stripe.view<1x8xf32>
    }
  }
  func.return %C : !stripe.view<64x64xf32>
}

// More than three parallel indices share the last dimension; work-items of a group are
// local ids; one pointer stands for a buffer that is used twice.

// CHECK-LABEL: opencl.kernel @many(%A: !opencl.pointer<si8, global>, %C: !opencl.pointer<si8, global>) group [4, 1, 1]
// CHECK-NEXT:    %d = opencl.work_item group_id 0 below 5
// CHECK-NEXT:    %c = opencl.work_item group_id 1 below 4
// CHECK-NEXT:    %group = opencl.work_item group_id 2 below 6
// CHECK-NEXT:    %a, %b = opencl.delinearize %group into [2, 3]
// CHECK-NEXT:    %v = opencl.work_item local_id 0 below 4
// CHECK-NEXT:    %x = opencl.load %A[4 * %v + %a]
// CHECK-NEXT:    %y = opencl.load %A[4 * %v + %b + 1]
// CHECK:         opencl.launch @many groups [5, 4, 6] (%A, %C)
func.func @parallel(%A : !stripe.view<4x4xsi8>) -> !stripe.view<2x3x4x5x4xsi8> {
  %C = stripe.alloc : !stripe.view<2x3x4x5x4xsi8>
  stripe.block "many" [%a : 2 grid, %b : 3 grid, %c : 4 grid, %d : 5 grid, %v : 4 group]
      in %p = %A[%v, %a] : 1x1
      in %q = %A[%v, %b + 1] : 1x1
      out %r = %C[%a, %b, %c, %d, %v] : 1x1x1x1x1 {
    %x = stripe.load %p : !stripe.view<1x1xsi8>
    %y = stripe.load %q : !stripe.view<1x1xsi8>
    %z = eltwise.max %x, %y : si8
    stripe.store %z, %r : !stripe.view<1x1x1x1x1xsi8>
  }
  func.return %C : !stripe.view<2x3x4x5x4xsi8>
}

// Dimensions 1 and 2 are limited to 65535, so that large indices share dimension 0.

// CHECK-LABEL: opencl.kernel @wide({{.*}}) group [3, 1, 1]
// CHECK-NEXT:    %group = opencl.work_item group_id 0 below 140000
// CHECK-NEXT:    %i, %j = opencl.delinearize %group into [70000, 2]
// CHECK:         opencl.launch @wide groups [140000, 1, 1]
func.func @large(%A : !stripe.view<70000x2x3xi1>) -> !stripe.view<70000x2x3xi1> {
  %C = stripe.alloc : !stripe.view<70000x2x3xi1>
  stripe.block "wide" [%i : 70000 grid, %j : 2 grid, %k : 3 group]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %c = %C[%i, %j, %k] : 1x1x1 {
    %x = stripe.load %a : !stripe.view<1x1x1xi1>
    stripe.store %x, %c : !stripe.view<1x1x1xi1>
  }
  func.return %C : !stripe.view<70000x2x3xi1>
}

// A window that overhangs the buffer is set only within it; a block whose condition never
// holds is nothing but its `init`; a block without points is nothing.

// CHECK-LABEL: opencl.kernel @edge(%C: !opencl.pointer<f32, global>)
// CHECK-NEXT:    %i = opencl.work_item group_id 0 below 3
// CHECK-NEXT:    opencl.for [[W:%[0-9]+]] : 4 {
// CHECK-NEXT:      opencl.if -4 * %i - [[W]] + 9 >= 0 {
// CHECK-NEXT:        [[ONE:%[0-9]+]] = eltwise.constant 1 : f32
// CHECK-NEXT:        opencl.store [[ONE]], %C[4 * %i + [[W]]]
// CHECK:       func.func @edges
// CHECK-NEXT:    %C = opencl.allocate : !opencl.buffer<10xf32>
// CHECK-NEXT:    opencl.launch @edge groups [3, 1, 1] (%C) : !opencl.buffer<10xf32>
// CHECK-NEXT:    func.return %C
func.func @edges(%A : !stripe.view<10xf32>) -> !stripe.view<10xf32> {
  %C = stripe.alloc : !stripe.view<10xf32>
  stripe.block "edge" [%i : 3 grid]
      in %a = %A[0] : 4
      out %c = %C[4 * %i] : 4 mul init 1
      where -1 * %i - 1 >= 0 {
    %x = stripe.load %a : !stripe.view<4xf32>
    stripe.store %x, %c : !stripe.view<4xf32>
  }
  stripe.block "none" [%i : 3 grid, %k : 0]
      out %c = %C[%i] : 1 add init 0 {
    %x = eltwise.constant 1 : f32
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<10xf32>
}

// Names are identifiers, and different from all symbols; a local array stands at the top of
// its kernel; an index without a loop is a number.

// CHECK-LABEL: opencl.kernel @a_b__c(
// CHECK:         [[LOCAL:%t]] = opencl.array 4 : !opencl.pointer<f32, local>
// CHECK-NEXT:    %i = opencl.work_item
// CHECK:         opencl.for %k : 3 {
// CHECK-NEXT:      [[ZERO:%[0-9]+]] = eltwise.constant 0 : index
// CHECK-NEXT:      eltwise.cast [[ZERO]] : index to f32
// CHECK:       opencl.kernel @main_1(
// CHECK:       func.func @names
// CHECK:         opencl.launch @a_b__c groups [2, 1, 1]
// CHECK-NEXT:    opencl.launch @main_1 groups [1, 1, 1]
func.func @names(%A : !stripe.view<f32>) -> !stripe.view<2xf32> {
  %C = stripe.alloc : !stripe.view<2xf32>
  stripe.block "a-b'(c" [%i : 2 grid, %k : 3]
      out %c = %C[%i] : 1 add init 0 {
    %t = stripe.alloc : !stripe.view<4xf32, local>
    stripe.block [%z : 1] out %w = %t[%z] : 1 {
      %0 = eltwise.cast %z : index to f32
      stripe.store %0, %w : !stripe.view<1xf32, local>
    }
    stripe.block [] in %r = %t[0] : 1 out %o = %c[0] : 1 add {
      %0 = stripe.load %r : !stripe.view<1xf32, local>
      stripe.store %0, %o : !stripe.view<1xf32>
    }
  }
  stripe.block "main" [] in %a = %A[] out %c = %C[0] : 1 {
    %x = stripe.load %a : !stripe.view<f32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<2xf32>
}

// A subscript becomes an index with the size of the window as its bound, where the value
// is known to be in it: under the condition of a store. A subscript with one possible
// value needs none.

// CHECK-LABEL: opencl.kernel @chosen(
// CHECK:         %n = opencl.work_item
// CHECK:         %p = opencl.load %P[%n]
// CHECK-NEXT:    %k = opencl.index 3 * %n + 1 : si32
// CHECK:         %keep = eltwise.cmp_lt
// CHECK-NEXT:    [[P:%p_[0-9]]] = opencl.position %p below 9
// CHECK-NEXT:    %x = opencl.load %V[4 * [[P]] + 2] : !opencl.pointer<f32, global> -> f32
// CHECK-NEXT:    [[Q:%p_[0-9]]] = opencl.position %p below 9
// CHECK-NEXT:    %y = opencl.load %V[4 * [[Q]]] : !opencl.pointer<f32, global> -> vector<4xf32>
// CHECK-NEXT:    opencl.when %keep {
// CHECK-NEXT:      [[K:%k_[0-9]]] = opencl.position %k below 5
// CHECK-NEXT:      %O_1 = opencl.load %O[5 * %n + [[K]]]
// CHECK-NEXT:      [[SUM:%[0-9]+]] = eltwise.add %O_1, %x
// CHECK-NEXT:      opencl.store [[SUM]], %O[5 * %n + [[K]]]
// CHECK-NEXT:    }
func.func @places(%P : !stripe.view<8xsi32>, %V : !stripe.view<9x4xf32>) -> !stripe.view<8x5xf32> {
  %O = stripe.alloc : !stripe.view<8x5xf32>
  stripe.block "chosen" [%n : 8 grid]
      in %p0 = %P[%n] : 1
      in %v = %V[0, 0] : 9x4
      out %o = %O[%n, 0] : 1x5 add {
    %p = stripe.load %p0 : !stripe.view<1xsi32>
    %k = stripe.index 3 * %n + 1 : si32
    %keep = eltwise.cmp_lt %p, %k : (si32, si32) -> i1
    %x = stripe.load %v[%p, 2] : !stripe.view<9x4xf32>
    %y = stripe.load %v[%p, 0] : !stripe.view<9x4xf32> -> vector<4xf32>
    stripe.store %x, %o[%p, %k] if %keep : !stripe.view<1x5xf32>
  }
  func.return %O : !stripe.view<8x5xf32>
}

// The points of a serial block are loops. One memory is one pointer, whatever the shapes
// that the host sees it under; the result has the shape under which it is returned.

// CHECK-LABEL: opencl.kernel @order(%T: !opencl.pointer<f32, global>)
// CHECK-NEXT:    opencl.for %i : 3 {
// CHECK-NEXT:      opencl.for %j : 4 {
// CHECK-NEXT:        %x = opencl.load %T[4 * %i + %j]
// CHECK-NEXT:        opencl.store %x, %T[-4 * %i - %j + 11]
// CHECK:       func.func @shapes() -> !opencl.buffer<2x6xf32>
// CHECK-NEXT:    %T = opencl.allocate : !opencl.buffer<2x6xf32>
// CHECK-NEXT:    opencl.launch @order groups [1, 1, 1] (%T) : !opencl.buffer<2x6xf32>
// CHECK-NEXT:    func.return %T : !opencl.buffer<2x6xf32>
func.func @shapes() -> !stripe.view<2x6xf32> {
  %T = stripe.alloc : !stripe.view<12xf32>
  %F = stripe.reshape %T : !stripe.view<12xf32> to !stripe.view<3x4xf32>
  %G = stripe.reshape %F : !stripe.view<3x4xf32> to !stripe.view<2x6xf32>
  stripe.block "order" serial [%i : 3, %j : 4]
      in %f = %F[%i, %j] : 1x1
      out %t = %T[11 - 4 * %i - %j] : 1 {
    %x = stripe.load %f : !stripe.view<1x1xf32>
    stripe.store %x, %t : !stripe.view<1xf32>
  }
  func.return %G : !stripe.view<2x6xf32>
}

// Blocks after each other under the same conditions are tested once.

// CHECK-LABEL: opencl.kernel @border(
// CHECK:         opencl.for %i : 3 {
// CHECK-NEXT:      opencl.if -%n - %i + 4 >= 0 {
// CHECK-NEXT:        [[A:%[0-9]+]] = eltwise.constant 1
// CHECK-NEXT:        opencl.store [[A]], %O[3 * %n + %i]
// CHECK-NEXT:        [[B:%[0-9]+]] = eltwise.constant 2
// CHECK-NEXT:        opencl.store [[B]], %O[3 * %n + %i + 12]
// CHECK-NEXT:      }
// CHECK-NEXT:      opencl.if -%i + 1 >= 0 {
// CHECK-NEXT:        [[C:%[0-9]+]] = eltwise.constant 3
// CHECK-NEXT:        opencl.store [[C]], %O[3 * %n + %i + 24]
// CHECK-NEXT:      }
// CHECK-NEXT:      opencl.if -%n - %i + 4 >= 0 {
func.func @borders() -> !stripe.view<3x4x3xf32> {
  %O = stripe.alloc : !stripe.view<3x4x3xf32>
  stripe.block "border" [%n : 4 grid]
      out %o = %O[0, %n, 0] : 3x1x3 {
    stripe.block [%i : 3]
        out %o_1 = %o[0, 0, %i] : 3x1x1 {
      stripe.block [] out %c = %o_1[0, 0, 0] : 1x1x1 where 4 - %n - %i >= 0 {
        %1 = eltwise.constant 1 : f32
        stripe.store %1, %c : !stripe.view<1x1x1xf32>
      }
      stripe.block [] out %c = %o_1[1, 0, 0] : 1x1x1 where 4 - %n - %i >= 0 {
        %2 = eltwise.constant 2 : f32
        stripe.store %2, %c : !stripe.view<1x1x1xf32>
      }
      stripe.block [] out %c = %o_1[2, 0, 0] : 1x1x1 where 1 - %i >= 0 {
        %3 = eltwise.constant 3 : f32
        stripe.store %3, %c : !stripe.view<1x1x1xf32>
      }
      stripe.block [] out %c = %o_1[2, 0, 0] : 1x1x1 where 4 - %n - %i >= 0 {
        %4 = eltwise.constant 4 : f32
        stripe.store %4, %c : !stripe.view<1x1x1xf32>
      }
    }
  }
  func.return %O : !stripe.view<3x4x3xf32>
}
