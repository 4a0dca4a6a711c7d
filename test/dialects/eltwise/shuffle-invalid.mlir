// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @beyond(%a : vector<4xf32>) {
  // expected-error @+1 {{expected lanes from 0 to below 4, got [0, 4]}}
  %0 = eltwise.shuffle %a [0, 4] : (vector<4xf32>) -> vector<2xf32>
  func.return
}

// -----

func.func @count(%a : vector<4xf32>) {
  // expected-error @+1 {{expected a result of 2 lane(s), got vector<4xf32>}}
  %0 = eltwise.shuffle %a [0, 1] : (vector<4xf32>) -> vector<4xf32>
  func.return
}

// -----

func.func @elements(%a : vector<4xf32>, %x : si32) {
  // expected-error @+1 {{expected scalars and vectors of f32, got si32}}
  %0 = eltwise.shuffle %a, %x [0, 4] : (vector<4xf32>, si32) -> vector<2xf32>
  func.return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{expected one operand or more}}
  %0 = eltwise.shuffle [] : () -> f32
  func.return
}
