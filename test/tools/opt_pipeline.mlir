// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(cse,dce),canonicalize)' | filecheck %s
// RUN: tile-opt %s -p 'func.func(cse),dce' | filecheck %s
// RUN: tile-opt %s --cse --dce | filecheck %s
// RUN: tile-opt %s -cse -pass-pipeline='builtin.module( dce , func.func( canonicalize ) )' | filecheck %s
// RUN: tile-opt %s --dump-pass-pipeline --cse -p 'func.func(dce,cse),cse' 2>&1 >/dev/null | filecheck %s --check-prefix=DUMP
// RUN: tile-opt %s --pass-pipeline='builtin.module()' | filecheck %s --check-prefix=NONE

// DUMP: builtin.module(cse,func.func(dce,cse),cse)

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %b = arith.addi %a, %a : i32
// CHECK-NEXT:    %d = arith.muli %b, %b : i32
// CHECK-NEXT:    func.return %d : i32
// NONE-COUNT-2:  arith.addi
func.func @main(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.muli %b, %c : i32
  func.return %d : i32
}
