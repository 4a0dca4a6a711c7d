// RUN: tile-opt %s --split-input-file --verify-diagnostics
// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// Where a mistake is, and what would be right.

// CHECK: schedule-errors.mlir:11:90: error: 'tiel' is no part of a schedule
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<tiel [4]>}
// CHECK-NEXT: ^~~~
// CHECK-NEXT: hint: did you mean 'tile'?
// expected-error @+1 {{'tiel' is no part of a schedule}}
func.func @word() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<tiel [4]>} {} func.return }

// -----

// CHECK: error: 'vectors' is no part of a schedule
// CHECK: hint: a part begins with one of output, fuse, alone, epilogue, walk, tile, points, stage, pad, instruction, over, because
// expected-error @+1 {{'vectors' is no part of a schedule}}
func.func @no_word() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<vectors 4>} {} func.return }

// -----

// expected-error @+1 {{expected a part of a schedule}}
func.func @nothing() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<8>} {} func.return }

// -----

// expected-error @+1 {{expected a size of 0 or more}}
func.func @negative() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<tile [-4]>} {} func.return }

// -----

// CHECK: error: expected the name of an instruction
// CHECK: hint: for example 'instruction "fma_f32x16"'
// expected-error @+1 {{expected the name of an instruction}}
func.func @unquoted() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<instruction dot>} {} func.return }

// -----

// expected-error @+1 {{cannot be scheduled: the points of a serial block have an order, and 'instruction' would change it}}
func.func @serial() { stripe.block serial [%i : 8] attributes {stripe.schedule = #stripe.schedule<instruction "dot">} {} func.return }

// -----

// CHECK: error: 'stripe.block' op expected 'over' to name the indices %i and %j, got [i]
// CHECK: hint: what stands behind it goes by their numbers
// expected-error @+1 {{expected 'over' to name the indices %i and %j, got [i]}}
func.func @over() { stripe.block [%i : 8, %j : 4] attributes {stripe.schedule = #stripe.schedule<over [i], tile [4, 4]>} {} func.return }

// -----

// expected-error @+1 {{expected one 'over' in a schedule, got another one}}
func.func @over_twice() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<over [i], over [i]>} {} func.return }

// -----

// expected-error @+1 {{expected one 'pad' in a schedule, got another one}}
func.func @twice() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<pad [4], pad [8]>} {} func.return }

// -----

// CHECK: error: 'stripe.block' op expected stripe.schedule to be a schedule, got 4 : i64
// CHECK: hint: for example stripe.schedule = #stripe.schedule<tile [8, 32, 0] order [1, 0] bind [grid, grid, _]>
// expected-error @+1 {{expected stripe.schedule to be a schedule, got 4 : i64}}
func.func @attribute() { stripe.block [%i : 8] attributes {stripe.schedule = 4 : i64} {} func.return }

// -----

// CHECK: error: 'stripe.block' op has no attribute 'stripe.shedule'
// CHECK: hint: did you mean 'stripe.schedule'?
// expected-error @+1 {{has no attribute 'stripe.shedule'}}
func.func @name() { stripe.block [%i : 8] attributes {stripe.shedule = #stripe.schedule<tile [4]>} {} func.return }

// -----

// Decisions that do not fit the block.

// CHECK: error: 'stripe.block' op expected 2 tile size(s), one for each of the indices %i and %j, got [4]
// CHECK: hint: for example 'tile [8, 32, 0] order [1, 0] bind [grid, grid, _]'
// expected-error @+1 {{expected 2 tile size(s), one for each of the indices %i and %j, got [4]}}
func.func @rank() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<tile [4]>} {} func.return }

// -----

// expected-error @+1 {{expected an order of the indices %i and %j by their numbers, 0 to 1, each once, got [1, 1]}}
func.func @order() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<tile [4, 4] order [1, 1]>} {} func.return }

// -----

// expected-error @+1 {{expected an order of the indices %i and %j by their numbers, 0 to 1, each once, got [2, 0]}}
func.func @index() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<points order [2, 0]>} {} func.return }

// -----

// expected-error @+1 {{expected 1 number(s), one for each of the indices %i, got [16, 16]}}
func.func @padding() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<pad [16, 16]>} {} func.return }

// -----

// CHECK: error: 'stripe.block' op cannot be scheduled: the points of a serial block have an order, and 'tile' would change it
// CHECK: hint: schedule a block around it
// expected-error @+1 {{cannot be scheduled: the points of a serial block have an order, and 'tile' would change it}}
func.func @serial() { stripe.block serial [%i : 8] attributes {stripe.schedule = #stripe.schedule<tile [4]>} {} func.return }

// -----

// CHECK: error: 'stripe.block' op cannot stage input 2: the block has 1 refinement(s)
// CHECK: hint: for example 'stage input 1 at 0 of 0 order [0, 1] global'
// expected-error @+1 {{cannot stage input 2: the block has 1 refinement(s)}}
func.func @no_input(%A : !stripe.view<8xf32>) { stripe.block [%i : 8] in %a = %A[%i] : 1 attributes {stripe.schedule = #stripe.schedule<stage input 2 at 0 of 0 order [0] global>} {} func.return }

// -----

func.func @output() { %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{cannot stage refinement 0: it is no input}}
  stripe.block [%i : 8] out %o = %O[%i] : 1 attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global>} {} func.return }

// -----

// expected-error @+1 {{expected windows of block 1 of the nest or of one inside it, got 0}}
func.func @window(%A : !stripe.view<8xf32>) { stripe.block [%i : 8] in %a = %A[%i] : 1 attributes {stripe.schedule = #stripe.schedule<stage input 0 at 1 of 0 order [0] local>} {} func.return }

// -----

// expected-error @+1 {{expected an order of axes such as [1, 0], got [1]}}
func.func @axes(%A : !stripe.view<8xf32>) { stripe.block [%i : 8] in %a = %A[%i] : 1 attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [1] global>} {} func.return }

// -----

// expected-error @+1 {{expected shared indices to be of %i, 0 to 0, got [[1]]}}
func.func @shared() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [1] tiles [[2]]>} {} func.return }

// -----

// expected-error @+1 {{expected each index to be shared once, got [0, 0]}}
func.func @shared_twice() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0, 0] tiles [[2, 2]]>} {} func.return }

// -----

// expected-error @+1 {{expected 1 size(s) per level, one for each shared index, got [2, 2]}}
func.func @shared_tiles() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[2, 2]]>} {} func.return }

// -----

// Bindings.

// CHECK: error: 'gird' is no binding
// CHECK: hint: did you mean 'grid'?
// expected-error @+1 {{'gird' is no binding}}
func.func @binding() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<tile [4] bind [gird]>} {} func.return }

// -----

// CHECK: error: '' is no binding
// CHECK: hint: a binding is _, grid, group, subgroup, lane, loop, unroll, vector
// expected-error @+1 {{'' is no binding}}
func.func @number() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<tile [4] bind [4]>} {} func.return }

// -----

// expected-error @+1 {{expected 'order' or 'bind'}}
func.func @points() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<points>} {} func.return }

// -----

// expected-error @+1 {{expected 2 binding(s), one for each of the indices %i and %j, got [grid]}}
func.func @bindings() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<tile [4, 4] bind [grid]>} {} func.return }

// -----

// CHECK: error: 'stripe.block' op cannot bind tiles to 'vector': vectors are of points
// CHECK: hint: for example 'points bind [_, vector, _]'
// expected-error @+1 {{cannot bind tiles to 'vector': vectors are of points}}
func.func @tiles() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<tile [4] bind [vector]>} {} func.return }

// -----

// CHECK: error: 'stripe.block' op cannot bind index '%j' to 'vector': another one is
// CHECK: hint: vectors run along one index; unroll the others
// expected-error @+1 {{cannot bind index '%j' to 'vector': another one is}}
func.func @vectors() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<points bind [vector, vector]>} {} func.return }

// -----

// expected-error @+1 {{cannot bind index '%i' to 'grid': the block is inside of another one}}
func.func @inner_level() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<tile [4, 4], tile [2, 2] bind [grid, _]>} {} func.return }

// -----

func.func @inside() { stripe.block [%o : 2] {
    // expected-error @+1 {{cannot bind index '%i' to 'grid': the block is inside of another one}}
    stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<tile [4] bind [grid]>} {}
  } func.return }

// -----

// CHECK: error: 'stripe.block' op cannot bind index '%j' to 'lane': another one is bound to 'group'
// CHECK: hint: the work-items of a group are divided by 'group', or else by 'subgroup' and 'lane'
// expected-error @+1 {{cannot bind index '%j' to 'lane': another one is bound to 'group'}}
func.func @both() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<points bind [group, lane]>} {} func.return }

// -----

// CHECK: error: 'stripe.block' op cannot bind index '%i' to 'subgroup': a block around it has an index that is bound to 'lane'
// CHECK: hint: the work-items of a group are divided once; only lanes may be inside of sub-groups
// expected-error @+1 {{cannot bind index '%i' to 'subgroup': a block around it has an index that is bound to 'lane'}}
func.func @turned() { stripe.block [%i : 8, %j : 8] attributes {stripe.schedule = #stripe.schedule<tile [4, 4] bind [_, lane], points bind [subgroup, _]>} {} func.return }

// -----

// An index of one value is bound to nothing, wherever that is.
func.func @one_value() { stripe.block [%i : 8, %j : 1] attributes {stripe.schedule = #stripe.schedule<tile [8, 1] bind [group, grid], tile [4, 1] bind [lane, grid], points bind [vector, vector]>} {} func.return }

// -----

// expected-error @+1 {{cannot bind index '%i' by 'tile [4] bind [loop]': it is bound to 'grid' where it stands}}
func.func @bound() { stripe.block [%i : 8 grid] attributes {stripe.schedule = #stripe.schedule<tile [4] bind [loop]>} {} func.return }

// -----

func.func @aggregated(%A : !stripe.view<8xf32>) { %S = stripe.alloc : !stripe.view<f32>
  // CHECK: error: 'stripe.block' op cannot bind index '%k' to 'grid': its values aggregate into the same cells of output '%s'
  // CHECK: hint: 'stripe-split-reduction' gives each its own; else bind '%k' to 'loop' or 'unroll', or leave it '_'
  // expected-error @+1 {{cannot bind index '%k' to 'grid': its values aggregate into the same cells of output '%s'}}
  stripe.block [%k : 8] in %a = %A[%k] : 1 out %s = %S[] add attributes {stripe.schedule = #stripe.schedule<tile [4] bind [grid]>} {} func.return }

// -----

func.func @orders() { %O = stripe.alloc : !stripe.view<8xf32>
  // expected-error @+1 {{expected an order of the indices [0] of the output, each once, got [0, 1]}}
  stripe.block [%i : 8, %k : 8] out %o = %O[%i] : 1 add attributes {stripe.schedule = #stripe.schedule<output order [0, 1]>} {} func.return }

// -----

// expected-error @+1 {{expected a block with one output, got 0}}
func.func @no_output() { stripe.block [%i : 8] attributes {stripe.schedule = #stripe.schedule<output order [0]>} {} func.return }
