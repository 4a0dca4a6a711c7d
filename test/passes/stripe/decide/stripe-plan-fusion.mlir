// RUN: tile-opt %s -p stripe-plan-fusion | filecheck %s

// The rows of a reduction and of what is done with it. The figures say why.
// CHECK-LABEL: func.func @rows
// CHECK: stripe.block "S"
// CHECK: attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]] because "2 block(s), {{.*}} us instead of {{.*}} us, {{.*}} MB moved, 4 bytes of scratch">}
// CHECK: stripe.block "Y"
// CHECK: attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [1] tiles [[1]]>}
func.func @rows(%X : !stripe.view<512x32768xf32>) -> !stripe.view<512x32768xf32> {
  %S = stripe.alloc : !stripe.view<512xf32>
  %Y = stripe.alloc : !stripe.view<512x32768xf32>
  stripe.block "S" [%m : 512, %n : 32768]
      in %x = %X[%m, %n] : 1x1
      out %s = %S[%m] : 1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "Y" [%j : 32768, %i : 512]
      in %x = %X[%i, %j] : 1x1
      in %s = %S[%i] : 1
      out %y = %Y[%i, %j] : 1x1 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %Y : !stripe.view<512x32768xf32>
}

// Short rows: several of them are worth a work-group.
// CHECK-LABEL: func.func @short_rows
// CHECK: tiles {{\[\[[0-9]{3,}\], \[1\]\]}}>
func.func @short_rows(%X : !stripe.view<65536x32xf32>) -> !stripe.view<65536x32xf32> {
  %S = stripe.alloc : !stripe.view<65536xf32>
  %Y = stripe.alloc : !stripe.view<65536x32xf32>
  stripe.block "S" [%m : 65536, %n : 32]
      in %x = %X[%m, %n] : 1x1
      out %s = %S[%m] : 1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "Y" [%i : 65536, %j : 32]
      in %x = %X[%i, %j] : 1x1
      in %s = %S[%i] : 1
      out %y = %Y[%i, %j] : 1x1 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %Y : !stripe.view<65536x32xf32>
}

// The tiles of a contraction, down to its registers, for what uses its output.
// CHECK-LABEL: func.func @epilogue
// CHECK: stripe.block "C"
// CHECK: fuse group 0 shared [1, 0] tiles {{.*}} because "2 block(s), {{.*}} us instead of
// CHECK: tile [
// CHECK: stage input 1 at -2 of -1 order [0, 1] global because "{{[0-9.]+}} us without it"
// CHECK: stripe.block "R"
// CHECK: stripe.schedule = #stripe.schedule<fuse group 0 shared [1, 0]
func.func @epilogue(%A : !stripe.view<512x512xf32>, %B : !stripe.view<512x512xf32>)
    -> !stripe.view<512x512xf32> {
  %C = stripe.alloc : !stripe.view<512x512xf32>
  %R = stripe.alloc : !stripe.view<512x512xf32>
  stripe.block "C" [%i : 512, %j : 512, %k : 512]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  stripe.block "R" [%p : 512, %q : 512]
      in %c = %C[%p, %q] : 1x1
      out %r = %R[%p, %q] : 1x1 {
    %0 = stripe.load %c : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %r : !stripe.view<1x1xf32>
  }
  func.return %R : !stripe.view<512x512xf32>
}

// Left alone: a maximum over columns that later rows need, what reads a neighbour's
// cells, what was decided already, and serial blocks.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: fuse group
// CHECK: stripe.schedule = #stripe.schedule<alone because "not with 'S': no index of both has cells of its own"
// CHECK-NOT: fuse group
func.func @left_alone(%X : !stripe.view<512x512xf32>)
    -> (!stripe.view<512x512xf32>, !stripe.view<511xf32>, !stripe.view<512x512xf32>) {
  %S = stripe.alloc : !stripe.view<512xf32>
  %Y = stripe.alloc : !stripe.view<512x512xf32>
  %T = stripe.alloc : !stripe.view<512xf32>
  %U = stripe.alloc : !stripe.view<511xf32>
  %V = stripe.alloc : !stripe.view<512x512xf32>
  stripe.block "S" [%n : 512, %m : 512]
      in %x = %X[%m, %n] : 1x1
      out %s = %S[%n] : 1 max init -inf {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "Y" [%i : 512, %j : 512]
      in %x = %X[%i, %j] : 1x1
      in %s = %S[%j] : 1
      out %y = %Y[%i, %j] : 1x1 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  stripe.block "T" [%i : 512]
      in %x = %X[%i, 0] : 1x1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  stripe.block "U" [%i : 511]
      in %t = %T[%i + 1] : 1
      out %u = %U[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  stripe.block "V" [%i : 512, %j : 512]
      in %y = %Y[%i, %j] : 1x1
      out %v = %V[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<tile [8, 32]>} {
    %0 = stripe.load %y : !stripe.view<1x1xf32>
    stripe.store %0, %v : !stripe.view<1x1xf32>
  }
  stripe.block "W" serial [%i : 512]
      in %t = %T[%i] : 1
      inout %s = %S[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  func.return %Y, %U, %V
      : !stripe.view<512x512xf32>, !stripe.view<511xf32>, !stripe.view<512x512xf32>
}

// Products of few columns are no rows, though they read one operand along rows: a nest
// over their outputs has nothing for vectors to run along. So neither one of its own
// would be faster, nor one with the copy that puts their outputs in another order.
// CHECK-LABEL: func.func @few_columns
// CHECK-NOT: fuse group
// CHECK: alone because "not with 'D'
// CHECK-NOT: fuse group
func.func @few_columns(%A : !stripe.view<6144x2560xf32>, %B : !stripe.view<2560x4xf32>)
    -> (!stripe.view<6144x4xf32>, !stripe.view<6144x4xf32>) {
  %C = stripe.alloc : !stripe.view<6144x4xf32>
  %D = stripe.alloc : !stripe.view<4x6144xf32>
  %E = stripe.alloc : !stripe.view<6144x4xf32>
  stripe.block "C" [%i : 6144, %j : 4, %k : 2560]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  stripe.block "D" [%j : 4, %i : 6144, %k : 2560]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %d = %D[%j, %i] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %d : !stripe.view<1x1xf32>
  }
  stripe.block "E" [%i : 6144, %j : 4]
      in %d = %D[%j, %i] : 1x1
      out %e = %E[%i, %j] : 1x1 {
    %0 = stripe.load %d : !stripe.view<1x1xf32>
    stripe.store %0, %e : !stripe.view<1x1xf32>
  }
  func.return %C, %E : !stripe.view<6144x4xf32>, !stripe.view<6144x4xf32>
}

// What lies between depends on the one and is needed by the other. No block is a group by
// itself, whatever it would be as one.
// CHECK-LABEL: func.func @around
// CHECK: stripe.block "first" [%i : 512, %j : 512]
// CHECK-NOT: fuse group
// CHECK: stripe.block serial
// CHECK-NOT: fuse group
// CHECK: stripe.block "last"
// CHECK-NOT: fuse group
func.func @around(%X : !stripe.view<512x512xf32>) -> !stripe.view<512x512xf32> {
  %S = stripe.alloc : !stripe.view<512xf32>
  %R = stripe.alloc : !stripe.view<512xf32>
  %Y = stripe.alloc : !stripe.view<512x512xf32>
  stripe.block "first" [%i : 512, %j : 512]
      in %x = %X[%i, %j] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block serial [%i : 512]
      in %s = %S[%i] : 1
      out %r = %R[%i] : 1 {
    %0 = stripe.load %s : !stripe.view<1xf32>
    stripe.store %0, %r : !stripe.view<1xf32>
  }
  stripe.block "last" [%i : 512, %j : 512]
      in %s = %S[%i] : 1
      in %r = %R[%i] : 1
      out %y = %Y[%i, %j] : 1x1 {
    %0 = stripe.load %s : !stripe.view<1xf32>
    %1 = stripe.load %r : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %Y : !stripe.view<512x512xf32>
}
