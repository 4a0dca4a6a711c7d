// RUN: tile-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect
// RUN: tile-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect | filecheck %s

// CHECK: func.func @valid
func.func @valid() {
  func.return
}

// -----

func.func @undefined(%a: i32) -> i32 {
  // expected-error @+1 {{use of undefined value '%b'}}
  %c = arith.addi %a, %b : i32
  func.return %c : i32
}

// -----

func.func @types(%a: i32) -> f32 {
  func.return %a : i32  // expected-error {{'func.return' op expected arguments to have the same types}}
}

// -----

func.func @order(%a: i32) -> i32 {
  // expected-error-re @below {{'arith.addi' op operand #{{[0-9]}} is used before}}
  %b = arith.addi %a, %c : i32
  // expected-note @below {{it is defined here}}
  %c = arith.addi %a, %a : i32
  func.return %b : i32
}

// -----

func.func @syntax() {
  func.return %
  // expected-error @-1 {{}}
}

// -----

func.func @region() {
  "test.op"() ({
    %a = arith.constant 1 : i32
    "test.end"() : () -> ()
  }) : () -> ()
  %b = arith.addi %a, %a : i32
  // expected-error @above {{use of undefined value '%a'}}
  func.return
}

// -----

func.func @branch(%p: i1) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %a = arith.constant 1 : i32
  cf.br ^bb2
^bb2:
  // expected-error @+1 {{'func.return' op operand #0 is not defined on all ways to its use}}
  func.return %a : i32
}
