// RUN: tile-opt %s --split-input-file -p 'opencl-prefetch-panels{hardware="cpu-avx512"}' | filecheck %s

// Eight groups read a panel of 64 KB, of 64 panels: each fetches an eighth of the next.
// CHECK:      opencl.kernel @groups
// CHECK:        opencl.for %n : 512 {
// CHECK-NEXT:     opencl.prefetch %W[16384 * %h + 2048 * %b + 4 * %n + 16384]
// CHECK-NEXT:     opencl.for %r : 2 unroll {
opencl.kernel @groups(%W : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 512
  %h, %b = opencl.delinearize %g into [64, 8]
  opencl.for %n : 512 {
    opencl.for %r : 2 unroll {
      opencl.for %w : 2 unroll {
        %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w] : !opencl.pointer<f32, global> -> vector<16xf32>
        opencl.store %x, %C[512 * %h + 64 * %b + 32 * %r + 16 * %w] : vector<16xf32> -> !opencl.pointer<f32, global>
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
