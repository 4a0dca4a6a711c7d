// RUN: tile-opt %s -p opencl-load-vectors | filecheck %s
// RUN: tile-opt %s -p opencl-load-vectors | tile-opt - | filecheck %s

// Vectors of rows and of columns, each before the first of its numbers is needed.
// CHECK-LABEL: opencl.kernel @product
// CHECK:       opencl.for %k : 4 unroll {
// CHECK-NEXT:    %s_near = opencl.array 8 : !opencl.pointer<f32, private>
// CHECK-NEXT:    %t_near = opencl.array 4 : !opencl.pointer<f32, private>
// CHECK-NEXT:    %[[A:.*]] = opencl.load aligned %s[8 * %k] : !opencl.pointer<f32, local> -> vector<4xf32>
// CHECK-NEXT:    opencl.store %[[A]], %s_near[0] : vector<4xf32> -> !opencl.pointer<f32, private>
// CHECK-NEXT:    %[[B:.*]] = opencl.load aligned %t[4 * %k] : !opencl.pointer<f32, local> -> vector<4xf32>
// CHECK-NEXT:    opencl.store %[[B]], %t_near[0] : vector<4xf32> -> !opencl.pointer<f32, private>
// CHECK-NEXT:    opencl.for %i : 4 unroll {
// CHECK-NEXT:      opencl.for %j : 4 unroll {
// CHECK-NEXT:        %{{.*}} = opencl.load %s_near[%i]
// CHECK-NEXT:        %{{.*}} = opencl.load %t_near[%j]
// CHECK:             opencl.store %{{.*}}, %c[4 * %i + %j]
// CHECK:         %{{.*}} = opencl.load aligned %s[8 * %k + 4]
// CHECK-NEXT:    opencl.store %{{.*}}, %s_near[4]
// CHECK-NEXT:    opencl.for %i{{.*}} : 4 unroll {
// CHECK-NEXT:      opencl.for %j{{.*}} : 4 unroll {
// CHECK-NEXT:        %{{.*}} = opencl.load %s_near[%i{{.*}} + 4]
// CHECK:             opencl.store %{{.*}}, %c[4 * %i{{.*}} + %j{{.*}} + 16]
opencl.kernel @product(%A : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %t = opencl.array 16 : !opencl.pointer<f32, local>
  %c = opencl.array 32 : !opencl.pointer<f32, private>
  opencl.for %x : 32 {
    %a = opencl.load %A[%x] : !opencl.pointer<f32, global> -> f32
    opencl.store %a, %s[%x] : f32 -> !opencl.pointer<f32, local>
    opencl.store %a, %c[%x] : f32 -> !opencl.pointer<f32, private>
  }
  opencl.for %x : 16 {
    %a = opencl.load %A[%x] : !opencl.pointer<f32, global> -> f32
    opencl.store %a, %t[%x] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.for %k : 4 unroll {
    opencl.for %i : 8 unroll {
      opencl.for %j : 4 unroll {
        %a = opencl.load %s[8 * %k + %i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %t[4 * %k + %j] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        %x = opencl.load %c[4 * %i + %j] : !opencl.pointer<f32, private> -> f32
        %y = eltwise.add %x, %p : f32
        opencl.store %y, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
  opencl.for %x : 32 {
    %y = opencl.load %c[%x] : !opencl.pointer<f32, private> -> f32
    opencl.store %y, %C[%x] : f32 -> !opencl.pointer<f32, global>
  }
}

// Columns of two vectors, which are loaded for the first row, as vectors already.
// CHECK-LABEL: opencl.kernel @vectors
// CHECK:       opencl.for %k : 4 unroll {
// CHECK-NEXT:    %s_near = opencl.array 4 : !opencl.pointer<f32, private>
// CHECK-NEXT:    %t_near = opencl.array 2 : !opencl.pointer<vector<4xf32>, private>
// CHECK-NEXT:    %{{.*}} = opencl.load aligned %s[4 * %k] : !opencl.pointer<f32, local> -> vector<4xf32>
// CHECK-NEXT:    opencl.store %{{.*}}, %s_near[0]
// CHECK-NEXT:    opencl.for %j : 2 unroll {
// CHECK-NEXT:      %{{.*}} = opencl.load aligned %t[8 * %k + 4 * %j] : !opencl.pointer<f32, local> -> vector<4xf32>
// CHECK-NEXT:      opencl.store %{{.*}}, %t_near[%j] : vector<4xf32> -> !opencl.pointer<vector<4xf32>, private>
// CHECK-NEXT:      %{{.*}} = opencl.load %s_near[0]
// CHECK-NEXT:      %{{.*}} = opencl.load %t_near[%j] : !opencl.pointer<vector<4xf32>, private> -> vector<4xf32>
// CHECK:           opencl.store %{{.*}}, %c[%j]
// CHECK:         opencl.for %i : 3 unroll {
// CHECK-NEXT:      opencl.for %j{{.*}} : 2 unroll {
// CHECK-NEXT:        %{{.*}} = opencl.load %s_near[%i + 1]
// CHECK-NEXT:        %{{.*}} = opencl.load %t_near[%j{{.*}}]
// CHECK:             opencl.store %{{.*}}, %c[2 * %i + %j{{.*}} + 2]
opencl.kernel @vectors(%A : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 16 : !opencl.pointer<f32, local>
  %t = opencl.array 32 : !opencl.pointer<f32, local>
  %c = opencl.array 8 : !opencl.pointer<vector<4xf32>, private>
  opencl.for %k : 4 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j : 2 unroll {
        %a = opencl.load %s[4 * %k + %i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load aligned %t[8 * %k + 4 * %j] : !opencl.pointer<f32, local> -> vector<4xf32>
        %w = eltwise.broadcast %a : f32 to vector<4xf32>
        %p = eltwise.mul %w, %b : vector<4xf32>
        opencl.store %p, %c[2 * %i + %j] : vector<4xf32> -> !opencl.pointer<vector<4xf32>, private>
      }
    }
  }
}

// Rows with a pitch of 5, and columns in steps of 2, are loaded one by one, but once.
// CHECK-LABEL: opencl.kernel @numbers
// CHECK:       opencl.for %k : 4 unroll {
// CHECK-NEXT:    %s_near = opencl.array 4 : !opencl.pointer<f32, private>
// CHECK-NEXT:    %s_near{{.*}} = opencl.array 4 : !opencl.pointer<f32, private>
// CHECK-NEXT:    %[[A:.*]] = opencl.load %s[5 * %k] : !opencl.pointer<f32, local> -> f32
// CHECK-NEXT:    opencl.store %[[A]], %s_near[0] : f32 -> !opencl.pointer<f32, private>
// CHECK-NEXT:    opencl.for %j : 4 unroll {
// CHECK-NEXT:      %[[B:.*]] = opencl.load %s[4 * %k + 2 * %j] : !opencl.pointer<f32, local> -> f32
// CHECK-NEXT:      opencl.store %[[B]], %s_near{{.*}}[%j] : f32 -> !opencl.pointer<f32, private>
// CHECK:         opencl.for %i : 3 unroll {
// CHECK-NEXT:      %{{.*}} = opencl.load %s[5 * %k + %i + 1] : !opencl.pointer<f32, local> -> f32
// CHECK-NOT:       !opencl.pointer<f32, local>
// CHECK:       opencl.kernel @others
opencl.kernel @numbers(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %c = opencl.array 32 : !opencl.pointer<f32, private>
  opencl.for %k : 4 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j : 4 unroll {
        %a = opencl.load %s[5 * %k + %i] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %s[4 * %k + 2 * %j] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
}

// Left alone: factors from global memory, and rows whose values of several steps lie side
// by side.
// CHECK-NOT:   _near
opencl.kernel @others(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %c = opencl.array 32 : !opencl.pointer<f32, private>
  opencl.for %k : 4 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j : 4 unroll {
        %a = opencl.load %A[4 * %k + %i] : !opencl.pointer<f32, global> -> f32
        %b = opencl.load %s[4 * %k + %j] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
  opencl.for %k : 4 unroll {
    opencl.for %i : 4 unroll {
      opencl.for %j : 4 unroll {
        %a = opencl.load %s[4 * %i + %k] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %s[4 * %k + %j] : !opencl.pointer<f32, local> -> f32
        %p = eltwise.mul %a, %b : f32
        opencl.store %p, %c[4 * %i + %j] : f32 -> !opencl.pointer<f32, private>
      }
    }
  }
}
