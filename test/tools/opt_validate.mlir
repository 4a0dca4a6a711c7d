// RUN: tile-opt %s --validate-each --cse --stripe-dead-code-elimination | filecheck %s
// RUN: not tile-opt %s --validate-each --load-pass-plugin=%S/wrong_passes.py --cse --test-swap-operands --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: filecheck %s --check-prefix=REPRODUCER --input-file=%t.mlir
// RUN: not tile-opt --run-reproducer %t.mlir --load-pass-plugin=%S/wrong_passes.py 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: stripe.block
// WRONG: error: the pass 'test-swap-operands' changes what @main computes: result #0[{{[0-9]}}] was {{.*}} (4 of 4 elements of 4xfloat32 differ)
// WRONG: note: inputs: 4xfloat32 [
// WRONG: note: result before: [
// WRONG: note: result after: [
// WRONG: note: the reproducer is in
// REPRODUCER: // configuration: --pass-pipeline='builtin.module(test-swap-operands)' --validate-each
func.func @main(%A : !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %B = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
    in %a = %A[%i] : 1
    out %b = %B[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %1 = eltwise.constant 7 : f32
    %y = eltwise.sub %x, %1 : f32
    stripe.store %y, %b : !stripe.view<1xf32>
  }
  func.return %B : !stripe.view<4xf32>
}
