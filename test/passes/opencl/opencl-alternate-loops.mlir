// RUN: tile-opt %s -p opencl-alternate-loops | filecheck %s
// RUN: tile-opt %s -p opencl-alternate-loops | tile-opt - | filecheck %s
// RUN: tile-opt %s -p opencl-alternate-loops -t opencl | filecheck %s --check-prefix=SOURCE

// The rows outside, the columns inside, as one.
// CHECK-LABEL: opencl.kernel @product
// CHECK:       opencl.for %k : 4 unroll {
// CHECK-NEXT:    opencl.for %i : 2 unroll {
// CHECK-NEXT:      opencl.for %i_1 : 4 unroll {
// CHECK-NEXT:        opencl.for %cell : 8 unroll alternate {
// CHECK-NEXT:          %j, %j_1 = opencl.delinearize %cell into [2, 4]
// CHECK-NEXT:          %a = opencl.load %s[4 * %i + %i_1 + 16 * %k]
// CHECK-NEXT:          %b = opencl.load %t[4 * %j + %j_1 + 16 * %k]
// SOURCE:      for (int count = 0; count < 8; ++count) {
// SOURCE-NEXT:   const int cell = i_1 % 2 ? 7 - count : count;
// SOURCE:        const int j = cell / 4;
// SOURCE:        const int j_1 = cell % 4;
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

// Left alone: a cell of two steps, a factor that both loops move, loops that stay, a cell
// that others see.
// CHECK-LABEL: opencl.kernel @others
// CHECK-NOT:   alternate
opencl.kernel @others(%C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 64 : !opencl.pointer<f32, local>
  %t = opencl.array 64 : !opencl.pointer<f32, local>
  %c = opencl.array 64 : !opencl.pointer<f32, private>
  opencl.for %i : 4 unroll {
    opencl.for %j : 4 unroll {
      %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
      %b = opencl.load %t[%j] : !opencl.pointer<f32, local> -> f32
      %p = eltwise.mul %a, %b : f32
      opencl.store %p, %c[%i + %j] : f32 -> !opencl.pointer<f32, private>
    }
  }
  opencl.for %i : 4 unroll {
    opencl.for %j : 4 unroll {
      %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
      %b = opencl.load %t[%i + %j] : !opencl.pointer<f32, local> -> f32
      %p = eltwise.mul %a, %b : f32
      opencl.store %p, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
    }
  }
  opencl.for %i : 4 {
    opencl.for %j : 4 {
      %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
      %b = opencl.load %t[%j] : !opencl.pointer<f32, local> -> f32
      %p = eltwise.mul %a, %b : f32
      opencl.store %p, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
    }
  }
  opencl.for %i : 4 unroll {
    opencl.for %j : 4 unroll {
      %a = opencl.load %s[%i] : !opencl.pointer<f32, local> -> f32
      %b = opencl.load %t[%j] : !opencl.pointer<f32, local> -> f32
      %p = eltwise.mul %a, %b : f32
      opencl.store %p, %C[4 * %i + %j] : f32 -> !opencl.pointer<f32, global>
    }
  }
}
