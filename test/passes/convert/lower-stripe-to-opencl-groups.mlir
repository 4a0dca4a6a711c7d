// RUN: tile-opt %s --split-input-file --verify-diagnostics -p 'lower-stripe-to-opencl{barriers=false}' | filecheck %s

// Nested blocks of one shape give the group its dimensions. Local memory is shared, and
// of private memory each work-item has the cells that its points use.
// CHECK:      opencl.kernel @shared(%A: {{.*}}, %C: {{.*}}) group [4, 2, 1] {
// CHECK-NEXT:   %t = opencl.array 8 : !opencl.pointer<f32, local>
// CHECK-NEXT:   %g = opencl.work_item group_id 0 below 3
// CHECK-NEXT:   %x = opencl.work_item local_id 0 below 4
// CHECK-NEXT:   %y = opencl.work_item local_id 1 below 2
// CHECK-NEXT:   %p = opencl.array 3 : !opencl.pointer<f32, private>
func.func @main(%A : !stripe.view<3x8xf32>) -> !stripe.view<3x24xf32> {
  %C = stripe.alloc : !stripe.view<3x24xf32>
  stripe.block "shared" [%g : 3 grid]
      in %a = %A[%g, 0] : 1x8
      out %c = %C[%g, 0] : 1x24 {
    %t = stripe.alloc : !stripe.view<8xf32, local>
    %p = stripe.alloc : !stripe.view<24xf32, private>
    // CHECK-NEXT: %v = opencl.load %A[8 * %g + 4 * %y + %x]
    // CHECK-NEXT: opencl.store %v, %t[4 * %y + %x]
    stripe.block [%y : 2 group, %x : 4 group]
        in %a_1 = %a[0, 4 * %y + %x] : 1x1
        out %t_1 = %t[4 * %y + %x] : 1 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %t_1 : !stripe.view<1xf32, local>
    }
    // CHECK-NEXT: opencl.for %k : 3 {
    // CHECK-NEXT:   %v_1 = opencl.load %t[-4 * %y - %x + 7]
    // CHECK-NEXT:   opencl.store %v_1, %p[%k]
    stripe.block [%y : 2 group, %x : 4 group, %k : 3]
        in %t_1 = %t[-4 * %y - %x + 7] : 1
        out %p_1 = %p[12 * %y + 3 * %x + %k] : 1 {
      %v = stripe.load %t_1 : !stripe.view<1xf32, local>
      stripe.store %v, %p_1 : !stripe.view<1xf32, private>
    }
    // CHECK:      opencl.for %k_1 : 3 {
    // CHECK-NEXT:   %v_2 = opencl.load %p[%k_1]
    // CHECK-NEXT:   opencl.store %v_2, %C[24 * %g + 12 * %y + 3 * %x + %k_1]
    stripe.block [%y : 2 group, %x : 4 group]
        in %p_1 = %p[12 * %y + 3 * %x] : 3
        out %c_1 = %c[0, 12 * %y + 3 * %x] : 1x3 {
      stripe.block [%k : 3]
          in %p_2 = %p_1[%k] : 1
          out %c_2 = %c_1[0, %k] : 1x1 {
        %v = stripe.load %p_2 : !stripe.view<1xf32, private>
        stripe.store %v, %c_2 : !stripe.view<1x1xf32>
      }
    }
  }
  func.return %C : !stripe.view<3x24xf32>
}

// -----

// Of different shapes: the largest says how many work-items there are, which are taken
// apart for each; in a smaller block some rest.
// CHECK:      opencl.kernel @shapes({{.*}}) group [8, 1, 1] {
// CHECK-NEXT:   %t = opencl.array 8 : !opencl.pointer<f32, local>
// CHECK-NEXT:   %g = opencl.work_item group_id 0 below 3
// CHECK-NEXT:   %x = opencl.work_item local_id 0 below 8
// CHECK-NEXT:   %y, %z = opencl.delinearize %x into [4, 2]
// CHECK-NEXT:   %v = opencl.load %A[8 * %g + 2 * %y + %z]
// CHECK-NEXT:   opencl.store %v, %t[2 * %y + %z]
// CHECK-NEXT:   opencl.if -%x + 5 >= 0 {
// CHECK-NEXT:     %i, %j = opencl.delinearize %x into [3, 2]
// CHECK-NEXT:     %v_1 = opencl.load %t[2 * %i + %j]
// CHECK-NEXT:     opencl.store %v_1, %C[8 * %g + 2 * %i + %j]
// CHECK-NEXT:   }
// CHECK-NEXT:   %v_2 = opencl.load %t[%x]
// CHECK-NEXT:   opencl.store %v_2, %C[8 * %g + %x]
func.func @main(%A : !stripe.view<3x8xf32>) -> !stripe.view<3x8xf32> {
  %C = stripe.alloc : !stripe.view<3x8xf32>
  stripe.block "shapes" [%g : 3 grid]
      in %a = %A[%g, 0] : 1x8
      out %c = %C[%g, 0] : 1x8 {
    %t = stripe.alloc : !stripe.view<8xf32, local>
    stripe.block [%y : 4 group, %z : 2 group]
        in %a_1 = %a[0, 2 * %y + %z] : 1x1
        out %t_1 = %t[2 * %y + %z] : 1 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %t_1 : !stripe.view<1xf32, local>
    }
    stripe.block [%i : 3 group, %j : 2 group]
        in %t_1 = %t[2 * %i + %j] : 1
        out %c_1 = %c[0, 2 * %i + %j] : 1x1 {
      %v = stripe.load %t_1 : !stripe.view<1xf32, local>
      stripe.store %v, %c_1 : !stripe.view<1x1xf32>
    }
    stripe.block [%x : 8 group]
        in %t_1 = %t[%x] : 1
        out %c_1 = %c[0, %x] : 1x1 {
      %v = stripe.load %t_1 : !stripe.view<1xf32, local>
      stripe.store %v, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<3x8xf32>
}

// -----

// Where a condition differs between work-items, a barrier may have to be between two
// blocks under it: each is tested by itself.
// CHECK:      opencl.kernel @apart(
// CHECK:        opencl.if -%x + 3 >= 0 {
// CHECK:          opencl.store {{.*}}, %t[%x]
// CHECK-NEXT:   }
// CHECK-NEXT:   opencl.if -%x + 3 >= 0 {
// CHECK-NEXT:     opencl.load %t[-%x + 3]
func.func @main(%A : !stripe.view<3x8xf32>) -> !stripe.view<3x8xf32> {
  %C = stripe.alloc : !stripe.view<3x8xf32>
  stripe.block "apart" [%g : 3 grid]
      in %a = %A[%g, 0] : 1x8
      out %c = %C[%g, 0] : 1x8 {
    %t = stripe.alloc : !stripe.view<8xf32, local>
    stripe.block [%x : 8 group]
        in %a_1 = %a[0, %x] : 1x1
        out %t_1 = %t[%x] : 1
        where 3 - %x >= 0 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %t_1 : !stripe.view<1xf32, local>
    }
    stripe.block [%x : 8 group]
        in %t_1 = %t[3 - %x] : 1
        out %c_1 = %c[0, %x] : 1x1
        where 3 - %x >= 0 {
      %v = stripe.load %t_1 : !stripe.view<1xf32, local>
      stripe.store %v, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<3x8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%g : 1 grid]
      out %c = %C[0] : 8 {
    // expected-error @+1 {{and this private memory is used in different parts by different blocks with indices bound to work-items}}
    %p = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%x : 4 group]
        out %p_1 = %p[2 * %x] : 2 {
    }
    stripe.block [%x : 8 group]
        in %p_1 = %p[%x] : 1
        out %c_1 = %c[%x] : 1 {
      %v = stripe.load %p_1 : !stripe.view<1xf32, private>
      stripe.store %v, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%g : 1 grid]
      out %c = %C[0] : 8 {
    %p = stripe.alloc : !stripe.view<9xf32, private>
    // expected-error @+1 {{work-items of a group may use the same cells of private memory}}
    stripe.block [%x : 8 group]
        in %p_1 = %p[%x] : 2
        out %c_1 = %c[%x] : 1 {
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%g : 1 grid]
      in %a = %A[0] : 1
      out %c = %C[0] : 1 {
    stripe.block [%x : 8 group] {
    }
    %v = stripe.load %a : !stripe.view<1xf32>
    // expected-error @+1 {{all work-items of a group would run this store}}
    stripe.store %v, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{all work-items of a group would set the cells of an output}}
  stripe.block [%g : 1 grid]
      in %a = %A[0] : 8
      out %c = %C[0] : 8 add init 0 {
    stripe.block [%x : 8 group]
        in %a_1 = %a[%x] : 1
        out %c_1 = %c[%x] : 1 add {
      %v = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %v, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

// Work-items may not aggregate into one cell, whatever is around.
func.func @main(%A : !stripe.view<4x8xf32>) -> !stripe.view<4x8xf32> {
  %C = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block [%g : 4 grid]
      in %a = %A[%g, 0] : 1x8
      out %c = %C[%g, 0] : 1x8 add {
    // expected-error @+1 {{work-items with different 'x' may write the same cell of output 'c'}}
    stripe.block [%x : 8 group]
        in %a_1 = %a[0, %x] : 1x1
        out %c_1 = %c[0, 2 * %g] : 1x1 add {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x8xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%g : 1 grid]
      out %c = %C[0] : 8 {
    stripe.block [%x : 8 group]
        out %c_1 = %c[%x] : 1 {
      // expected-error @+1 {{cannot bind index '%y' to 'group': a block around it has an index that is bound to 'group'}}
      stripe.block [%y : 2 group]
          out %c_2 = %c_1[0] : 1 {
      }
    }
  }
  func.return %C : !stripe.view<8xf32>
}

// -----

// Sub-groups and their lanes, told by the number of the work-item: as many lanes as the
// widest block has. In others some of them rest, or some sub-groups. What a sub-group
// has of private memory is divided by its lanes.
// CHECK:      opencl.kernel @subgroups({{.*}}) group [12, 1, 1] {
// CHECK:        %item = opencl.work_item local_id 0 below 12
// CHECK-NEXT:   %s, %x = opencl.delinearize %item into [3, 4]
// CHECK-NEXT:   %p = opencl.array 2 : !opencl.pointer<f32, private>
// CHECK-NEXT:   opencl.for %k : 2 {
// CHECK-NEXT:     %v = opencl.load %A[24 * %g + 8 * %s + 2 * %x + %k]
// CHECK-NEXT:     opencl.store %v, %p[%k]
// CHECK:        opencl.for %k_1 : 2 {
// CHECK-NEXT:     %v_1 = opencl.load %p[%k_1]
// CHECK-NEXT:     opencl.store %v_1, %C[24 * %g + 8 * %s + 2 * %x + %k_1]
// CHECK:        opencl.if -%x + 2 >= 0 {
// CHECK-NEXT:     %v_2 = opencl.load %A[24 * %g + 8 * %s + %x]
// CHECK-NEXT:     opencl.store %v_2, %D[24 * %g + 8 * %s + %x]
// CHECK:        opencl.if -%x >= 0 {
// CHECK-NEXT:     %v_3 = opencl.load %A[24 * %g + 8 * %s + 7]
// CHECK-NEXT:     opencl.store %v_3, %D[24 * %g + 8 * %s + 7]
// CHECK:        opencl.if -%s >= 0 {
// CHECK-NEXT:     %v_4 = opencl.load %A[24 * %g + %x]
// CHECK-NEXT:     opencl.store %v_4, %E[4 * %g + %x]
func.func @main(%A : !stripe.view<2x24xf32>) -> (!stripe.view<2x24xf32>, !stripe.view<2x24xf32>, !stripe.view<2x4xf32>) {
  %C = stripe.alloc : !stripe.view<2x24xf32>
  %D = stripe.alloc : !stripe.view<2x24xf32>
  %E = stripe.alloc : !stripe.view<2x4xf32>
  stripe.block "subgroups" [%g : 2 grid]
      in %a = %A[%g, 0] : 1x24
      out %c = %C[%g, 0] : 1x24
      out %d = %D[%g, 0] : 1x24
      out %e = %E[%g, 0] : 1x4 {
    stripe.block [%s : 3 subgroup]
        in %a_1 = %a[0, 8 * %s] : 1x8
        out %c_1 = %c[0, 8 * %s] : 1x8
        out %d_1 = %d[0, 8 * %s] : 1x8 {
      %p = stripe.alloc : !stripe.view<8xf32, private>
      stripe.block [%x : 4 lane, %k : 2]
          in %a_2 = %a_1[0, 2 * %x + %k] : 1x1
          out %p_1 = %p[2 * %x + %k] : 1 {
        %v = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %v, %p_1 : !stripe.view<1xf32, private>
      }
      stripe.block [%x : 4 lane, %k : 2]
          in %p_1 = %p[2 * %x + %k] : 1
          out %c_2 = %c_1[0, 2 * %x + %k] : 1x1 {
        %v = stripe.load %p_1 : !stripe.view<1xf32, private>
        stripe.store %v, %c_2 : !stripe.view<1x1xf32>
      }
      stripe.block [%x : 3 lane]
          in %a_2 = %a_1[0, %x] : 1x1
          out %d_2 = %d_1[0, %x] : 1x1 {
        %v = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %v, %d_2 : !stripe.view<1x1xf32>
      }
      stripe.block []
          in %a_2 = %a_1[0, 7] : 1x1
          out %d_2 = %d_1[0, 7] : 1x1 {
        %v = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %v, %d_2 : !stripe.view<1x1xf32>
      }
    }
    stripe.block [%x : 4 lane]
        in %a_1 = %a[0, %x] : 1x1
        out %e_1 = %e[0, %x] : 1x1 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %e_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C, %D, %E : !stripe.view<2x24xf32>, !stripe.view<2x24xf32>, !stripe.view<2x4xf32>
}

// -----

// What is there already is computed again where one of the cells is NaN.
// CHECK-LABEL: opencl.kernel @again
// CHECK:       %t = opencl.array 2 : !opencl.pointer<f32, private>
// CHECK:       %total = opencl.array 1 : !opencl.pointer<f32, private>
// CHECK:       opencl.for %cell : 2 unroll {
// CHECK-NEXT:    %{{.*}} = opencl.load %t[%cell]
// CHECK-NEXT:    eltwise.mul
// CHECK-NEXT:    opencl.load %total[0]
// CHECK-NEXT:    eltwise.add
// CHECK-NEXT:    opencl.store %{{.*}}, %total[0]
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[SUM:.*]] = opencl.load %total[0]
// CHECK-NEXT:  %[[AGAIN:.*]] = eltwise.cmp_ne %[[SUM]], %[[SUM]]
// CHECK-NEXT:  opencl.when %[[AGAIN]] {
// CHECK-NEXT:    opencl.for %{{.*}} : 2 unroll 1 {
// CHECK:         opencl.store %{{.*}}, %t[%k_1]
// CHECK:       }
// CHECK:       opencl.store %{{.*}}, %C[
func.func @main(%A : !stripe.view<4x2xf32>) -> !stripe.view<4x2xf32> {
  %C = stripe.alloc : !stripe.view<4x2xf32>
  stripe.block "again" [%x : 4 group]
      in %a = %A[%x, 0] : 1x2
      out %c = %C[%x, 0] : 1x2 {
    %t = stripe.alloc : !stripe.view<2xf32, private>
    stripe.block [%k : 2]
        in %a_1 = %a[0, %k] : 1x1
        out %t_1 = %t[%k] : 1 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      %w = eltwise.add %v, %v : f32
      stripe.store %w, %t_1 : !stripe.view<1xf32, private>
    }
    stripe.block []
        in %a_1 = %a[0, 0] : 1x2
        out %t_1 = %t[0] : 2
        attributes {stripe.unless_numbers} {
      stripe.block [%k : 2]
          in %a_2 = %a_1[0, %k] : 1x1
          out %t_2 = %t_1[%k] : 1 {
        %v = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %v, %t_2 : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%k : 2]
        in %t_1 = %t[%k] : 1
        out %c_1 = %c[0, %k] : 1x1 {
      %v = stripe.load %t_1 : !stripe.view<1xf32, private>
      stripe.store %v, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x2xf32>
}

// -----

func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%g : 1 grid]
      in %a = %A[0] : 8
      out %c = %C[0] : 8 {
    stripe.block [%s : 2 subgroup]
        in %a_1 = %a[4 * %s] : 4
        out %c_1 = %c[4 * %s] : 4 {
      // expected-error @+1 {{each point has its own allocation, but the work-items of a group share local memory}}
      %t = stripe.alloc : !stripe.view<4xf32, local>
      stripe.block [%x : 4 lane]
          in %a_2 = %a_1[%x] : 1
          out %t_1 = %t[%x] : 1 {
        %v = stripe.load %a_2 : !stripe.view<1xf32>
        stripe.store %v, %t_1 : !stripe.view<1xf32, local>
      }
    }
  }
  func.return %C : !stripe.view<8xf32>
}
