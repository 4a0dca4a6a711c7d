// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK: one = #stripe.fuse<group 0 shared [0] tiles [[1]]>
// CHECK-SAME: two = #stripe.fuse<group 12 shared [2, [0, 1]] tiles [[64, 0], [8, 4]]>
"test.op"() {one = #stripe.fuse<group 0 shared [0] tiles [[1]]>,
             two = #stripe.fuse<group 12 shared [2, [0, 1]] tiles [[64, 0], [8, 4]]>} : () -> ()
