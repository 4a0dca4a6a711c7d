// RUN: tile-opt %s -p opencl-zero-copies | filecheck %s
// RUN: tile-opt %s -p opencl-zero-copies -t opencl | filecheck %s --check-prefix=SOURCE
// RUN: tile-opt %s -p opencl-zero-copies | tile-opt - | filecheck %s

// Two conditions: a loop for what fails each, the second under the first. The second array
// has cells that nothing sets, the third is set to something else, the fourth at once, and
// of the fifth two steps share a cell.
// CHECK-LABEL: opencl.kernel @copies
// CHECK:         opencl.for %i : 4 unroll {
// CHECK-NEXT:      opencl.if -%group - 4 * %i + 20 >= 0, -%item + 5 >= 0 else zero {
// CHECK-NEXT:        %0 = opencl.load %A[%item + 8 * %i] : !opencl.pointer<f32, global> -> f32
// CHECK-NEXT:        opencl.store asynchronous %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    opencl.if -%item + 4 >= 0 {
// CHECK-NOT:     else zero
// CHECK:       }
// SOURCE: copy_or_zero(ca, 4, 1, s + (item + 8 * i), A + (item + 8 * i), group + 4 * i <= 20 && item <= 5);
opencl.kernel @copies(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %t = opencl.array 32 : !opencl.pointer<f32, local>
  %group = opencl.work_item group_id 0 below 4
  %item = opencl.work_item local_id 0 below 8
  opencl.for %i : 4 unroll {
    opencl.if %group + 4 * %i - 21 >= 0 {
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.for %i : 4 unroll {
    opencl.if -%group - 4 * %i + 20 >= 0, %item - 6 >= 0 {
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.for %i : 4 unroll {
    opencl.if -%group - 4 * %i + 20 >= 0, -%item + 5 >= 0 {
      %0 = opencl.load %A[%item + 8 * %i] : !opencl.pointer<f32, global> -> f32
      opencl.store asynchronous %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.if -%item + 4 >= 0 {
    %0 = eltwise.constant 0 : f32
    opencl.store %0, %t[%item] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.if %item - 6 >= 0 {
    %0 = opencl.load %A[%item] : !opencl.pointer<f32, global> -> f32
    opencl.store asynchronous %0, %t[%item] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.if -%item + 4 >= 0 {
    %0 = eltwise.constant 1 : f32
    opencl.store %0, %t[%item + 8] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.if %item - 5 >= 0 {
    %0 = opencl.load %A[%item] : !opencl.pointer<f32, global> -> f32
    opencl.store asynchronous %0, %t[%item + 8] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.if -%item + 4 >= 0 {
    %0 = eltwise.constant 0 : f32
    opencl.store %0, %t[%item + 16] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.if %item - 5 >= 0 {
    %0 = opencl.load %A[%item] : !opencl.pointer<f32, global> -> f32
    opencl.store %0, %t[%item + 16] : f32 -> !opencl.pointer<f32, local>
  }
  opencl.for %i : 2 {
    opencl.if -%item - %i + 4 >= 0 {
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %t[%item + 24] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.for %i : 2 {
    opencl.if %item + %i - 5 >= 0 {
      %0 = opencl.load %A[%item + 8 * %i] : !opencl.pointer<f32, global> -> f32
      opencl.store asynchronous %0, %t[%item + 24] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.barrier asynchronous local
  %x = opencl.load %s[%item] : !opencl.pointer<f32, local> -> f32
  opencl.store %x, %B[%item + 8 * %group] : f32 -> !opencl.pointer<f32, global>
}

// Tests inside each other, and around loops, are one; what a test keeps from storing
// anything else than a copy is no part of it.
// CHECK-LABEL: opencl.kernel @nested
// CHECK:         opencl.for %i : 4 unroll {
// CHECK-NEXT:      opencl.if %group - 1 >= 0, -%i + 2 >= 0, -%item + 5 >= 0 else zero {
// CHECK-NEXT:        %0 = opencl.load %A[%item + 8 * %i]
// CHECK:         opencl.if %group - 2 >= 0 {
// CHECK-NOT:     else zero
opencl.kernel @nested(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %group = opencl.work_item group_id 0 below 4
  %item = opencl.work_item local_id 0 below 8
  opencl.if -%group >= 0 {
    opencl.for %i : 4 unroll {
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.if %group - 1 >= 0 {
    opencl.for %i : 4 unroll {
      opencl.if %i - 3 >= 0 {
        %0 = eltwise.constant 0 : f32
        opencl.store %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
      }
    }
    opencl.for %i : 4 unroll {
      opencl.if -%i + 2 >= 0 {
        opencl.if %item - 6 >= 0 {
          %0 = eltwise.constant 0 : f32
          opencl.store %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
        }
      }
    }
    opencl.for %i : 4 unroll {
      opencl.if -%i + 2 >= 0 {
        opencl.if -%item + 5 >= 0 {
          %0 = opencl.load %A[%item + 8 * %i] : !opencl.pointer<f32, global> -> f32
          opencl.store asynchronous %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
        }
      }
    }
  }
  opencl.barrier asynchronous local
  opencl.if %group - 2 >= 0 {
    %x = opencl.load %s[%item] : !opencl.pointer<f32, local> -> f32
    opencl.store %x, %B[%item + 8 * %group] : f32 -> !opencl.pointer<f32, global>
  }
}

// The test of a copy may be around its loop: behind that it is around the copy alone.
// CHECK-LABEL: opencl.kernel @loop_inside
// CHECK:         opencl.for %i : 4 unroll {
// CHECK-NEXT:      opencl.if -%item + 5 >= 0 else zero {
// CHECK-NEXT:        %0 = opencl.load %A[%item + 8 * %i]
// CHECK-NEXT:        opencl.store asynchronous %0, %s[%item + 8 * %i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    opencl.barrier
opencl.kernel @loop_inside(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %item = opencl.work_item local_id 0 below 8
  opencl.if %item - 6 >= 0 {
    opencl.for %i : 4 unroll {
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.if -%item + 5 >= 0 {
    opencl.for %i : 4 unroll {
      %0 = opencl.load %A[%item + 8 * %i] : !opencl.pointer<f32, global> -> f32
      opencl.store asynchronous %0, %s[%item + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.barrier asynchronous local
  %x = opencl.load %s[%item] : !opencl.pointer<f32, local> -> f32
  opencl.store %x, %B[%item] : f32 -> !opencl.pointer<f32, global>
}

// What all loops test is a test around the copy, where indices are taken apart as well. A
// loop may set all cells, also those that are copied.
// CHECK-LABEL: opencl.kernel @shared
// CHECK:         opencl.for %i : 4 unroll {
// CHECK-NEXT:      opencl.if -%item + 5 >= 0 {
// CHECK-NEXT:        %a, %b = opencl.delinearize %item into [2, 3]
// CHECK-NEXT:        opencl.if %group - 1 >= 0, %b + %i - 2 >= 0, -%b - %i + 4 >= 0 else zero {
// CHECK-NEXT:          %0 = opencl.load %A[3 * %a + %b + 8 * %i]
// CHECK-NEXT:          opencl.store asynchronous %0, %s[3 * %a + %b + 8 * %i]
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    opencl.barrier
opencl.kernel @shared(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [8, 1, 1] {
  %s = opencl.array 32 : !opencl.pointer<f32, local>
  %group = opencl.work_item group_id 0 below 4
  %item = opencl.work_item local_id 0 below 8
  opencl.for %i : 4 unroll {
    opencl.if -%group >= 0, -%item + 5 >= 0 {
      %a, %b = opencl.delinearize %item into [2, 3]
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %s[3 * %a + %b + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.for %i : 4 unroll {
    opencl.if -%item + 5 >= 0, %group - 1 >= 0 {
      %a, %b = opencl.delinearize %item into [2, 3]
      %0 = eltwise.constant 0 : f32
      opencl.store %0, %s[3 * %a + %b + 8 * %i] : f32 -> !opencl.pointer<f32, local>
    }
  }
  opencl.for %i : 4 unroll {
    opencl.if -%item + 5 >= 0, %group - 1 >= 0 {
      %a, %b = opencl.delinearize %item into [2, 3]
      opencl.if %b + %i - 2 >= 0, %b + %i - 5 >= 0 {
        %0 = eltwise.constant 0 : f32
        opencl.store %0, %s[3 * %a + %b + 8 * %i] : f32 -> !opencl.pointer<f32, local>
      }
    }
  }
  opencl.for %i : 4 unroll {
    opencl.if -%item + 5 >= 0, %group - 1 >= 0 {
      %a, %b = opencl.delinearize %item into [2, 3]
      opencl.if %b + %i - 2 >= 0, -%b - %i + 4 >= 0 {
        %0 = opencl.load %A[3 * %a + %b + 8 * %i] : !opencl.pointer<f32, global> -> f32
        opencl.store asynchronous %0, %s[3 * %a + %b + 8 * %i] : f32 -> !opencl.pointer<f32, local>
      }
    }
  }
  opencl.barrier asynchronous local
  %x = opencl.load %s[%item] : !opencl.pointer<f32, local> -> f32
  opencl.store %x, %B[%item + 8 * %group] : f32 -> !opencl.pointer<f32, global>
}
