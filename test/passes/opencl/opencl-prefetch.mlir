// RUN: tile-opt %s --split-input-file -p 'opencl-prefetch{hardware="cpu-avx512"}' | filecheck %s
// RUN: tile-opt %s --split-input-file -p 'opencl-prefetch{hardware="cpu-avx512:page_bytes=65536"}' | filecheck %s --check-prefix=LARGE

// Eight groups read a panel of 64 KB, of 64 panels: each fetches an eighth of the next.
// CHECK:      opencl.kernel @groups
// CHECK:        opencl.for %n : 512 unroll 4 {
// CHECK-NEXT:     opencl.prefetch %W[16384 * %h + 2048 * %b + 4 * %n + 16384]
// CHECK-NEXT:     opencl.for %r : 2 unroll {
opencl.kernel @groups(%W : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 512
  %h, %b = opencl.delinearize %g into [64, 8]
  opencl.for %n : 512 unroll 4 {
    opencl.for %r : 2 unroll {
      opencl.for %w : 2 unroll {
        %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w] : !opencl.pointer<f32, global> -> vector<16xf32>
        opencl.store %x, %C[512 * %h + 64 * %b + 32 * %r + 16 * %w] : vector<16xf32> -> !opencl.pointer<f32, global>
      }
    }
  }
}

// -----

// Of steps that fetch and have 16 accumulators, two stay side by side; with 14, all four.
// CHECK:      opencl.kernel @accumulators
// CHECK:        opencl.for %n : 512 unroll 2 {
// CHECK-NEXT:     opencl.prefetch
// CHECK:        opencl.for %m : 512 unroll 4 {
// CHECK-NEXT:     opencl.prefetch
opencl.kernel @accumulators(%W : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 512
  %h, %b = opencl.delinearize %g into [64, 8]
  %p = opencl.array 256 : !opencl.pointer<f32, private>
  opencl.for %n : 512 unroll 4 {
    opencl.for %r : 8 unroll {
      opencl.for %w : 2 unroll {
        %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w] : !opencl.pointer<f32, global> -> vector<16xf32>
        opencl.store %x, %p[32 * %r + 16 * %w] : vector<16xf32> -> !opencl.pointer<f32, private>
      }
    }
  }
  opencl.for %m : 512 unroll 4 {
    opencl.for %r : 7 unroll {
      opencl.for %w : 2 unroll {
        %x = opencl.load %W[16384 * %h + 32 * %m + 16 * %w] : !opencl.pointer<f32, global> -> vector<16xf32>
        opencl.store %x, %p[32 * %r + 16 * %w] : vector<16xf32> -> !opencl.pointer<f32, private>
      }
    }
  }
}

// -----

// Strips within a group: a panel is read in two loops, and the next group has the next
// one. A step's share of more than a line takes several fetches.
// CHECK:      opencl.kernel @strips
// CHECK:        opencl.for %k : 256 {
// CHECK-NEXT:     opencl.prefetch %W[32768 * %j + 12288 * %s + 16384 * %t + 48 * %k + 32800]
// CHECK-NEXT:     opencl.prefetch %W[32768 * %j + 12288 * %s + 16384 * %t + 48 * %k + 32784]
// CHECK-NEXT:     opencl.prefetch %W[32768 * %j + 12288 * %s + 16384 * %t + 48 * %k + 32768]
// CHECK-NEXT:     opencl.for %w : 6 unroll {
opencl.kernel @strips(%W : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %j = opencl.work_item group_id 0 below 64
  opencl.for %s : 2 {
    opencl.for %t : 2 {
      opencl.for %k : 256 {
        opencl.for %w : 6 unroll {
          %x = opencl.load %W[32768 * %j + 16384 * %t + 96 * %k + 16 * %w] : !opencl.pointer<f32, global> -> vector<16xf32>
          opencl.store %x, %C[512 * %j + 256 * %s + 16 * %w] : vector<16xf32> -> !opencl.pointer<f32, global>
        }
      }
    }
  }
}

// -----

// In the last panel there is nothing to compute beyond 8 columns: what is inside has the
// condition of the others.
// CHECK:      opencl.kernel @edges
// CHECK:        opencl.if -%h + 62 >= 0 {
// CHECK-NEXT:     opencl.for %n : 512 {
// CHECK-NEXT:       opencl.prefetch %W[8192 * %h + 1024 * %b + 2 * %n + 8192]
// CHECK:        opencl.if %h - 63 >= 0 {
// CHECK-NEXT:     opencl.for %m : 512 {
// CHECK-NEXT:       opencl.load
opencl.kernel @edges(%W : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 512
  %h, %b = opencl.delinearize %g into [64, 8]
  opencl.if -%h + 62 >= 0 {
    opencl.for %n : 512 {
      %x = opencl.load %W[8192 * %h + 16 * %n] : !opencl.pointer<f32, global> -> vector<16xf32>
      opencl.store %x, %C[512 * %h + 64 * %b] : vector<16xf32> -> !opencl.pointer<f32, global>
    }
  }
  opencl.if %h - 63 >= 0 {
    opencl.for %m : 512 {
      %x = opencl.load %W[8192 * %h + 16 * %m] : !opencl.pointer<f32, global> -> vector<8xf32>
      opencl.store %x, %C[512 * %h + 64 * %b] : vector<8xf32> -> !opencl.pointer<f32, global>
    }
  }
}

// -----

// Left alone: panels used 128 times, what fits a core's own cache, what is too large for
// it, and loads with gaps.
// CHECK:     opencl.kernel @others
// CHECK-NOT: opencl.prefetch
opencl.kernel @others(%W : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 65536
  %h, %a, %b = opencl.delinearize %g into [64, 8, 128]
  opencl.for %n : 512 {
    %x = opencl.load %W[131072 * %h + 16384 * %a + 16 * %n] : !opencl.pointer<f32, global> -> vector<16xf32>
    opencl.store %x, %C[131072 * %h + 2048 * %a + 16 * %b] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// -----

// CHECK:     opencl.kernel @small_large_sparse
// CHECK-NOT: opencl.prefetch
opencl.kernel @small_large_sparse(%W : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 64
  %h, %b = opencl.delinearize %g into [8, 8]
  opencl.for %n : 64 {
    %x = opencl.load %W[1024 * %h + 16 * %n] : !opencl.pointer<f32, global> -> vector<16xf32>
    opencl.store %x, %C[128 * %h + 16 * %b] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
  opencl.for %n : 65536 {
    %x = opencl.load %W[1048576 * %h + 16 * %n] : !opencl.pointer<f32, global> -> vector<16xf32>
    opencl.store %x, %C[128 * %h + 16 * %b] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
  opencl.for %n : 4096 {
    %x = opencl.load %W[131072 * %h + 32 * %n] : !opencl.pointer<f32, global> -> vector<16xf32>
    opencl.store %x, %C[128 * %h + 16 * %b] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// -----

// A page of 4096 bytes ahead, of each memory that is read, and not of what is written.
// CHECK:      opencl.kernel @chain
// CHECK:        opencl.for %i : 1024 {
// CHECK-NEXT:     opencl.prefetch %B[16384 * %g + 16 * %i + 1024]
// CHECK-NEXT:     opencl.prefetch %A[16384 * %g + 16 * %i + 1024]
// CHECK-NEXT:     %a = opencl.load %A[16384 * %g + 16 * %i]
// CHECK-NOT:      opencl.prefetch
// LARGE:      opencl.kernel @chain
// LARGE:          opencl.prefetch %B[16384 * %g + 16 * %i + 16384]
opencl.kernel @chain(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 1024
  opencl.for %i : 1024 {
    %a = opencl.load %A[16384 * %g + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %b = opencl.load %B[16384 * %g + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %c = eltwise.mul %a, %b : vector<16xf32>
    %e = eltwise.exp %c : vector<16xf32>
    opencl.store %e, %C[16384 * %g + 16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// -----

// Rows: every line of a step, of the first loop that reads them. Sixteen numbers of a
// byte are a quarter of a line.
// CHECK:      opencl.kernel @rows
// CHECK:        opencl.for %n : 64 {
// CHECK-NEXT:     opencl.prefetch %X[4096 * %m + 64 * %n + 1072]
// CHECK-NEXT:     opencl.prefetch %X[4096 * %m + 64 * %n + 1056]
// CHECK-NEXT:     opencl.prefetch %X[4096 * %m + 64 * %n + 1040]
// CHECK-NEXT:     opencl.prefetch %X[4096 * %m + 64 * %n + 1024]
// CHECK-NEXT:     opencl.for %lane : 4 unroll {
// CHECK:        opencl.for %i : 256 {
// CHECK-NEXT:     opencl.prefetch %Z[4096 * %m + 16 * %i + 4096]
// CHECK-NEXT:     opencl.load %X
opencl.kernel @rows(%X : !opencl.pointer<f32, global>, %Y : !opencl.pointer<f32, global>, %Z : !opencl.pointer<si8, global>) group [1, 1, 1] {
  %m = opencl.work_item group_id 0 below 4096
  opencl.for %n : 64 {
    opencl.for %lane : 4 unroll {
      %x = opencl.load %X[4096 * %m + 64 * %n + 16 * %lane] : !opencl.pointer<f32, global> -> vector<16xf32>
      %e = eltwise.exp %x : vector<16xf32>
      opencl.store %e, %Y[4096 * %m + 64 * %n + 16 * %lane] : vector<16xf32> -> !opencl.pointer<f32, global>
    }
  }
  opencl.for %i : 256 {
    %x = opencl.load %X[4096 * %m + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %z = opencl.load %Z[4096 * %m + 16 * %i] : !opencl.pointer<si8, global> -> vector<16xsi8>
    %e = eltwise.exp %x : vector<16xf32>
    opencl.store %e, %Y[4096 * %m + 16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
    opencl.store %z, %Z[4096 * %m + 16 * %i] : vector<16xsi8> -> !opencl.pointer<si8, global>
  }
}

// -----

// Short rows that follow each other, in loops and groups around.
// CHECK:      opencl.kernel @short_rows
// CHECK:        opencl.for %n : 5 {
// CHECK-NEXT:     opencl.prefetch %X[25600 * %g + 80 * %m + 16 * %n + 1024]
// LARGE:      opencl.kernel @short_rows
// LARGE:        opencl.for %n : 5 {
// LARGE-NEXT:     opencl.prefetch %X[25600 * %g + 80 * %m + 16 * %n + 16384]
opencl.kernel @short_rows(%X : !opencl.pointer<f32, global>, %Y : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 512
  opencl.for %m : 320 {
    opencl.for %n : 5 {
      %x = opencl.load %X[25600 * %g + 80 * %m + 16 * %n] : !opencl.pointer<f32, global> -> vector<16xf32>
      %e = eltwise.exp %x : vector<16xf32>
      opencl.store %e, %Y[25600 * %g + 80 * %m + 16 * %n] : vector<16xf32> -> !opencl.pointer<f32, global>
    }
  }
}

// -----

// Left alone: what fits a core's own cache, single numbers, gaps, private memory. What
// other groups read again is a panel.
// CHECK:     opencl.kernel @streams
// CHECK:       opencl.prefetch %A[16384 * %h + 2048 * %l + 2 * %i + 16384]
// CHECK-NOT: opencl.prefetch
opencl.kernel @streams(%S : !opencl.pointer<f32, global>, %A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %G : !opencl.pointer<f32, global>, %Y : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 4096
  %h, %l = opencl.delinearize %g into [512, 8]
  %p = opencl.array 16384 : !opencl.pointer<f32, private>
  opencl.for %i : 1024 {
    %s = opencl.load %S[16 * %h + 2 * %l + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %a = opencl.load %A[16384 * %h + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %b = opencl.load %B[8192 * %h + 1024 * %l + %i] : !opencl.pointer<f32, global> -> f32
    %y = opencl.load %G[262144 * %h + 32768 * %l + 32 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %q = opencl.load %p[16 * %i] : !opencl.pointer<f32, private> -> vector<16xf32>
    %e = eltwise.exp %y : vector<16xf32>
    opencl.store %e, %Y[131072 * %h + 16384 * %l + 16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// -----

// Left alone: rows of 1024 bytes of which the next one is read elsewhere, as what is
// transposed is.
// CHECK:     opencl.kernel @tiles
// CHECK-NOT: opencl.prefetch
opencl.kernel @tiles(%X : !opencl.pointer<f32, global>, %Y : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 256
  %m, %n = opencl.delinearize %g into [16, 16]
  opencl.for %r : 256 {
    opencl.for %i : 16 {
      %x = opencl.load %X[1048576 * %m + 4096 * %r + 256 * %n + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
      %e = eltwise.exp %x : vector<16xf32>
      opencl.store %e, %Y[1048576 * %m + 4096 * %r + 256 * %n + 16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
    }
  }
}

// -----

// Left alone: groups of several items.
// CHECK:     opencl.kernel @items
// CHECK-NOT: opencl.prefetch
opencl.kernel @items(%X : !opencl.pointer<f32, global>, %Y : !opencl.pointer<f32, global>) group [64, 1, 1] {
  %g = opencl.work_item group_id 0 below 1024
  opencl.for %i : 1024 {
    %x = opencl.load %X[16384 * %g + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %e = eltwise.exp %x : vector<16xf32>
    opencl.store %e, %Y[16384 * %g + 16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}

// -----

// Left alone: so little arithmetic that memory is all that it waits for.
// CHECK:     opencl.kernel @sum
// CHECK-NOT: opencl.prefetch
opencl.kernel @sum(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 1024
  opencl.for %i : 1024 {
    %a = opencl.load %A[16384 * %g + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %b = opencl.load %B[16384 * %g + 16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
    %c = eltwise.add %a, %b : vector<16xf32>
    opencl.store %c, %C[16384 * %g + 16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}
