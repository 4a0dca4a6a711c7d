// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'builtin.module(builtin.module(func.func(test-options)))' | filecheck %s
// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'builtin.module(builtin.module(test-options))' | filecheck %s
// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'func.func(test-outline)' | filecheck %s --check-prefix=OUTLINE

// An anchor names what is directly inside, and nothing deeper.
// CHECK:        func.func @outer() {
// CHECK:        builtin.module @nested {
// CHECK-NEXT:     func.func @inner() attributes {options = "test-options"} {

// What a pass puts beside its operation stays there.
// OUTLINE:      func.func private @before_outer() -> ()
// OUTLINE-NEXT: func.func @outer() {
// OUTLINE:      func.func private @before_last() -> ()
// OUTLINE-NEXT: func.func @last() {
// OUTLINE:      builtin.module @nested {
// OUTLINE-NEXT:   func.func @inner() {
func.func @outer() {
  func.return
}
func.func @last() {
  func.return
}
builtin.module @nested {
  func.func @inner() {
    func.return
  }
}
