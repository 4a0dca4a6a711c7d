// RUN: tile-opt %s -p opencl-limit-unrolling | filecheck %s
// RUN: tile-opt %s -p opencl-limit-unrolling | tile-opt - | filecheck %s
// RUN: tile-opt %s -p opencl-limit-unrolling -t opencl | filecheck %s --check-prefix=SOURCE
// RUN: tile-opt %s -p 'opencl-limit-unrolling{hardware="cpu-avx512:overheads.interleaved_statements=9"}' | filecheck %s --check-prefix=NINE

// Two copies of three accesses and an operation are eight statements.
// CHECK-LABEL: opencl.kernel @many
// CHECK: opencl.for %k : 100 unroll 1 {
// CHECK-NEXT: opencl.for %i : 2 unroll {
// SOURCE-LABEL: void many(
// SOURCE: #pragma unroll 1
// SOURCE-NEXT: #pragma clang loop vectorize(disable)
// SOURCE-NEXT: for (int k = 0; k < 100; ++k) {
// SOURCE-NEXT: // opencl-limit-unrolling.mlir
// SOURCE-NEXT: #pragma unroll
// SOURCE-NEXT: for (int i = 0; i < 2; ++i) {
// NINE-LABEL: opencl.kernel @many
// NINE: opencl.for %k : 100 unroll 4 {
opencl.kernel @many(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  opencl.for %k : 100 {
    opencl.for %i : 2 unroll {
      %x = opencl.load %A[2 * %k + %i] : !opencl.pointer<f32, global> -> f32
      %y = opencl.load %B[%i] : !opencl.pointer<f32, global> -> f32
      %z = eltwise.add %x, %y : f32
      opencl.store %z, %B[%i] : f32 -> !opencl.pointer<f32, global>
    }
  }
}

// Of an innermost loop with a short body sixteen steps would have as many statements as
// four of a long one; ten divide the extent. What is around it is not unrolled.
// CHECK-LABEL: opencl.kernel @few_steps
// CHECK: opencl.for %i : 4 unroll 1 {
// CHECK-NEXT: opencl.if
// CHECK-NEXT: opencl.for %j : 100 unroll 10 {
// NINE-LABEL: opencl.kernel @few_steps
// NINE: opencl.for %i : 4 unroll 1 {
opencl.kernel @few_steps(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  opencl.for %i : 4 {
    opencl.if %i - 2 >= 0 {
      opencl.for %j : 100 {
        %x = opencl.load %A[100 * %i + %j] : !opencl.pointer<f32, global> -> f32
        opencl.store %x, %B[100 * %i + %j] : f32 -> !opencl.pointer<f32, global>
      }
    }
  }
}

// Loops that are unrolled are no loops.
// CHECK-LABEL: opencl.kernel @none
// CHECK: opencl.for %i : 2 unroll 2 {
// CHECK-NEXT: opencl.for %j : 3 unroll {
opencl.kernel @none(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  opencl.for %i : 2 {
    opencl.for %j : 3 unroll {
      %x = opencl.load %A[3 * %i + %j] : !opencl.pointer<f32, global> -> f32
      opencl.store %x, %B[3 * %i + %j] : f32 -> !opencl.pointer<f32, global>
    }
  }
}

// Twenty accumulators leave registers free: four steps side by side.
// CHECK-LABEL: opencl.kernel @accumulators
// CHECK: opencl.for %k : 400 unroll 4 {
// SOURCE-LABEL: void accumulators(
// SOURCE: #pragma unroll 4
// SOURCE-NEXT: #pragma clang loop vectorize(disable)
// SOURCE-NEXT: for (int k = 0; k < 400; ++k) {
opencl.kernel @accumulators(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %acc = opencl.array 20 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 400 {
    opencl.for %i : 20 unroll {
      %x = opencl.load %A[160 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
}

// With a quarter of the steps it takes longer to compile than is saved.
// CHECK-LABEL: opencl.kernel @soon_done
// CHECK: opencl.for %k : 100 unroll 1 {
opencl.kernel @soon_done(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %acc = opencl.array 20 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 100 {
    opencl.for %i : 20 unroll {
      %x = opencl.load %A[160 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
}

// No steps are left over: three divide 99, and one 101.
// CHECK-LABEL: opencl.kernel @divided
// CHECK: opencl.for %k : 99 unroll 3 {
// CHECK: opencl.for %k_1 : 101 unroll 1 {
opencl.kernel @divided(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %acc = opencl.array 4 : !opencl.pointer<vector<8xf32>, private>
  %acc_1 = opencl.array 4 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 99 {
    opencl.for %i : 4 unroll {
      %x = opencl.load %A[32 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
  opencl.for %k : 101 {
    opencl.for %i : 4 unroll {
      %x = opencl.load %A[32 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc_1[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc_1[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
}

// Of loops with the same accumulators the one that does most, here by the loop around,
// and those that do half as much.
// CHECK-LABEL: opencl.kernel @border
// CHECK: opencl.for %k : 96 unroll 1 {
// CHECK: opencl.for %k_1 : 100 unroll 4 {
// CHECK: opencl.for %j : 5 unroll 1 {
// CHECK: opencl.for %k_2 : 40 unroll 4 {
opencl.kernel @border(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %acc = opencl.array 4 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 96 {
    opencl.for %i : 4 unroll {
      %x = opencl.load %A[32 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
  opencl.for %k : 100 {
    opencl.for %i : 4 unroll {
      %x = opencl.load %A[32 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
  opencl.for %j : 5 {
    opencl.for %k : 40 {
      opencl.for %i : 4 unroll {
        %x = opencl.load %A[32 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
        %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
        %z = eltwise.add %x, %y : vector<8xf32>
        opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
      }
    }
  }
}

// Of few steps there is little to save.
// CHECK-LABEL: opencl.kernel @brief
// CHECK: opencl.for %k : 15 unroll 1 {
opencl.kernel @brief(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %acc = opencl.array 4 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 15 {
    opencl.for %i : 4 unroll {
      %x = opencl.load %A[32 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
}

// Twenty-one leave too few.
// CHECK-LABEL: opencl.kernel @full
// CHECK: opencl.for %k : 100 unroll 1 {
opencl.kernel @full(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %acc = opencl.array 21 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 100 {
    opencl.for %i : 21 unroll {
      %x = opencl.load %A[168 * %k + 8 * %i] : !opencl.pointer<f32, global> -> vector<8xf32>
      %y = opencl.load %acc[%i] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
      %z = eltwise.add %x, %y : vector<8xf32>
      opencl.store %z, %acc[%i] : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
    }
  }
}
