// RUN: tile-opt %s -p opencl-order-loops | filecheck %s
// RUN: tile-opt %s -p opencl-order-loops | tile-opt - | filecheck %s

// The rows outside, the columns inside.
// CHECK-LABEL: opencl.kernel @product
// CHECK:       opencl.for %k : 4 unroll {
// CHECK-NEXT:    opencl.for %i : 2 unroll {
// CHECK-NEXT:      opencl.for %i_1 : 4 unroll {
// CHECK-NEXT:        opencl.for %j : 2 unroll {
// CHECK-NEXT:          opencl.for %j_1 : 4 unroll {
// CHECK-NEXT:            %a = opencl.load %s[4 * %i + %i_1 + 16 * %k]
// CHECK-NEXT:            %b = opencl.load %t[4 * %j + %j_1 + 16 * %k]
opencl.kernel @product(%C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 64 : !opencl.pointer<f32, local>
  %t = opencl.array 64 : !opencl.pointer<f32, local>
  %c = opencl.array 64 : !opencl.pointer<f32, private>
  opencl.for %k : 4 unroll {
    opencl.for %i : 2 unroll {
      opencl.for %j : 2 unroll {
        opencl.for %i_1 : 4 unroll {
          opencl.for %j_1 : 4 unroll {
            %a = opencl.load %s[4 * %i + %i_1 + 16 * %k] : !opencl.pointer<f32, local> -> f32
            %b = opencl.load %t[4 * %j + %j_1 + 16 * %k] : !opencl.pointer<f32, local> -> f32
            %p = eltwise.mul %a, %b : f32
            %x = opencl.load %c[32 * %i + 8 * %i_1 + 4 * %j + %j_1] : !opencl.pointer<f32, private> -> f32
            %y = eltwise.add %x, %p : f32
            opencl.store %y, %c[32 * %i + 8 * %i_1 + 4 * %j + %j_1] : f32 -> !opencl.pointer<f32, private>
          }
        }
      }
    }
  }
}

// Left alone: cells of several steps, a factor that all loops move, loops that stay, cells
// that others see.
// CHECK-LABEL: opencl.kernel @others
// CHECK:       opencl.for %j{{.*}} : 2
// CHECK-NEXT:    opencl.for %i{{.*}} : 4
// CHECK:       opencl.for %j{{.*}} : 2
// CHECK-NEXT:    opencl.for %i{{.*}} : 4
// CHECK:       opencl.for %j{{.*}} : 2
// CHECK-NEXT:    opencl.for %i{{.*}} : 4
// CHECK:       opencl.for %j{{.*}} : 2
// CHECK-NEXT:    opencl.for %i{{.*}} : 4
opencl.kernel @others(%C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 64 : !opencl.pointer<f32, local>
  %t = opencl.array 64 : !opencl.pointer<f32, local>
  %c = opencl.array 64 : !opencl.pointer<f32, private>
  opencl.for %j : 2 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j_1 : 4 unroll {
        %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %t[4 * %j + %j_1] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %c[4 * %i + 4 * %j + %j_1] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
  opencl.for %j : 2 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j_1 : 4 unroll {
        %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %t[4 * %j + %j_1 + %i] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %c[8 * %i + 4 * %j + %j_1] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
  opencl.for %j : 2 {
    opencl.for %i : 4 {
      opencl.for %j_1 : 4 {
        %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %t[4 * %j + %j_1] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %c[8 * %i + 4 * %j + %j_1] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
  opencl.for %j : 2 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j_1 : 4 unroll {
        %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %t[4 * %j + %j_1] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %C[8 * %i + 4 * %j + %j_1] : f32 -> !opencl.pointer<f32, global>
      }
    }
  }
}

// Where a factor is loaded by vectors, its loops are those of columns.
// CHECK-LABEL: opencl.kernel @vectors
// CHECK:       opencl.for %i : 4 unroll {
// CHECK-NEXT:    opencl.for %j : 2 unroll {
// CHECK-NEXT:      %a = opencl.load %s[%i]
opencl.kernel @vectors(%C : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %s = opencl.array 8 : !opencl.pointer<f32, local>
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %c = opencl.array 32 : !opencl.pointer<f32, private>
  opencl.for %j : 2 unroll {
    opencl.for %i : 4 unroll {
      %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
      %b = opencl.load %t[4 * %j] : !opencl.pointer<f32, local> -> vector<4xf32>
      %v = eltwise.broadcast %a : f32 to vector<4xf32>
      %p = eltwise.mul %v, %b : vector<4xf32>
      opencl.store %p, %c[8 * %i + 4 * %j] : vector<4xf32> -> !opencl.pointer<f32, private>
    }
  }
}
