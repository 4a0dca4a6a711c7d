// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK: attributes
// CHECK-SAME: packed = #stripe.stage<input 1 at 0 of 2 order [0, 1] global>
// CHECK-SAME: filled = #stripe.stage<input 0 at 1 of 1 order [1, 0] private fill -0.5>
// CHECK-SAME: hoisted = #stripe.stage<input 0 at -1 of 0 order [] local fill 2>
func.func @main() attributes {
  packed = #stripe.stage<input 1 at 0 of 2 order [0, 1] global>,
  filled = #stripe.stage<input 0 at 1 of 1 order [1, 0] private fill -0.5>,
  hoisted = #stripe.stage<input 0 at -1 of 0 order [] local fill 2>
} {
  func.return
}
