// RUN: tile-opt %s -p opencl-cell-by-cell | filecheck %s
// RUN: tile-opt %s -p opencl-cell-by-cell | tile-opt - | filecheck %s

// The sum of one cell after the other, which goes to its register.
// CHECK-LABEL: opencl.kernel @sums
// CHECK:       opencl.when %again {
// CHECK-NEXT:    opencl.for %cell : 8 unroll 1 {
// CHECK-NEXT:      %i, %j = opencl.delinearize %cell into [2, 4]
// CHECK-NEXT:      %sum = opencl.array 1 : !opencl.pointer<f32, private>
// CHECK-NEXT:      %[[FIRST:.*]] = eltwise.constant 0 : f32
// CHECK-NEXT:      opencl.store %[[FIRST]], %sum[0] : f32 -> !opencl.pointer<f32, private>
// CHECK-NEXT:      opencl.for %k : 9 unroll 1 {
// CHECK-NEXT:        opencl.if %k + %i - 1 >= 0 {
// CHECK-NEXT:          %{{.*}} = opencl.load %A[%k + %i]
// CHECK-NEXT:          %{{.*}} = opencl.load %A[%k + 9 * %j]
// CHECK-NEXT:          eltwise.mul
// CHECK-NEXT:          %{{.*}} = opencl.load %sum[0]
// CHECK-NEXT:          eltwise.add
// CHECK-NEXT:          opencl.store %{{.*}}, %sum[0]
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      opencl.for %other : 8 unroll {
// CHECK-NEXT:        %{{.*}} = opencl.index %other - %cell : si32
// CHECK-NEXT:        %{{.*}} = eltwise.constant 0 : si32
// CHECK-NEXT:        %{{.*}} = eltwise.cmp_eq
// CHECK-NEXT:        %{{.*}} = opencl.load %sum[0]
// CHECK-NEXT:        %{{.*}} = opencl.load %c[%other]
// CHECK-NEXT:        %{{.*}} = eltwise.cond
// CHECK-NEXT:        opencl.store %{{.*}}, %c[%other]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
opencl.kernel @sums(%A : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %c = opencl.array 8 : !opencl.pointer<f32, private>
  opencl.for %x : 8 unroll {
    %a = opencl.load %A[%x] : !opencl.pointer<f32, global> -> f32
    opencl.store %a, %c[%x] : f32 -> !opencl.pointer<f32, private>
  }
  %first = opencl.load %c[0] : !opencl.pointer<f32, private> -> f32
  %again = eltwise.cmp_ne %first, %first : (f32, f32) -> i1
  opencl.when %again {
    opencl.for %x : 2 unroll {
      %zero = eltwise.constant 0 : vector<4xf32>
      opencl.store %zero, %c[4 * %x] : vector<4xf32> -> !opencl.pointer<f32, private>
    }
    opencl.for %k : 9 unroll 1 {
      opencl.for %j : 4 unroll {
        opencl.for %i : 2 unroll {
          opencl.if %k + %i - 1 >= 0 {
            %a = opencl.load %A[%k + %i] : !opencl.pointer<f32, global> -> f32
            %b = opencl.load %A[%k + 9 * %j] : !opencl.pointer<f32, global> -> f32
            %p = eltwise.mul %a, %b : f32
            %x = opencl.load %c[4 * %i + %j] : !opencl.pointer<f32, private> -> f32
            %y = eltwise.add %x, %p : f32
            opencl.store %y, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
          }
        }
      }
    }
  }
  opencl.for %x : 8 unroll {
    %y = opencl.load %c[%x] : !opencl.pointer<f32, private> -> f32
    opencl.store %y, %C[%x] : f32 -> !opencl.pointer<f32, global>
  }
}

// Left alone: where some cells keep what they have.
// CHECK-LABEL: opencl.kernel @some
// CHECK-NOT:   delinearize
opencl.kernel @some(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %c = opencl.array 8 : !opencl.pointer<f32, private>
  %first = opencl.load %A[0] : !opencl.pointer<f32, global> -> f32
  %again = eltwise.cmp_ne %first, %first : (f32, f32) -> i1
  opencl.when %again {
    opencl.for %x : 4 unroll {
      %zero = eltwise.constant 0 : f32
      opencl.store %zero, %c[%x] : f32 -> !opencl.pointer<f32, private>
    }
    opencl.for %k : 9 unroll 1 {
      opencl.for %i : 8 unroll {
        %a = opencl.load %A[%k + %i] : !opencl.pointer<f32, global> -> f32
        %x = opencl.load %c[%i] : !opencl.pointer<f32, private> -> f32
        %y = eltwise.add %x, %a : f32
        opencl.store %y, %c[%i] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
}
